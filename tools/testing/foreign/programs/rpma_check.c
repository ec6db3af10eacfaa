// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rpma_check: what programs do with librpma, between two processes, every byte
 * looked at: remote write, read, flush and atomic write, messages, and the state of
 * the connection.
 *
 *	rpma_check ADDRESS PORT			the server, at its address
 *	rpma_check ADDRESS PORT client		who connects to it
 *
 * The server's memory is handed over in the private data of the connection. The
 * client writes to it and reads it back; then the ends exchange messages, and the
 * server looks at what was written.
 */

#include <librpma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LENGTH		(1u << 20)
#define MESSAGE		4096u
#define ROUNDS		20

static struct rpma_peer *peer;
static struct rpma_conn *conn;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "rpma_check: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static void good(int ret, const char *what)
{
	if (ret)
		die("%s: %s", what, rpma_err_2str(ret));
}

#define GOOD(call)	good(call, #call)

static void *memory(size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

static unsigned char byte(unsigned int seed, size_t i)
{
	return (seed * 37 + i * 11 + (i >> 8)) & 0xff;
}

static void fill(unsigned char *p, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		p[i] = byte(seed, i);
}

static void look(const unsigned char *p, size_t length, unsigned int seed,
		 const char *what)
{
	for (size_t i = 0; i < length; i++)
		if (p[i] != byte(seed, i))
			die("%s: byte %zu of %zu is %#x and not %#x", what, i,
			    length, p[i], byte(seed, i));
}

static void wait_event(enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	GOOD(rpma_conn_next_event(conn, &event));
	if (event != wanted)
		die("%s and not %s", rpma_utils_conn_event_2str(event),
		    rpma_utils_conn_event_2str(wanted));
}

static struct ibv_wc any_completion(void)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int ret;

	GOOD(rpma_conn_get_cq(conn, &cq));
	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) ==
	       RPMA_E_NO_COMPLETION)
		GOOD(rpma_cq_wait(cq));
	good(ret, "rpma_cq_get_wc");
	return wc;
}

static bool is_receive(const struct ibv_wc *wc)
{
	return wc->opcode & IBV_WC_RECV;
}

/* They share a CQ, and the answer may come before what it answers is complete. */
static struct ibv_wc next_completion(bool receive)
{
	static struct ibv_wc early;
	static bool has_early;
	struct ibv_wc wc;

	if (has_early && is_receive(&early) == receive) {
		has_early = false;
		return early;
	}
	for (;;) {
		wc = any_completion();
		if (is_receive(&wc) == receive)
			return wc;
		if (has_early)
			die("two completions that nobody waits for");
		has_early = true;
		early = wc;
	}
}

static void done(const void *context, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = next_completion(false);

	if (wc.status || wc.opcode != opcode ||
	    wc.wr_id != (uintptr_t)context)
		die("completion of %#lx (opcode %d): %s, opcode %d",
		    (unsigned long)wc.wr_id, opcode,
		    ibv_wc_status_str(wc.status), wc.opcode);
}

static struct rpma_mr_local *register_it(void *p, size_t length, int usage)
{
	struct rpma_mr_local *mr;

	GOOD(rpma_mr_reg(peer, p, length, usage, &mr));
	return mr;
}

static struct rpma_conn_cfg *configuration(void)
{
	struct rpma_conn_cfg *cfg;

	GOOD(rpma_conn_cfg_new(&cfg));
	GOOD(rpma_conn_cfg_set_timeout(cfg, 10000));
	GOOD(rpma_conn_cfg_set_cq_size(cfg, 64));
	GOOD(rpma_conn_cfg_set_sq_size(cfg, 32));
	GOOD(rpma_conn_cfg_set_rq_size(cfg, 32));
	return cfg;
}

/* Messages there and back; who is first sends first. */
static void messages(unsigned char *out, struct rpma_mr_local *out_mr,
		     unsigned char *in, struct rpma_mr_local *in_mr, int first)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t length = round * 211 % (MESSAGE + 1);
		struct ibv_wc wc;

		if (first) {
			GOOD(rpma_recv(conn, in_mr, 0, MESSAGE, in));
			fill(out, length, round);
			GOOD(rpma_send_with_imm(conn, out_mr, 0, length,
						RPMA_F_COMPLETION_ALWAYS,
						round, out));
			done(out, IBV_WC_SEND);
		}
		wc = next_completion(true);
		if (wc.status || wc.opcode != IBV_WC_RECV ||
		    wc.wr_id != (uintptr_t)in || wc.byte_len != length ||
		    !(wc.wc_flags & IBV_WC_WITH_IMM) ||
		    be32toh(wc.imm_data) != round)
			die("message %u: %s, %u bytes", round,
			    ibv_wc_status_str(wc.status), wc.byte_len);
		look(in, length, round + (first ? 1000 : 0), "message");
		if (!first) {
			/* The next one may come at once. */
			GOOD(rpma_recv(conn, in_mr, 0, MESSAGE, in));
			fill(out, length, round + 1000);
			GOOD(rpma_send_with_imm(conn, out_mr, 0, length,
						RPMA_F_COMPLETION_ALWAYS,
						round, out));
			done(out, IBV_WC_SEND);
		}
	}
}

/* The server's memory, LENGTH of it, by its remote descriptor. */
static void write_and_read(struct rpma_mr_remote *remote)
{
	static const size_t sizes[] = { 1, 8, 1023, 1024, 1025, 65536, LENGTH };
	unsigned char *src = memory(LENGTH), *dst = memory(LENGTH);
	struct rpma_mr_local *src_mr, *dst_mr;
	char word[8] = "softrdma";

	src_mr = register_it(src, LENGTH, RPMA_MR_USAGE_WRITE_SRC);
	dst_mr = register_it(dst, LENGTH, RPMA_MR_USAGE_READ_DST);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t length = sizes[i];
		/* librpma flushes by a READ of 8 bytes, however few. */
		size_t at = LENGTH - (length < 8 ? 8 : length);

		fill(src, length, i);
		memset(dst, 0xee, LENGTH);
		GOOD(rpma_write(conn, remote, at, src_mr, 0, length,
				RPMA_F_COMPLETION_ON_ERROR, src));
		GOOD(rpma_flush(conn, remote, at, length,
				RPMA_FLUSH_TYPE_VISIBILITY,
				RPMA_F_COMPLETION_ALWAYS, dst));
		done(dst, IBV_WC_RDMA_READ);
		GOOD(rpma_read(conn, dst_mr, 0, remote, at, length,
			       RPMA_F_COMPLETION_ALWAYS, dst));
		done(dst, IBV_WC_RDMA_READ);
		look(dst, length, i, "what was written and read");
		for (size_t j = length; j < LENGTH; j++)
			if (dst[j] != 0xee)
				die("byte %zu beyond a READ is changed", j);
	}
	/* The server finds all of the last one, and the word in it. */
	GOOD(rpma_atomic_write(conn, remote, 64, word,
			       RPMA_F_COMPLETION_ALWAYS, word));
	done(word, IBV_WC_RDMA_WRITE);
	GOOD(rpma_mr_dereg(&src_mr));
	GOOD(rpma_mr_dereg(&dst_mr));
}

static void serve(const char *address, const char *port)
{
	unsigned char *shared = memory(LENGTH), *out = memory(MESSAGE),
		      *in = memory(MESSAGE);
	struct rpma_mr_local *shared_mr, *out_mr, *in_mr;
	struct rpma_conn_private_data mine = { 0 };
	struct rpma_conn_req *request;
	struct rpma_ep *ep;
	size_t length;

	shared_mr = register_it(shared, LENGTH, RPMA_MR_USAGE_WRITE_DST |
				RPMA_MR_USAGE_READ_SRC |
				RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	out_mr = register_it(out, MESSAGE, RPMA_MR_USAGE_SEND);
	in_mr = register_it(in, MESSAGE, RPMA_MR_USAGE_RECV);
	GOOD(rpma_mr_get_descriptor_size(shared_mr, &length));
	mine.ptr = memory(length);
	mine.len = length;
	GOOD(rpma_mr_get_descriptor(shared_mr, mine.ptr));

	GOOD(rpma_ep_listen(peer, address, port, &ep));
	GOOD(rpma_ep_next_conn_req(ep, configuration(), &request));
	GOOD(rpma_conn_req_recv(request, in_mr, 0, MESSAGE, in));
	GOOD(rpma_conn_req_connect(&request, &mine, &conn));
	wait_event(RPMA_CONN_ESTABLISHED);
	messages(out, out_mr, in, in_mr, 0);
	if (memcmp(shared + 64, "softrdma", 8))
		die("the word is not there");
	for (size_t i = 64; i < 72; i++)
		shared[i] = byte(6, i);
	look(shared, LENGTH, 6, "what the client wrote");
	wait_event(RPMA_CONN_CLOSED);
	GOOD(rpma_conn_disconnect(conn));
	GOOD(rpma_conn_delete(&conn));
	GOOD(rpma_ep_shutdown(&ep));
	GOOD(rpma_mr_dereg(&shared_mr));
	GOOD(rpma_mr_dereg(&out_mr));
	GOOD(rpma_mr_dereg(&in_mr));
}

static void use(const char *address, const char *port)
{
	unsigned char *out = memory(MESSAGE), *in = memory(MESSAGE);
	struct rpma_mr_local *out_mr, *in_mr;
	struct rpma_conn_private_data theirs;
	struct rpma_mr_remote *remote;
	struct rpma_conn_req *request;
	size_t length;

	out_mr = register_it(out, MESSAGE, RPMA_MR_USAGE_SEND);
	in_mr = register_it(in, MESSAGE, RPMA_MR_USAGE_RECV);
	GOOD(rpma_conn_req_new(peer, address, port, configuration(), &request));
	GOOD(rpma_conn_req_connect(&request, NULL, &conn));
	wait_event(RPMA_CONN_ESTABLISHED);
	GOOD(rpma_conn_get_private_data(conn, &theirs));
	GOOD(rpma_mr_remote_from_descriptor(theirs.ptr, theirs.len, &remote));
	GOOD(rpma_mr_remote_get_size(remote, &length));
	if (length != LENGTH)
		die("the server's memory has %zu bytes", length);
	write_and_read(remote);
	messages(out, out_mr, in, in_mr, 1);
	GOOD(rpma_conn_disconnect(conn));
	wait_event(RPMA_CONN_CLOSED);
	GOOD(rpma_mr_remote_delete(&remote));
	GOOD(rpma_conn_delete(&conn));
	GOOD(rpma_mr_dereg(&out_mr));
	GOOD(rpma_mr_dereg(&in_mr));
}

int main(int argc, char **argv)
{
	int client = argc == 4 && !strcmp(argv[3], "client");
	struct ibv_context *context;

	if (argc != 3 && !client) {
		fprintf(stderr, "usage: rpma_check ADDRESS PORT [client]\n");
		return 2;
	}
	GOOD(rpma_utils_get_ibv_context(argv[1],
			client ? RPMA_UTIL_IBV_CONTEXT_REMOTE :
				 RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	GOOD(rpma_peer_new(context, &peer));
	if (client)
		use(argv[1], argv[2]);
	else
		serve(argv[1], argv[2]);
	GOOD(rpma_peer_delete(&peer));
	printf("rpma_check: all right\n");
	return 0;
}
