// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two QPs of two machines, which do with each other all that QPs can do, in
 * sizes around the multiples of the path MTU, and look at every byte:
 *
 *	exchange -d DEVICE -g GID [-c rc|uc|ud] [-m MTU] [-o DEPTH] [-lwx] [PEER]
 *
 * Without PEER it is the server. First the client requests and the server
 * responds, then the other way round. A TCP connection says what comes next.
 * -o is how many READs and atomics may be outstanding; more are posted. -l says
 * that packets get lost: the NAK that ends it all may be one of them, and whoever
 * sent it is in error and says no more. -w does not look at the flags of receives
 * that invalidated, which are wrong on rdma_rxe. -x does ATOMIC WRITE, too, which
 * not all of those have.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"

#define GRH		40

const char * const names[] = {
	"send", "send with immediate", "send before the receive",
	"send with invalidate", "write", "write with immediate", "read",
	"compare and swap", "compare and do not swap", "fetch and add",
	"atomic write",
	"more than may be outstanding", "write through a revoked window",
	"turn"
};

struct options opt = { .type = IBV_QPT_RC, .mtu = 1024, .depth = 4 };

static int done;

void fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "error: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

/*
 * More READs and atomics than may be outstanding, and other requests among
 * them: slot i is READ, added to, written or sent.
 */
static uint32_t slot_size(const struct plan *p)
{
	return (p->size + 64 + 63) / 64 * 64;
}

static void request_many(const struct plan *p)
{
	static const enum ibv_wr_opcode kinds[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_RDMA_WRITE, IBV_WR_SEND_WITH_IMM
	};
	uint32_t step = slot_size(p);

	for (int i = 0; i < POSTED; i++) {
		uint8_t *at = own + i * step;

		clear(at, p->size);
		if (i % 4 >= 2)
			fill(at, p->size, p->seed + i);
	}
	for (int i = 0; i < POSTED; i++)
		post(kinds[i % 4], own + i * step,
		     i % 4 == 1 ? 8 : p->size, p->seed + i, there.rkey);
	for (int i = 0; i < POSTED; i++) {
		struct ibv_wc wc = poll_well(send_cq, p);

		need(wc.wr_id == p->seed + i, "%s: completion %d out of order",
		     names[p->what], i);
	}
	for (int i = 0; i < POSTED; i += 4) {
		check(p, own + i * step, p->size, p->seed + i);
		need(word_at(own + (i + 1) * step) == WORD + i,
		     "%s: atomic %d found something else", names[p->what], i);
	}
}

static void prepare_many(const struct plan *p)
{
	uint32_t step = slot_size(p);

	for (int i = 0; i < POSTED; i++) {
		clear(area + i * step, p->size);
		if (i % 4 == 0)
			fill(area + i * step, p->size, p->seed + i);
		if (i % 4 == 1)
			put_word(area + i * step, WORD + i - 1);
		if (i % 4 == 3)
			post_recv(area + i * step, p->size);
	}
}

static void judge_many(const struct plan *p)
{
	uint32_t step = slot_size(p);

	for (int i = 0; i < POSTED; i += 4) {
		struct ibv_wc wc = poll_well(recv_cq, p);

		need(ntohl(wc.imm_data) == imm_of(p->seed + i + 3),
		     "%s: receives out of order", names[p->what]);
		need(word_at(area + (i + 1) * step) ==
		     2 * WORD + p->seed + 2 * i + 1,
		     "%s: atomic %d wrote something else", names[p->what], i);
		check(p, area + (i + 2) * step, p->size, p->seed + i + 2);
		check(p, area + (i + 3) * step, p->size, p->seed + i + 3);
	}
}

static bool receives(uint32_t what)
{
	return what <= SEND_INV || what == WRITE_IMM;
}

/* At the responder, before the request. */
static uint32_t bind_window(const struct plan *p)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = mr, .addr = (uintptr_t)area,
				.length = AREA,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	}, *bad;

	need(!ibv_post_send(qp, &wr, &bad), "cannot post a bind");
	poll_well(send_cq, p);
	mw->rkey = wr.bind_mw.rkey;
	return mw->rkey;
}

static void prepare(const struct plan *p)
{
	uint32_t size = p->size + (opt.type == IBV_QPT_UD ? GRH : 0);
	uint32_t rkey = mr->rkey;

	clear(area, size);
	if (p->what == READ)
		fill(area, p->size, p->seed);
	if (p->what == SWAP || p->what == ADD)
		put_word(area, WORD + p->seed);
	if (p->what == SWAP_NOT)
		put_word(area, WORD + p->seed + 1);
	if (p->what == MANY)
		prepare_many(p);
	if (p->what == SEND_INV)
		rkey = bind_window(p);
	if (p->what == REVOKED)
		rkey = mw->rkey;
	if (receives(p->what) && p->what != SEND_LATE)
		post_recv(area, size);
	say(&rkey, sizeof(rkey));
	if (p->what == SEND_LATE) {
		hear_go();
		usleep(5000);
		post_recv(area, size);
	}
}

static void judge_receive(const struct plan *p)
{
	bool imm = p->what == SEND_IMM || p->what == WRITE_IMM;
	struct ibv_wc wc = poll_well(recv_cq, p);
	uint32_t length = p->size + (opt.type == IBV_QPT_UD ? GRH : 0);

	need(wc.byte_len == length, "%s of %u bytes: received %u",
	     names[p->what], p->size, wc.byte_len);
	need(wc.opcode == (p->what == WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
			   IBV_WC_RECV), "%s: opcode %d of the receive",
	     names[p->what], wc.opcode);
	need(imm == !!(wc.wc_flags & IBV_WC_WITH_IMM), "%s: flags %#x",
	     names[p->what], wc.wc_flags);
	if (imm)
		need(ntohl(wc.imm_data) == imm_of(p->seed), "%s: immediate %#x",
		     names[p->what], ntohl(wc.imm_data));
	if (p->what == SEND_INV && !opt.weak)
		need(wc.wc_flags & IBV_WC_WITH_INV &&
		     wc.invalidated_rkey == mw->rkey, "%s: flags %#x, rkey %#x",
		     names[p->what], wc.wc_flags, wc.invalidated_rkey);
}

/* At the responder, after the request has completed. */
static void judge(const struct plan *p)
{
	uint8_t *at = area + (opt.type == IBV_QPT_UD ? GRH : 0);

	if (p->what == MANY)
		judge_many(p);
	if (receives(p->what))
		judge_receive(p);
	if (p->what == SWAP)
		need(word_at(area) == ~WORD, "nothing was swapped");
	if (p->what == SWAP_NOT)
		need(word_at(area) == WORD + p->seed + 1, "it was swapped");
	if (p->what == ADD)
		need(word_at(area) == 2 * (WORD + p->seed), "a wrong sum");
	if (opt.type == IBV_QPT_UC && p->what == WRITE)
		wait_for(at, p->size, p->seed);
	if (p->what <= WRITE_IMM || p->what == PUT)
		check(p, at, p->size, p->seed);
	if (p->what == REVOKED)
		check(p, at, 0, 0);
}

static void respond(void)
{
	struct plan p;

	for (;;) {
		hear(&p, sizeof(p));
		if (p.what == TURN)
			return;
		prepare(&p);
		hear_go();
		judge(&p);
		say_go();
		done++;
	}
}

static void request_one(const struct plan *p, uint32_t rkey)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[SEND] = IBV_WR_SEND, [SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[SEND_LATE] = IBV_WR_SEND, [SEND_INV] = IBV_WR_SEND_WITH_INV,
		[WRITE] = IBV_WR_RDMA_WRITE,
		[WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[READ] = IBV_WR_RDMA_READ,
		[SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[SWAP_NOT] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[REVOKED] = IBV_WR_RDMA_WRITE,
	};

	if (p->what >= READ && p->what <= ADD)
		clear(own, p->size);
	else
		fill(own, p->size, p->seed);
	if (p->what == SEND_INV) {
		/* The window is open as yet. */
		post(IBV_WR_RDMA_WRITE, own, p->size, p->seed, rkey);
		poll_well(send_cq, p);
	}
	if (p->what == PUT)
		post_put(own, p->seed, rkey);
	else
		post(opcodes[p->what], own, p->size, p->seed, rkey);
	if (p->what == SEND_LATE)
		say_go();
}

static void finish_one(const struct plan *p)
{
	struct ibv_wc wc;

	if (p->what == REVOKED) {
		wc = poll_one(send_cq, p);
		need(wc.status == IBV_WC_REM_ACCESS_ERR ||
		     (opt.lossy && wc.status == IBV_WC_RETRY_EXC_ERR), "%s: %s",
		     names[p->what], ibv_wc_status_str(wc.status));
		return;
	}
	poll_well(send_cq, p);
	if (p->what == READ)
		check(p, own, p->size, p->seed);
	if (p->what == SWAP || p->what == ADD)
		need(word_at(own) == WORD + p->seed, "%s found %#llx",
		     names[p->what], (unsigned long long)word_at(own));
	if (p->what == SWAP_NOT)
		need(word_at(own) == WORD + p->seed + 1, "%s found %#llx",
		     names[p->what], (unsigned long long)word_at(own));
}

static void request(enum what what, uint32_t size)
{
	static uint32_t seed = 1;
	struct plan p = { .what = what, .size = size, .seed = seed };
	uint32_t rkey;

	seed += POSTED;
	say(&p, sizeof(p));
	if (what == TURN)
		return;
	hear(&rkey, sizeof(rkey));
	if (what == MANY) {
		request_many(&p);
	} else {
		request_one(&p, rkey);
		finish_one(&p);
	}
	say_go();
	hear_go();
	done++;
}

static bool possible(enum what what, uint32_t size)
{
	if (opt.type == IBV_QPT_UD)
		return what <= SEND_IMM && size <= (uint32_t)opt.mtu;
	if (opt.type == IBV_QPT_UC)
		return what <= SEND_IMM || what == WRITE || what == WRITE_IMM;
	return true;
}

static void request_all(void)
{
	uint32_t m = opt.mtu, sizes[] = {
		0, 1, 2, 3, 5, m - 1, m, m + 1, 2 * m - 1, 2 * m, 2 * m + 1,
		3 * m + 2, 33 * m + 7
	};

	for (enum what what = SEND; what <= READ; what++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			if (possible(what, sizes[i]))
				request(what, sizes[i]);
	if (opt.type == IBV_QPT_RC) {
		for (enum what what = SWAP; what <= ADD; what++)
			request(what, 8);
		if (opt.put)
			request(PUT, 8);
		request(MANY, 9);
		request(MANY, 2 * m + 1);
		request(MANY, 5 * m);
	}
	request(TURN, 0);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:g:c:m:o:lwx")) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 'g':
			opt.gid = atoi(optarg);
			break;
		case 'c':
			opt.type = !strcmp(optarg, "ud") ? IBV_QPT_UD :
				   !strcmp(optarg, "uc") ? IBV_QPT_UC :
				   IBV_QPT_RC;
			break;
		case 'm':
			opt.mtu = atoi(optarg);
			break;
		case 'o':
			opt.depth = atoi(optarg);
			break;
		case 'l':
			opt.lossy = true;
			break;
		case 'w':
			opt.weak = true;
			break;
		case 'x':
			opt.put = true;
			break;
		default:
			exit(2);
		}
	}
	opt.peer = argv[optind];
	need(opt.device && (opt.mtu & -opt.mtu) == opt.mtu && opt.mtu >= 256 &&
	     opt.mtu <= 4096, "which device and MTU?");
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	make_qp();
	dial();
	introduce();
	if (opt.peer)
		request_all();
	else
		respond();
	if (opt.peer)
		respond();
	else
		request_all();
	/* The last thing this connection does: its window was revoked. */
	if (opt.type == IBV_QPT_RC) {
		if (opt.peer) {
			request(REVOKED, 100);
			request(TURN, 0);
		} else {
			respond();
		}
	}
	printf("%d exchanges\n", done);
	return 0;
}
