/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: creation, queries, look-up, destruction.
 */
#ifndef SRDMA_QP_H
#define SRDMA_QP_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "ah.h"
#include "doorbell.h"
#include "engine.h"
#include "flight.h"
#include "mw.h"
#include "notice.h"
#include "proto/opcode.h"
#include "recv.h"
#include "ring.h"
#include "rq.h"
#include "send.h"
#include "wqe.h"

struct srdma_backlog;
struct srdma_cq;
struct srdma_dev;
struct srdma_srq;

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
 * struct srdma_qp_attrs - what a QP keeps of struct ib_qp_attr; named as there
 * @qkey: Q_Key of a datagram QP
 * @rq_psn: first PSN to arrive
 * @sq_psn: first PSN to send
 * @dest_qp_num: the peer's number
 * @qp_access_flags: what a peer may do, enum ib_access_flags
 * @ah_attr: where the peer is
 * @path_mtu: 0 when not set
 * @pkey_index: 0
 * @en_sqd_async_notify: drained, it tells so
 * @max_rd_atomic: READs and atomics that it may have under way
 * @max_dest_rd_atomic: those that the peer may have
 * @min_rnr_timer: for how long the peer is to wait for a receive, encoded
 * @port_num: 1
 * @timeout: of an acknowledge, encoded
 * @retry_cnt: how often that may pass
 * @rnr_retry: how often the peer may be not ready
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
 * @refs: the verbs object's reference and those of look-ups
 * @rcu: look-ups may still see it when the last reference goes
 * @ib: the verbs object; valid until srdma_qp_destroy() has silenced everything
 *	that could use it
 * @dev: device
 * @pd: protection domain; compared, not followed, by the data path
 * @qpn: number, 24 bits
 * @qpt: transport
 * @is_user: the rings are user space's
 * @sig_all: every send request is signalled
 * @cap: what the queues hold, as reported
 * @send_cq: where sends complete
 * @recv_cq: where receives complete
 * @srq: shared receive queue, or NULL
 * @mutex: serialises modification, queries and destruction
 * @state_lock: guards changes of @state; nothing else is taken inside
 * @state: enum ib_qp_state; written by qp_state.c
 * @attr: every attribute as set; written under @mutex with the engines stopped
 * @av: where packets of a connected QP go; likewise
 * @pass: what the stack has let in a packet of the peer by, or 0 (ingress.c)
 * @stack_until: no pass is taken before, jiffies
 * @windows: type 2 memory windows bound to the QP
 * @notice: tells a kernel consumer of events; enum ib_event_type
 * @sq: send queue
 * @rq: receive queue; not in use with @srq
 * @drain_entry: in the list of those in error that are looked after (drain.c)
 * @bell: which of the doorbells wait (doorbell.c)
 * @send: engine that sends requests and hears responses
 * @req: what @send owns
 * @recv: engine that executes requests and answers them
 * @resp: what @recv owns
 * @flight: what was sent and has not left the host (flight.c)
 * @backlog: on whose account packets wait for @send and @recv; constant
 */
struct srdma_qp {
	refcount_t refs;
	struct rcu_head rcu;

	struct ib_qp *ib;
	struct srdma_dev *dev;
	struct ib_pd *pd;
	u32 qpn;
	enum srdma_qpt qpt;
	bool is_user;
	bool sig_all;
	struct ib_qp_cap cap;
	struct srdma_cq *send_cq;
	struct srdma_cq *recv_cq;
	struct srdma_srq *srq;

	struct mutex mutex;
	spinlock_t state_lock;
	enum ib_qp_state state;
	struct srdma_qp_attrs attr;
	struct srdma_av av;
	u64 pass;
	unsigned long stack_until;
	struct srdma_mw_set windows;

	struct srdma_notice notice;

	struct srdma_sq sq;
	struct srdma_rq rq;
	struct list_head drain_entry;
	struct srdma_doorbell bell;

	struct srdma_engine send;
	struct srdma_requester req;

	struct srdma_engine recv;
	struct srdma_responder resp;

	struct srdma_flight flight;
	struct srdma_backlog *backlog;
};

/**
 * struct srdma_qp_handle - what the core allocates and frees
 * @ib: the core's part
 * @qp: the queue pair, which look-ups under RCU may see for longer
 */
struct srdma_qp_handle {
	struct ib_qp ib;
	struct srdma_qp *qp;
};

static inline struct srdma_qp *to_sqp(struct ib_qp *ib)
{
	return container_of(ib, struct srdma_qp_handle, ib)->qp;
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

/* Where a kernel consumer's datagram goes: the handle may be gone by now. */
static inline struct srdma_av *srdma_qp_wqe_av(const struct srdma_qp *qp,
					       struct srdma_wqe *wqe)
{
	return (void *)wqe + qp->sq.av_at;
}

struct srdma_qp *srdma_qp_lookup(struct srdma_dev *dev, u32 qpn);
void srdma_qp_put(struct srdma_qp *qp);
void srdma_qp_event(struct srdma_qp *qp, enum ib_event_type type);

int srdma_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int srdma_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int srdma_qp_destroy(struct ib_qp *ib, struct ib_udata *udata);
int srdma_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int srdma_qp_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr);
int srdma_qp_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif
