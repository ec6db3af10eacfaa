// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_post: every rdma_post_* call of librdmacm, each shown and checked.
 *
 *	rdma_post -s ADDRESS		the server, for one client
 *	rdma_post ADDRESS		the client
 *
 * Over a reliable connection: send and recv, sendv and recvv, write and read,
 * writev and readv. Over datagrams: ud_send, there and back. The client says
 * what it did; either side exits with 1 if a byte was not what it should be.
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define PORT_RC		"7471"
#define PORT_UD		"7472"
/* Before the payload of each received datagram. */
#define GRH_SIZE	40
/* Of each kind of transfer; the long ones take many packets. */
#define MESSAGE_SIZE	64
#define BULK_SIZE	(256 * 1024)

/* Where a peer may read and write; sent in the first message. */
struct window {
	uint64_t addr;
	uint32_t rkey;
	uint32_t size;
};

/* Small buffers, one for each use. */
struct messages {
	char in[GRH_SIZE + MESSAGE_SIZE];
	char out[MESSAGE_SIZE];
	char parts[MESSAGE_SIZE];
};

/* One end of a connection and its registered memory. */
struct end {
	struct rdma_cm_id *id;
	struct messages msg;
	struct ibv_mr *msg_mr;
	/* bulk data, open to the peer */
	char *bulk;
	struct ibv_mr *bulk_mr;
};

static const char *who;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", who, what, strerror(errno));
	exit(1);
}

static void check(int result, const char *what)
{
	if (result)
		die(what);
}

static void said(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("  ok  ");
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
}

static void wait_for(struct end *end, int receive, size_t at_least)
{
	struct ibv_wc wc;
	int got;

	got = receive ? rdma_get_recv_comp(end->id, &wc) :
			rdma_get_send_comp(end->id, &wc);
	if (got != 1)
		die("no completion");
	if (wc.status) {
		fprintf(stderr, "%s: %s completed with \"%s\"\n", who,
			receive ? "receive" : "send",
			ibv_wc_status_str(wc.status));
		exit(1);
	}
	if (receive && wc.byte_len < at_least) {
		fprintf(stderr, "%s: %u bytes came, not %zu\n", who,
			wc.byte_len, at_least);
		exit(1);
	}
}

static void sent(struct end *end)
{
	wait_for(end, 0, 0);
}

static void received(struct end *end, size_t at_least)
{
	wait_for(end, 1, at_least);
}

/* Bytes that differ at every place and for every seed. */
static void fill(char *p, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (i * 131 + (i >> 8) * 17 + seed * 71) & 0xff;
}

static void compare(const char *p, size_t size, unsigned int seed,
		    const char *what)
{
	char *want = malloc(size);

	if (!want)
		die("malloc");
	fill(want, size, seed);
	if (memcmp(p, want, size)) {
		fprintf(stderr, "%s: %s: wrong bytes\n", who, what);
		exit(1);
	}
	free(want);
}

static struct rdma_addrinfo *resolve(const char *address, const char *port,
				     enum rdma_port_space space, int flags)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = space,
		.ai_flags = flags,
	};
	struct rdma_addrinfo *info;
	int error;

	hints.ai_qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	error = rdma_getaddrinfo(address, port, &hints, &info);
	if (error) {
		fprintf(stderr, "%s: %s: %s\n", who, address,
			error == -1 ? strerror(errno) : gai_strerror(error));
		exit(1);
	}
	return info;
}

static void register_memory(struct end *end)
{
	struct ibv_pd *pd = end->id->pd;

	end->msg_mr = rdma_reg_msgs(end->id, &end->msg, sizeof(end->msg));
	if (!end->msg_mr)
		die("rdma_reg_msgs");
	end->bulk = calloc(1, BULK_SIZE);
	if (!end->bulk)
		die("calloc");
	end->bulk_mr = ibv_reg_mr(pd, end->bulk, BULK_SIZE,
				  IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_READ |
				  IBV_ACCESS_REMOTE_WRITE);
	if (!end->bulk_mr)
		die("ibv_reg_mr");
}

static struct ibv_qp_init_attr queues(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr) {
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4,
			.max_send_sge = 3, .max_recv_sge = 3,
		},
	};
}

/* The client's end, connected to nobody yet. */
static void open_end(struct end *end, const char *address, const char *port,
		     enum rdma_port_space space)
{
	struct rdma_addrinfo *info = resolve(address, port, space, 0);
	struct ibv_qp_init_attr attr = queues(info->ai_qp_type);

	check(rdma_create_ep(&end->id, info, NULL, &attr), "rdma_create_ep");
	rdma_freeaddrinfo(info);
	register_memory(end);
}

static struct rdma_cm_id *listen_on(const char *address, const char *port,
				    enum rdma_port_space space)
{
	struct rdma_addrinfo *info = resolve(address, port, space,
					     RAI_PASSIVE);
	struct ibv_qp_init_attr attr = queues(info->ai_qp_type);
	struct rdma_cm_id *id;

	check(rdma_create_ep(&id, info, NULL, &attr), "rdma_create_ep");
	rdma_freeaddrinfo(info);
	check(rdma_listen(id, 1), "rdma_listen");
	return id;
}

static void close_end(struct end *end)
{
	rdma_dereg_mr(end->bulk_mr);
	rdma_dereg_mr(end->msg_mr);
	rdma_destroy_ep(end->id);
	free(end->bulk);
}

/* Three pieces of a message, in an order that is not that of memory. */
static void pieces(struct end *end, struct ibv_sge sge[3])
{
	static const size_t at[3] = { 40, 0, 24 }, size[3] = { 24, 24, 16 };

	for (int i = 0; i < 3; i++)
		sge[i] = (struct ibv_sge) {
			.addr = (uintptr_t)end->msg.parts + at[i],
			.length = size[i],
			.lkey = end->msg_mr->lkey,
		};
}

/* Two unequal parts of the bulk memory. */
static void halves(struct end *end, struct ibv_sge sge[2])
{
	const size_t cut = BULK_SIZE / 3;

	sge[0] = (struct ibv_sge) { (uintptr_t)end->bulk, cut,
				    end->bulk_mr->lkey };
	sge[1] = (struct ibv_sge) { (uintptr_t)end->bulk + cut,
				    BULK_SIZE - cut, end->bulk_mr->lkey };
}

/* One READ at a time; and a wire that loses something is no reason to end. */
static const struct rdma_conn_param reliable = {
	.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
	.rnr_retry_count = 7,
};

static void rc_client(struct end *end)
{
	struct rdma_conn_param param = reliable;
	struct ibv_sge sge[3];
	struct window there;

	check(rdma_post_recv(end->id, NULL, end->msg.in, MESSAGE_SIZE,
			     end->msg_mr), "rdma_post_recv");
	check(rdma_connect(end->id, &param), "rdma_connect");
	received(end, sizeof(there));
	memcpy(&there, end->msg.in, sizeof(there));
	said("rdma_post_recv     where the server's memory is");

	fill(end->msg.out, MESSAGE_SIZE, 1);
	check(rdma_post_send(end->id, NULL, end->msg.out, MESSAGE_SIZE,
			     end->msg_mr, 0), "rdma_post_send");
	sent(end);
	said("rdma_post_send     %d bytes", MESSAGE_SIZE);

	pieces(end, sge);
	fill(end->msg.parts, MESSAGE_SIZE, 2);
	check(rdma_post_sendv(end->id, NULL, sge, 3, 0), "rdma_post_sendv");
	sent(end);
	said("rdma_post_sendv    from three places,");
	said("rdma_post_recvv    into three others");

	fill(end->bulk, BULK_SIZE, 3);
	check(rdma_post_write(end->id, NULL, end->bulk, BULK_SIZE,
			      end->bulk_mr, 0, there.addr, there.rkey),
	      "rdma_post_write");
	sent(end);
	said("rdma_post_write    %d KB", BULK_SIZE / 1024);

	memset(end->bulk, 0, BULK_SIZE);
	check(rdma_post_read(end->id, NULL, end->bulk, BULK_SIZE, end->bulk_mr,
			     0, there.addr, there.rkey), "rdma_post_read");
	sent(end);
	compare(end->bulk, BULK_SIZE, 3, "rdma_post_read");
	said("rdma_post_read     the same bytes back");

	halves(end, sge);
	fill(end->bulk, BULK_SIZE, 4);
	check(rdma_post_writev(end->id, NULL, sge, 2, 0, there.addr,
			       there.rkey), "rdma_post_writev");
	sent(end);
	said("rdma_post_writev   gathered from two places");

	memset(end->bulk, 0, BULK_SIZE);
	check(rdma_post_readv(end->id, NULL, sge, 2, 0, there.addr,
			      there.rkey), "rdma_post_readv");
	sent(end);
	compare(end->bulk, BULK_SIZE, 4, "rdma_post_readv");
	said("rdma_post_readv    scattered to two places");

	/* The server looks at its memory when this comes. */
	check(rdma_post_send(end->id, NULL, end->msg.out, MESSAGE_SIZE,
			     end->msg_mr, 0), "rdma_post_send");
	sent(end);
	rdma_disconnect(end->id);
}

static void rc_server(struct end *end)
{
	struct rdma_conn_param param = reliable;
	struct window here;
	struct ibv_sge sge[3];

	here = (struct window) { (uintptr_t)end->bulk, end->bulk_mr->rkey,
				 BULK_SIZE };
	check(rdma_post_recv(end->id, NULL, end->msg.in, MESSAGE_SIZE,
			     end->msg_mr), "rdma_post_recv");
	pieces(end, sge);
	check(rdma_post_recvv(end->id, NULL, sge, 3), "rdma_post_recvv");
	check(rdma_accept(end->id, &param), "rdma_accept");
	memcpy(end->msg.out, &here, sizeof(here));
	check(rdma_post_send(end->id, NULL, end->msg.out, sizeof(here),
			     end->msg_mr, 0), "rdma_post_send");
	sent(end);

	received(end, MESSAGE_SIZE);
	compare(end->msg.in, MESSAGE_SIZE, 1, "rdma_post_recv");
	check(rdma_post_recv(end->id, NULL, end->msg.in, MESSAGE_SIZE,
			     end->msg_mr), "rdma_post_recv");
	received(end, MESSAGE_SIZE);
	compare(end->msg.parts, MESSAGE_SIZE, 2, "rdma_post_recvv");
	received(end, MESSAGE_SIZE);
	compare(end->bulk, BULK_SIZE, 4, "what the client wrote");
	rdma_disconnect(end->id);
}

static void ud_client(struct end *end)
{
	struct rdma_conn_param param = {};
	struct rdma_ud_param *there;
	struct ibv_ah *ah;

	check(rdma_post_recv(end->id, NULL, end->msg.in,
			     sizeof(end->msg.in), end->msg_mr), "rdma_post_recv");
	/* The answer to this is how to reach the server. */
	check(rdma_connect(end->id, &param), "rdma_connect");
	there = &end->id->event->param.ud;
	ah = ibv_create_ah(end->id->pd, &there->ah_attr);
	if (!ah)
		die("ibv_create_ah");

	fill(end->msg.out, MESSAGE_SIZE, 5);
	check(rdma_post_ud_send(end->id, NULL, end->msg.out, MESSAGE_SIZE,
				end->msg_mr, 0, ah, there->qp_num),
	      "rdma_post_ud_send");
	sent(end);
	received(end, sizeof(end->msg.in));
	compare(end->msg.in + GRH_SIZE, MESSAGE_SIZE, 6, "datagram");
	said("rdma_post_ud_send  a datagram there, and one back");
	ibv_destroy_ah(ah);
}

static void ud_server(struct end *end)
{
	struct rdma_conn_param param = {};
	struct ibv_ah *ah;
	struct ibv_wc wc;

	check(rdma_post_recv(end->id, NULL, end->msg.in,
			     sizeof(end->msg.in), end->msg_mr), "rdma_post_recv");
	param.qp_num = end->id->qp->qp_num;
	check(rdma_accept(end->id, &param), "rdma_accept");
	if (rdma_get_recv_comp(end->id, &wc) != 1 || wc.status)
		die("no datagram came");
	compare(end->msg.in + GRH_SIZE, MESSAGE_SIZE, 5, "datagram");

	/* Back to where it came from. */
	ah = ibv_create_ah_from_wc(end->id->pd, &wc, (void *)end->msg.in,
				   end->id->port_num);
	if (!ah)
		die("ibv_create_ah_from_wc");
	fill(end->msg.out, MESSAGE_SIZE, 6);
	check(rdma_post_ud_send(end->id, NULL, end->msg.out, MESSAGE_SIZE,
				end->msg_mr, 0, ah, wc.src_qp),
	      "rdma_post_ud_send");
	sent(end);
	ibv_destroy_ah(ah);
}

static void serve(const char *address)
{
	struct rdma_cm_id *rc, *ud;
	struct end end;

	rc = listen_on(address, PORT_RC, RDMA_PS_TCP);
	ud = listen_on(address, PORT_UD, RDMA_PS_UDP);

	check(rdma_get_request(rc, &end.id), "rdma_get_request");
	register_memory(&end);
	rc_server(&end);
	close_end(&end);

	check(rdma_get_request(ud, &end.id), "rdma_get_request");
	register_memory(&end);
	ud_server(&end);
	close_end(&end);

	rdma_destroy_ep(ud);
	rdma_destroy_ep(rc);
}

static void call(const char *address)
{
	struct end end;

	open_end(&end, address, PORT_RC, RDMA_PS_TCP);
	rc_client(&end);
	close_end(&end);

	open_end(&end, address, PORT_UD, RDMA_PS_UDP);
	ud_client(&end);
	close_end(&end);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "-s")) {
		who = "server";
		serve(argv[2]);
	} else if (argc == 2 && argv[1][0] != '-') {
		who = "client";
		call(argv[1]);
	} else {
		fprintf(stderr, "usage: rdma_post [-s] ADDRESS\n");
		return 2;
	}
	return 0;
}
