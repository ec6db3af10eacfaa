/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel consumer of RDMA devices, as ULPs are: what its tests share.
 *
 * Each test gets a world: two ends, on one device or on two, made as the test's
 * setup says. What it makes besides belongs to the world and goes with it, so a
 * test may return wherever something is wrong.
 */
#ifndef SRT_CONSUMER_H
#define SRT_CONSUMER_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

/* How long what must happen may take; emulated machines are slow. */
#define PATIENCE	(30 * HZ)

#define DEPTH		64
#define ALL_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

struct world;

/**
 * struct setup - how a test wants its ends
 * @type: of QP; 0 for none
 * @poll: of its CQs
 * @use_srq: receives come from an SRQ
 * @global_rkey: the PDs have a remote key of all memory
 * @sig_all: every send is signalled
 * @max_inline: bytes
 * @max_sge: of both queues; 0 for 4
 * @rw_ctxs: rdma_rw contexts of end a, 0 for none
 * @rw_mrs: registrations are used for them, as if the device asked for it
 * @only_rtr: end b is left in RTR
 * @cqe: entries of the CQs, 0 for enough
 * @on_event: event handler of the QPs and the SRQ; its context is the world
 */
struct setup {
	enum ib_qp_type type;
	enum ib_poll_context poll;
	bool use_srq;
	bool global_rkey;
	bool sig_all;
	u32 max_inline;
	u32 max_sge;
	u32 rw_ctxs;
	bool rw_mrs;
	bool only_rtr;
	int cqe;
	void (*on_event)(struct ib_event *event, void *context);
};

/**
 * struct test - a test
 * @name: what it demands
 * @run: 0, or an error, with the reason in the world
 * @how: its setup
 */
struct test {
	const char *name;
	int (*run)(struct world *w);
	struct setup how;
};

/**
 * struct end - one end of a connection
 * @w: its world
 * @dev: device
 * @is_going: the device is to be let go of
 * @gid_index: of a RoCEv2 GID with an IPv4 address
 * @gid: that GID
 * @pd: protection domain
 * @send_cq: CQ of the send queue
 * @recv_cq: CQ of the receive queue
 * @srq: or NULL
 * @qp: queue pair
 */
struct end {
	struct world *w;
	struct ib_device *dev;
	const bool *is_going;
	int gid_index;
	union ib_gid gid;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
};

/**
 * struct world - where one test runs
 * @test: it
 * @a: one end
 * @b: the other
 * @things: what goes first, the newest of it first
 * @memory: what goes once nothing uses it any more
 * @max_sgl_rd: what the device of @a said of itself
 * @priv: the test's own
 * @why: what was wrong
 */
struct world {
	const struct test *test;
	struct end a;
	struct end b;
	struct list_head things;
	struct list_head memory;
	u32 max_sgl_rd;
	void *priv;
	char why[256];
};

/**
 * struct req - a work request that is waited for
 * @cqe: the core calls it
 * @done: it has
 * @wc: how it ended
 * @times: it was called
 */
struct req {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
	atomic_t times;
};

/**
 * struct buf - memory of an end
 * @dev: mapped for
 * @va: kernel address
 * @len: bytes
 * @order: of its pages
 * @addr: DMA address
 * @lkey: that names it
 */
struct buf {
	struct ib_device *dev;
	u8 *va;
	u32 len;
	unsigned int order;
	u64 addr;
	u32 lkey;
};

/**
 * struct pages - scattered memory
 * @dev: mapped for
 * @sgt: the pieces, each of @order; mapped
 * @order: of each
 * @nents: pieces
 */
struct pages {
	struct ib_device *dev;
	struct sg_table sgt;
	unsigned int order;
	u32 nents;
};

int complain(struct world *w, const char *file, int line, const char *fmt, ...)
	__printf(4, 5);

#define FAIL(w, fmt, ...) complain(w, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

/* Return from the test unless it is so. */
#define CHECK(w, what)						\
	do {							\
		if (!(what))					\
			return FAIL(w, "not so: %s", #what);	\
	} while (0)

#define CHECK_EQ(w, want, got)						\
	do {								\
		long long want_ = (want), got_ = (got);			\
									\
		if (want_ != got_)					\
			return FAIL(w, "%s is %lld and not %lld",	\
				    #got, got_, want_);			\
	} while (0)

/* Return from the test with the error of what complained itself. */
#define TRY(call)				\
	do {					\
		int err_ = (call);		\
						\
		if (err_)			\
			return err_;		\
	} while (0)

/* world.c */
int world_open(struct world *w, struct ib_device *a, struct ib_device *b);
void world_close(struct world *w);
int world_own(struct world *w, void (*end)(void *arg), void *arg);
int world_keep(struct world *w, void (*end)(void *arg), void *arg);

int end_qp_create(struct end *e, const struct setup *how, struct ib_qp **qp);
int end_qp_connect(struct end *e, struct ib_qp *qp, const struct end *to,
		   u32 dest_qpn, bool only_rtr);
int end_ready(struct end *e);
void end_ah_attr(const struct end *e, const struct end *to,
		 struct rdma_ah_attr *attr);

struct req *req_new(struct world *w);
int req_wait(struct world *w, struct req *req);
int req_expect(struct world *w, struct req *req, enum ib_wc_status status);

struct buf *buf_new(struct end *e, u32 len);
void buf_fill(struct buf *buf, u32 at, u32 len, u32 seed);
int buf_expect(struct world *w, const struct buf *buf, u32 at, u32 len,
	       u32 seed);
struct ib_sge buf_sge(const struct buf *buf, u32 at, u32 len);

struct pages *pages_new(struct end *e, u32 nents, unsigned int order);
void pages_fill(struct pages *p, u32 at, u32 len, u32 seed);
int pages_expect(struct world *w, struct pages *p, u32 at, u32 len, u32 seed);

int post_recv(struct end *e, struct req *req, struct ib_sge *sge, int num_sge);
int post_send(struct end *e, struct req *req, struct ib_sge *sge, int num_sge,
	      int flags);
int post_rdma(struct end *e, struct req *req, enum ib_wr_opcode opcode,
	      struct ib_sge *sge, int num_sge, u64 remote_addr, u32 rkey);
int post_list(struct end *e, const struct ib_send_wr *wr);

int exchange(struct world *w, u32 len, u32 seed);

/* Tables of tests, ended by one without a name. */
extern const struct test transfer_tests[];
extern const struct test frwr_tests[];
extern const struct test readwrite_tests[];
extern const struct test drain_tests[];
extern const struct test context_tests[];
extern const struct test event_tests[];
extern const struct test datagram_tests[];
extern const struct test removal_tests[];

#endif
