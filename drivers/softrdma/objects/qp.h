/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: their structure, look-up and references, and how errors are
 * reported to them.
 */
#ifndef SRDMA_QP_H
#define SRDMA_QP_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "engine/engine.h"
#include "engine/upcall.h"
#include "memory/window.h"
#include "objects/ah.h"
#include "objects/requester.h"
#include "objects/responder.h"
#include "observe/errors.h"
#include "proto/opcode.h"
#include "queues/receive_queue.h"
#include "queues/ring.h"
#include "queues/wqe.h"

struct srdma_backlog;
struct srdma_cq;
struct srdma_dev;
struct srdma_srq;

/* What may be done in a state (10.3.1). */
enum srdma_qp_may {
	SRDMA_MAY_POST_RECV = BIT(0),	/* the consumer may post receives */
	SRDMA_MAY_POST_SEND = BIT(1),	/* the consumer may post sends */
	SRDMA_MAY_RECEIVE = BIT(2),	/* requests are executed */
	SRDMA_MAY_SEND = BIT(3),	/* requests are sent */
	SRDMA_MAY_FLUSH_SQ = BIT(4),	/* sends complete as flushed */
	SRDMA_MAY_FLUSH_RQ = BIT(5),	/* receives complete as flushed */
};

/**
 * struct srdma_sq - the send queue of a QP
 * @lock: one kernel consumer posts at a time; user space posts without it
 * @ring: struct srdma_abi_send_wqe of user space, or struct srdma_wqe of a
 *	kernel consumer
 * @limits: what a request may hold; constant
 * @slot_bytes: bytes of a slot that mean something; constant
 * @av_at: where in the slot of a kernel consumer's datagram its address is;
 *	constant
 */
struct srdma_sq {
	spinlock_t lock;
	struct srdma_ring ring;
	struct srdma_wqe_limits limits;
	u32 slot_bytes;
	u32 av_at;
};

/**
 * struct srdma_doorbell - what is known of how requests are posted
 * @most: doorbells that may wait for the next one; 0: none ever does
 * @row: doorbells in a row that could have waited
 * @needed: as many in a row before one does
 * @seen: producer's index at the last doorbell
 * @waiting: doorbells that wait; the engine takes them all
 * @armed: bit 0: @timer is going to look after them
 * @timer: ends the wait that nothing else ended, also that of an acknowledge
 * @since: when the first of @waiting began to wait, ns
 *
 * But for @waiting and @armed these are hints: threads that ring at once may
 * spoil them, which costs time and nothing else.
 */
struct srdma_doorbell {
	u16 most;
	u16 row;
	u16 needed;
	u32 seen;
	atomic_t waiting;
	unsigned long armed;
	struct hrtimer timer;
	u64 since;
};

/**
 * struct srdma_inflight - bytes of a QP in queues of this host
 * @bytes: how many, and one more until the verbs object goes; added by the owners
 *	of the engines, taken off where the skbs are freed. Who brings it to 0
 *	gives the QP's reference back
 * @most: no more fits, as the stack said when it refused a packet; 0: not known
 * @waiting: INFLIGHT_* bits of wire/inflight.c: engines that wait for room
 * @limit: what they may be, by how fast they leave; 0: not known yet. Written
 *	by the CPU on which @timed has left, or whose packet was refused
 * @timed: an skb in flight, to see how long it takes to leave; or TIME_NEXT of
 *	wire/inflight.c: the next one. Set once there is much in flight
 * @met: an engine has met the limit since @timed was handed over
 * @timed_at: when it was handed over, ns
 * @refused_at: when a queue refused a packet the last time, jiffies
 */
struct srdma_inflight {
	atomic_t bytes;
	int most;
	unsigned long waiting;
	int limit;
	bool met;
	const struct sk_buff *timed;
	u64 timed_at;
	unsigned long refused_at;
};

/**
 * struct srdma_rider - an acknowledge that waits for a request to travel with
 * @ack: what it says (wire/rider.c), 0: none waits. Who takes it is to send it
 * @until: how long it waits, ns; 0: the receive engine has put none. Only that engine
 *	writes it
 */
struct srdma_rider {
	atomic64_t ack;
	u64 until;
};

/**
 * struct srdma_qp_attrs - what a QP keeps of struct ib_qp_attr; named as there
 * @qkey: Q_Key of a datagram QP
 * @rq_psn: first PSN to arrive
 * @sq_psn: first PSN to send
 * @dest_qp_num: the peer's number
 * @qp_access_flags: what a peer may do, enum ib_access_flags
 * @ah_attr: where the peer is
 * @path_mtu: 0 when not set
 * @pkey_index: 0
 * @en_sqd_async_notify: raise SQ_DRAINED when drained
 * @max_rd_atomic: READs and atomics that it may have under way
 * @max_dest_rd_atomic: those that the peer may have
 * @min_rnr_timer: for how long the peer is to wait for a receive, encoded
 * @port_num: 1
 * @timeout: local ACK timeout, encoded
 * @retry_cnt: how often that may expire
 * @rnr_retry: how often the peer may answer RNR
 */
struct srdma_qp_attrs {
	u32 qkey;
	u32 rq_psn;
	u32 sq_psn;
	u32 dest_qp_num;
	int qp_access_flags;
	struct rdma_ah_attr ah_attr;
	enum ib_mtu path_mtu;
	u16 pkey_index;
	u8 en_sqd_async_notify;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 min_rnr_timer;
	u8 port_num;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
};

/**
 * struct srdma_qp - a queue pair
 * @dev: device
 * @pd: protection domain; compared, not followed, by the data path
 * @qpn: number, 24 bits
 * @qpt: transport
 * @state: enum ib_qp_state; written by
 *	srdma_qp_set_state()
 * @flushed_by: what has brought it to the error state, or the send queue alone:
 *	enum srdma_err; written with @state
 * @is_user: the rings are user space's
 * @sig_all: every send request is signalled
 * @send_cq: where sends complete
 * @recv_cq: where receives complete
 * @effects: what rules want done to it: bits of objects/effects.h
 * @srq: shared receive queue, or NULL
 * @pass: what the stack has let in a packet of the peer by, or 0
 *	(wire/shortcut.c)
 * @stack_until: no pass is taken before, jiffies
 * @backlog: on whose account packets wait for @send and @recv; constant
 * @errors: log that its errors go to; NULL: there is none
 * @ib: the verbs object; valid until srdma_qp_destroy() has silenced everything
 *	that could use it
 * @owner_pid: process that has made it, as the first PID namespace numbers it;
 *	0: the kernel
 * @cap: what the queues hold, as reported
 * @av: where packets of a connected QP go; written under @mutex with the engines
 *	stopped
 * @attr: every attribute as set; likewise
 * @who: on whose behalf it, or its peer, accesses memory
 * @rq_who: on whose behalf receive buffers are accessed: an SRQ may have a
 *	protection domain of its own
 * @owner: cgroup that pays for what the engines allocate; NULL: nobody does
 * @refs: one until the verbs object and all that was sent are gone, and those of
 *	multicast groups. Look-ups and packets on their way in take none
 * @state_lock: guards changes of @state; nothing else is taken inside
 * @mutex: serialises modification, queries and destruction
 * @rcu: look-ups may still see it when the last reference goes
 * @maker: its process, for the log of errors
 * @windows: type 2 memory windows bound to the QP
 * @upcall: reports events to a kernel consumer; enum ib_event_type
 * @drain_entry: in the list of those in error that are looked after
 *	(responder/drain.c)
 * @send: engine that sends requests and receives responses
 * @bell: which of the doorbells wait (posting/doorbell.c)
 * @sq: send queue
 * @req: what @send owns
 * @recv: engine that executes requests and answers them
 * @rq: receive queue; not in use with @srq
 * @resp: what @recv owns
 * @inflight: what was sent and has not left the host (wire/inflight.c)
 * @notified_at: when a congestion notification was last sent, ns; 0: never. Either
 *	engine may send one (wire/notify.c)
 * @rider: an acknowledge that either engine may send
 *
 * In groups by who writes, none of which shares a cache line with another: what
 * all CPUs read and seldom anybody writes; the control path's; the sender's; the
 * receiver's; and what the CPUs that send and that free skbs write both. Those
 * that bring packets to an engine, or kick it, write the first line of its group.
 */
struct srdma_qp {
	struct srdma_dev *dev;
	struct ib_pd *pd;
	u32 qpn;
	enum srdma_qpt qpt;
	enum ib_qp_state state;
	u16 flushed_by;
	bool is_user;
	bool sig_all;
	struct srdma_cq *send_cq;
	struct srdma_cq *recv_cq;
	unsigned long effects;
	struct srdma_srq *srq;
	u64 pass;
	unsigned long stack_until;
	struct srdma_backlog *backlog;
	struct srdma_error_log *errors;
	struct ib_qp *ib;
	u32 owner_pid;
	struct ib_qp_cap cap;
	struct srdma_av av;
	struct srdma_qp_attrs attr;
	struct srdma_mem_who who;
	struct srdma_mem_who rq_who;
	struct mem_cgroup *owner;

	refcount_t refs ____cacheline_aligned;
	spinlock_t state_lock;
	struct mutex mutex;
	struct rcu_head rcu;
	struct srdma_maker maker;
	struct srdma_mw_set windows;
	struct srdma_upcall upcall;
	struct list_head drain_entry;

	struct srdma_engine send ____cacheline_aligned;
	struct srdma_doorbell bell;
	struct srdma_sq sq;
	struct srdma_requester req;

	struct srdma_engine recv ____cacheline_aligned;
	struct srdma_rq rq;
	struct srdma_responder resp;

	struct srdma_inflight inflight ____cacheline_aligned;
	atomic64_t notified_at;
	struct srdma_rider rider;
};

#define SRDMA_QP_GROUP(first, before)						\
	static_assert(IS_ALIGNED(offsetof(struct srdma_qp, first),		\
				 SMP_CACHE_BYTES) &&				\
		      offsetof(struct srdma_qp, before) <			\
		      offsetof(struct srdma_qp, first))

SRDMA_QP_GROUP(refs, owner);
SRDMA_QP_GROUP(send, drain_entry);
SRDMA_QP_GROUP(recv, req);
SRDMA_QP_GROUP(inflight, resp);
static_assert(offsetof(struct srdma_qp, state) < offsetof(struct srdma_qp, refs));

/**
 * struct srdma_qp_handle - what the core allocates and frees
 * @ib: the core's part
 * @qp: the queue pair, which look-ups under RCU may see for longer; NULL once it
 *	is being destroyed
 */
struct srdma_qp_handle {
	struct ib_qp ib;
	struct srdma_qp *qp;
};

static inline struct srdma_qp_handle *to_sqp_handle(struct ib_qp *ib)
{
	return container_of(ib, struct srdma_qp_handle, ib);
}

static inline struct srdma_qp *to_sqp(struct ib_qp *ib)
{
	return to_sqp_handle(ib)->qp;
}

static inline bool srdma_qp_is_rc(const struct srdma_qp *qp)
{
	return qp->qpt == SRDMA_QPT_RC;
}

/* Connected: to one other QP. */
static inline bool srdma_qp_has_peer(const struct srdma_qp *qp)
{
	return qp->qpt == SRDMA_QPT_RC || qp->qpt == SRDMA_QPT_UC;
}

static inline bool srdma_qp_is_datagram(const struct srdma_qp *qp)
{
	return qp->qpt == SRDMA_QPT_UD || qp->qpt == SRDMA_QPT_GSI;
}

/*
 * Is more of it to be answered than softirq does at once, where the peer is near? Its send
 * engine asks.
 */
static inline bool srdma_qp_awaits_much(const struct srdma_qp *qp)
{
	return qp->qpt == SRDMA_QPT_RC && srdma_rc_req_unanswered(&qp->req.rc) > 16;
}

/* Where a kernel consumer's datagram goes: the handle may be gone by now. */
static inline struct srdma_av *srdma_qp_wqe_av(const struct srdma_qp *qp,
					       struct srdma_wqe *wqe)
{
	return (void *)wqe + qp->sq.av_at;
}

/* Bits of enum srdma_qp_may, by state. */
extern const u8 srdma_qp_state_allows[IB_QPS_ERR + 1];

/* Any thread may ask; the state may change right after. */
static inline bool srdma_qp_may(const struct srdma_qp *qp,
				enum srdma_qp_may what)
{
	return srdma_qp_state_allows[READ_ONCE(qp->state)] & what;
}

struct srdma_qp *srdma_qp_alloc(void);
void *srdma_qp_calloc(const struct srdma_qp *qp, u32 count, size_t bytes, gfp_t gfp);
void *srdma_qp_zalloc(const struct srdma_qp *qp, size_t bytes);
void srdma_qp_put(struct srdma_qp *qp);
void srdma_qp_free(struct srdma_qp *qp);

void srdma_qp_events_init(struct srdma_qp *qp);
void srdma_qp_event(struct srdma_qp *qp, enum ib_event_type type);

int srdma_qps_init(void);
void srdma_qps_exit(void);

u32 srdma_qp_mtu(const struct srdma_qp *qp);
void srdma_qp_set_error(struct srdma_qp *qp, enum srdma_err by);
void srdma_qp_set_send_error(struct srdma_qp *qp);
void srdma_qp_fail(struct srdma_qp *qp, enum ib_event_type event,
		   enum srdma_err by);
void srdma_qp_lost_completion(struct srdma_qp *qp);
void srdma_qp_set_state(struct srdma_qp *qp, enum ib_qp_state state);

#endif
