/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two QPs that are connected to each other, with memory and queues of their own. */
#ifndef SRT_DUO_H
#define SRT_DUO_H

#include "verbs.h"

/* How long anything may take on a busy emulated machine. */
#define DUO_WAIT_MS	20000

/* Bytes of the memory of an end. */
#define DUO_BUF		(256 * 1024)

/**
 * struct duo_end - one QP and what it needs
 * @set: its device, and GID
 * @channel: of @recv_cq; non-blocking
 * @send_cq: where its sends complete
 * @recv_cq: where its receives complete
 * @qp: itself
 * @buf: DUO_BUF bytes
 * @mr: their region, with all access
 */
struct duo_end {
	struct verbs_set *set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
	uint8_t *buf;
	struct ibv_mr *mr;
};

/**
 * struct duo - both
 * @end: both
 * @type: type of the QPs; set by the caller, 0 for RC
 * @depth: requests a queue holds; set by the caller, 0 for 64
 * @cqe: entries of each CQ; set by the caller, 0 for 256
 * @rnr_retry: set by the caller; 0 stands for 7, for ever
 * @no_sig_all: set by the caller: sends complete only if they ask for it
 * @srq: set by the caller: the ends receive from it
 */
struct duo {
	struct duo_end end[2];
	enum ibv_qp_type type;
	int depth;
	int cqe;
	int rnr_retry;
	bool no_sig_all;
	struct ibv_srq *srq;
};

/*
 * Make both, in RESET. The sets may be the same. 0 or errno; duo_close() frees
 * what there is and says what was in use.
 */
int duo_open(struct duo *duo, struct verbs_set *a, struct verbs_set *b);
int duo_close(struct duo *duo);

/* One more step of one end: INIT, RTR, RTS. 0 or errno. */
int duo_step(struct duo *duo, int which, enum ibv_qp_state to);

/* Both to RTS, from RESET. 0 or errno. */
int duo_connect(struct duo *duo);

/* Both of duo_open() and duo_connect(). */
int duo_up(struct duo *duo, struct verbs_set *a, struct verbs_set *b);

/* A state without attributes: ERR, RESET, SQD, RTS from SQD. 0 or errno. */
int duo_state(struct duo_end *end, enum ibv_qp_state to);

/* Post one piece at an offset of the end's memory; @flags besides. 0, errno. */
int duo_send(struct duo_end *end, uint64_t wr_id, uint32_t offset, uint32_t len,
	     int flags);
int duo_recv(struct duo_end *end, uint64_t wr_id, uint32_t offset,
	     uint32_t len);
int duo_srq_recv(struct ibv_srq *srq, struct ibv_mr *mr, uint64_t wr_id,
		 void *at, uint32_t len);

/* A WRITE from offset 0 to offset 0 of @to, by a key that may be wrong. */
int duo_write(struct duo_end *from, struct duo_end *to, uint64_t wr_id,
	      uint32_t len, uint32_t rkey);

/* Poll until @count came, or DUO_WAIT_MS have passed. How many came. */
int duo_poll(struct ibv_cq *cq, struct ibv_wc *wc, int count);

/* The next event within the time, not acknowledged yet. 0 or -ETIMEDOUT. */
int duo_event(struct ibv_context *ctx, struct ibv_async_event *event,
	      int timeout_ms);

/*
 * Take off and acknowledge all events that are there now; how many of @type
 * were among them.
 */
int duo_count_events(struct ibv_context *ctx, enum ibv_event_type type);

/*
 * A veth between two namespaces with a link on each end, for the whole of a
 * program; its own namespace is the first::
 *
 *	srtn0 10.79.0.1 <-- srt1	srtn1 10.79.0.2 <-- srt2
 */
#define DUO_NEAR	"srt1"
#define DUO_FAR		"srt2"
#define DUO_NEAR_NETDEV	"srtn0"
#define DUO_FAR_NETDEV	"srtn1"

int duo_veth_setup(void);
void duo_veth_teardown(void);

/* A feature of the far netdev, as topo_set_feature(). 0 or -errno. */
int duo_veth_set_far_feature(const char *name, bool on);

/* The sets of both ends; verbs_close_set() closes each. 0 or -errno. */
int duo_veth_open(struct verbs_set sets[2]);

/* A completion event within the time? Acknowledges it. */
bool duo_notified(struct duo_end *end, int timeout_ms);

#endif
