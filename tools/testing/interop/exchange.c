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
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define PORT		18516
#define AREA		(1 << 20)
#define GRH		40
#define POSTED		32
#define PATIENCE_S	25
#define CANARY		0xc5
#define WORD		0x0123456789abcdefULL

enum what {
	SEND, SEND_IMM, SEND_LATE, SEND_INV, WRITE, WRITE_IMM, READ,
	SWAP, SWAP_NOT, ADD, PUT, MANY, REVOKED, TURN
};

static const char * const names[] = {
	"send", "send with immediate", "send before the receive",
	"send with invalidate", "write", "write with immediate", "read",
	"compare and swap", "compare and do not swap", "fetch and add",
	"atomic write",
	"more than may be outstanding", "write through a revoked window",
	"turn"
};

/* What the requester is about to do. */
struct plan {
	uint32_t what;
	uint32_t size;
	uint32_t seed;
};

/* What an end must know of the other one; the rkey may be a window's. */
struct about {
	uint64_t addr;
	union ibv_gid gid;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t psn;
};

static struct {
	const char *device, *peer;
	enum ibv_qp_type type;
	int gid, mtu, depth;
	bool lossy, weak, put;
} opt = { .type = IBV_QPT_RC, .mtu = 1024, .depth = 4 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct about here, there;
/* The peer may reach the first half, what is sent is in the second. */
static uint8_t *area, *own;
static int wire;
static int done;

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "error: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

#define need(ok, ...)				\
	do {					\
		if (!(ok))			\
			fail(__VA_ARGS__);	\
	} while (0)

static void say(const void *data, size_t size)
{
	need(write(wire, data, size) == (ssize_t)size, "the peer is gone");
}

static void hear(void *data, size_t size)
{
	need(recv(wire, data, size, MSG_WAITALL) == (ssize_t)size,
	     "the peer gave up");
}

static void say_go(void)
{
	say("", 1);
}

static void hear_go(void)
{
	char go;

	hear(&go, 1);
}

/* Byte i of the data of a seed. */
static uint8_t byte(uint32_t seed, uint32_t i)
{
	uint32_t x = (seed + i / 251) * 2654435761u;

	return (x >> 24) + i;
}

static void fill(uint8_t *at, uint32_t size, uint32_t seed)
{
	for (uint32_t i = 0; i < size; i++)
		at[i] = byte(seed, i);
}

/* An unreliable write says to nobody when it has arrived. */
static void wait_for(const volatile uint8_t *at, uint32_t size, uint32_t seed)
{
	time_t end = time(NULL) + PATIENCE_S;
	uint32_t i = 0;

	while (time(NULL) < end) {
		while (i < size && at[i] == byte(seed, i))
			i++;
		if (i == size)
			return;
		usleep(100);
	}
}

/* The bytes, and that what is behind them was left alone. */
static void check(const struct plan *p, const uint8_t *at, uint32_t size,
		  uint32_t seed)
{
	for (uint32_t i = 0; i < size; i++)
		need(at[i] == byte(seed, i), "%s of %u bytes: byte %u is wrong",
		     names[p->what], p->size, i);
	for (uint32_t i = size; i < size + 64; i++)
		need(at[i] == CANARY, "%s of %u bytes: byte %u is written, too",
		     names[p->what], p->size, i);
}

static void clear(uint8_t *at, uint32_t size)
{
	memset(at, CANARY, size + 64);
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), opt.device))
			continue;
		context = ibv_open_device(list[i]);
	}
	need(context, "no device %s", opt.device);
	ibv_free_device_list(list);
}

static void make_qp(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = opt.type,
		.cap = { .max_send_wr = 2 * POSTED, .max_recv_wr = 2 * POSTED,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
		     IBV_ACCESS_MW_BIND;

	open_device();
	area = aligned_alloc(4096, 2 * AREA);
	own = area + AREA;
	pd = ibv_alloc_pd(context);
	need(pd && area, "no PD or no memory");
	mr = ibv_reg_mr(pd, area, 2 * AREA, access);
	send_cq = ibv_create_cq(context, 2 * POSTED, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, 2 * POSTED, NULL, NULL, 0);
	need(mr && send_cq && recv_cq, "no MR or CQ");
	init.send_cq = send_cq;
	init.recv_cq = recv_cq;
	init.pd = pd;
	if (opt.put) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	qp = ibv_create_qp_ex(context, &init);
	need(qp, "no QP");
	if (opt.type == IBV_QPT_RC) {
		mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		need(mw, "no memory window");
	}
}

static enum ibv_mtu mtu_value(void)
{
	return IBV_MTU_256 + __builtin_ctz(opt.mtu / 256);
}

static struct ibv_ah_attr path(void)
{
	return (struct ibv_ah_attr) {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = there.gid, .sgid_index = opt.gid,
			 .hop_limit = 64 },
	};
}

static void modify(struct ibv_qp_attr *attr, int mask)
{
	int error = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	need(!error, "no QP in state %d: %s", attr->qp_state, strerror(error));
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {
		.path_mtu = mtu_value(), .dest_qp_num = there.qpn,
		.rq_psn = there.psn, .sq_psn = here.psn, .ah_attr = path(),
		.max_rd_atomic = opt.depth, .max_dest_rd_atomic = opt.depth,
		.min_rnr_timer = 6, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .port_num = 1, .qkey = 0x11111111,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	bool rc = opt.type == IBV_QPT_RC, ud = opt.type == IBV_QPT_UD;

	attr.qp_state = IBV_QPS_INIT;
	modify(&attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	modify(&attr, (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN) |
	       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	attr.qp_state = IBV_QPS_RTS;
	modify(&attr, IBV_QP_SQ_PSN |
	       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC : 0));
	if (ud) {
		ah = ibv_create_ah(pd, &attr.ah_attr);
		need(ah, "no address handle");
	}
}

static void dial(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to;
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(PORT) };
	char port[8];
	int yes = 1;

	snprintf(port, sizeof(port), "%d", PORT);
	if (opt.peer) {
		need(!getaddrinfo(opt.peer, port, &hints, &to), "no such peer");
		wire = socket(to->ai_family, SOCK_STREAM, 0);
		need(!connect(wire, to->ai_addr, to->ai_addrlen),
		     "cannot connect: %s", strerror(errno));
		freeaddrinfo(to);
		return;
	}
	wire = socket(AF_INET6, SOCK_STREAM, 0);
	setsockopt(wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	need(!bind(wire, (struct sockaddr *)&any, sizeof(any)) &&
	     !listen(wire, 1), "cannot listen: %s", strerror(errno));
	wire = accept(wire, NULL, NULL);
	need(wire >= 0, "nobody called");
}

static void introduce(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	here.qpn = qp->qp_num;
	here.psn = (now.tv_nsec ^ getpid() << 12) & 0xffffff;
	here.addr = (uintptr_t)area;
	here.rkey = mr->rkey;
	need(!ibv_query_gid(context, 1, opt.gid, &here.gid), "no such GID");
	say(&here, sizeof(here));
	hear(&there, sizeof(there));
	connect_qp();
	say_go();
	hear_go();
}

static struct ibv_wc poll_one(struct ibv_cq *cq, const struct plan *p)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		need(time(NULL) < end, "%s of %u bytes: no %s completion",
		     names[p->what], p->size, cq == send_cq ? "send" :
		     "receive");
		usleep(20);
	}
	need(n == 1, "polling failed");
	return wc;
}

static struct ibv_wc poll_well(struct ibv_cq *cq, const struct plan *p)
{
	struct ibv_wc wc = poll_one(cq, p);

	need(wc.status == IBV_WC_SUCCESS, "%s of %u bytes: %s: %s",
	     names[p->what], p->size, cq == send_cq ? "sent" : "received",
	     ibv_wc_status_str(wc.status));
	return wc;
}

static void post_recv(uint8_t *at, uint32_t size)
{
	struct ibv_sge sge = { (uintptr_t)at, size, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_recv(qp, &wr, &bad), "cannot post a receive");
}

static uint32_t imm_of(uint32_t seed)
{
	return seed * 2246822519u;
}

/* Post what the plan says with these bytes of ours, which are at the same place
 * of the peer's half when the peer is read or written.
 */
static void post(enum ibv_wr_opcode opcode, uint8_t *at, uint32_t size,
		 uint32_t seed, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)at, size, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = seed, .opcode = opcode, .sg_list = &sge,
		.num_sge = size ? 1 : 0, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint64_t remote = there.addr + (at - own);
	int error;

	wr.imm_data = htonl(imm_of(seed));
	if (opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = rkey;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = size ? WORD + seed : 0;
		wr.wr.atomic.swap = ~WORD;
	} else if (opt.type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = there.qpn;
		wr.wr.ud.remote_qkey = 0x11111111;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	error = ibv_post_send(qp, &wr, &bad);
	need(!error, "refused: %s", strerror(error));
}

/* The same for an ATOMIC WRITE, which no work request says. */
static void post_put(const uint8_t *at, uint32_t seed, uint32_t rkey)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	int error;

	ibv_wr_start(ex);
	ex->wr_id = seed;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(ex, rkey, there.addr + (at - own), at);
	error = ibv_wr_complete(ex);
	need(!error, "refused: %s", strerror(error));
}

static uint64_t word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static void put_word(uint8_t *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
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
