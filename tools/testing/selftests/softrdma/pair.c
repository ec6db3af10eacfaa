// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "ends.h"
#include "pair.h"
#include "topo.h"

#define CQ_DEPTH	1024
#define RECV_DEPTH	256

/* ---- links ---- */

/* Room for a path MTU of 4096. */
static int raise_mtu(void)
{
	int ret;

	ret = topo_set_mtu(TOPO_NETDEV, 9000) ?:
	      topo_set_mtu(ENDS_NETDEV_A, 9000) ?: ends_enter(ENDS_B);
	if (ret)
		return ret;
	ret = topo_set_mtu(ENDS_NETDEV_B, 9000);
	return ends_enter(ENDS_A) ?: ret;
}

int pair_topology_setup(void)
{
	return topo_setup() ?: ends_setup() ?: ends_introduce() ?: raise_mtu();
}

void pair_topology_teardown(void)
{
	ends_teardown();
	topo_teardown();
}

/* ---- ends ---- */

/**
 * struct side - where an end of a wire is
 * @device: its device
 * @address: its address
 */
struct side {
	const char *device;
	const char *address;
};

static const struct side sides[][2] = {
	[PAIR_LOOPBACK] = { { TOPO_LINK, TOPO_IPV4 },
			    { TOPO_LINK, TOPO_IPV4 } },
	[PAIR_VETH] = { { ENDS_LINK_A, ENDS_A4 }, { ENDS_LINK_B, ENDS_B4 } },
	[PAIR_VETH6] = { { ENDS_LINK_A, ENDS_A6 }, { ENDS_LINK_B, ENDS_B6 } },
};

static int open_end(struct pair_end *end, const struct side *side)
{
	struct verbs_set *set = &end->set;

	set->ctx = verbs_open(side->device);
	if (!set->ctx)
		return -ENODEV;
	if (verbs_wait_gid(set->ctx, side->address, true, 5000))
		return -EADDRNOTAVAIL;
	set->gid_index = verbs_gid_index(set->ctx, side->address, &set->gid);
	set->pd = ibv_alloc_pd(set->ctx);
	set->cq = ibv_create_cq(set->ctx, CQ_DEPTH, NULL, NULL, 0);
	end->channel = ibv_create_comp_channel(set->ctx);
	if (!set->pd || !set->cq || !end->channel)
		return -ENOMEM;
	end->recv_cq = ibv_create_cq(set->ctx, CQ_DEPTH, NULL, end->channel, 0);
	return end->recv_cq ? 0 : -ENOMEM;
}

int pair_open(struct pair *pair, enum pair_wire wire)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	pair->wire = wire;
	ret = open_end(&pair->a, &sides[wire][0]) ?:
	      open_end(&pair->b, &sides[wire][1]);
	pair->a.peer = pair->b.set.gid;
	pair->b.peer = pair->a.set.gid;
	return ret;
}

static int close_end(struct pair_end *end)
{
	int ret = 0;

	if (end->recv_cq)
		ret = ibv_destroy_cq(end->recv_cq);
	if (end->channel && !ret)
		ret = ibv_destroy_comp_channel(end->channel);
	return ret ?: verbs_close_set(&end->set);
}

int pair_close(struct pair *pair)
{
	int ret = close_end(&pair->a);

	return close_end(&pair->b) ?: ret;
}

/* ---- QPs ---- */

static int create_qp(struct pair_end *end, const struct pair_options *options)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end->set.cq,
		.recv_cq = end->recv_cq,
		.cap = {
			.max_send_wr = options->send_wr ?: 64,
			.max_recv_wr = RECV_DEPTH,
			.max_send_sge = options->sge ?: 4,
			.max_recv_sge = options->sge ?: 4,
			.max_inline_data = options->inline_data ?: 64,
		},
		.qp_type = options->type,
		.sq_sig_all = options->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = end->set.pd,
	};

	if (options->send_ops) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = options->send_ops;
	}
	end->qp = ibv_create_qp_ex(end->set.ctx, &init);
	return end->qp ? 0 : errno;
}

static int create_end(struct pair_end *end, const struct pair_options *options)
{
	end->size = options->buffer ?: PAIR_BUFFER;
	end->buffer = mmap(NULL, end->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end->buffer == MAP_FAILED) {
		end->buffer = NULL;
		return ENOMEM;
	}
	end->mr = ibv_reg_mr(end->set.pd, end->buffer, end->size, PAIR_ACCESS);
	if (!end->mr)
		return errno;
	return create_qp(end, options);
}

int pair_modify(struct pair_end *end, enum ibv_qp_state from,
		enum ibv_qp_state to, uint32_t peer_qpn,
		const struct pair_options *options)
{
	struct ibv_qp_attr attr;

	verbs_attr(&end->set, &attr, to, peer_qpn);
	attr.ah_attr.grh.dgid = end->peer;
	attr.path_mtu = options->mtu ?: IBV_MTU_1024;
	attr.qp_access_flags = options->access ?: PAIR_ACCESS;
	attr.sq_psn = attr.rq_psn;
	attr.rnr_retry = options->rnr_retry ?: 6;
	attr.min_rnr_timer = 1;
	/* On a busy machine a peer may be silent for a long time. */
	attr.timeout = 18;
	return ibv_modify_qp(end->qp, &attr,
			     verbs_mask(options->type, from, to));
}

static int to_rts(struct pair_end *end, uint32_t peer_qpn,
		  const struct pair_options *options)
{
	return pair_modify(end, IBV_QPS_RESET, IBV_QPS_INIT, peer_qpn,
			   options) ?:
	       pair_modify(end, IBV_QPS_INIT, IBV_QPS_RTR, peer_qpn,
			   options) ?:
	       pair_modify(end, IBV_QPS_RTR, IBV_QPS_RTS, peer_qpn, options);
}

static int create_ah(struct pair_end *end)
{
	struct ibv_qp_attr attr;

	verbs_attr(&end->set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = end->peer;
	end->ah = ibv_create_ah(end->set.pd, &attr.ah_attr);
	return end->ah ? 0 : errno;
}

int pair_create(struct pair *pair, const struct pair_options *options)
{
	return create_end(&pair->a, options) ?: create_end(&pair->b, options);
}

int pair_to_rts(struct pair *pair, const struct pair_options *options)
{
	if (options->type == IBV_QPT_UD) {
		int ret = create_ah(&pair->a) ?: create_ah(&pair->b);

		if (ret)
			return ret;
	}
	return to_rts(&pair->a, pair->b.qp->qp_num, options) ?:
	       to_rts(&pair->b, pair->a.qp->qp_num, options);
}

int pair_connect(struct pair *pair, const struct pair_options *options)
{
	return pair_create(pair, options) ?: pair_to_rts(pair, options);
}

/* What nobody looked at belongs to a QP that is gone. */
static void drop_completions(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (cq && ibv_poll_cq(cq, 1, &wc) == 1)
		;
}

static int disconnect_end(struct pair_end *end)
{
	int ret = 0;

	if (end->qp)
		ret = ibv_destroy_qp(end->qp);
	if (end->ah)
		ret = ibv_destroy_ah(end->ah) ?: ret;
	if (end->mr)
		ret = ibv_dereg_mr(end->mr) ?: ret;
	if (end->buffer)
		munmap(end->buffer, end->size);
	drop_completions(end->set.cq);
	drop_completions(end->recv_cq);
	end->qp = NULL;
	end->ah = NULL;
	end->mr = NULL;
	end->buffer = NULL;
	return ret;
}

int pair_disconnect(struct pair *pair)
{
	int ret = disconnect_end(&pair->a);

	return disconnect_end(&pair->b) ?: ret;
}

/* ---- requests ---- */

void pair_wr_init(struct pair_wr *wr, struct pair_end *from,
		  struct pair_end *to, enum ibv_wr_opcode opcode,
		  size_t offset, uint32_t len)
{
	uint64_t remote = (uintptr_t)to->buffer + offset;

	memset(wr, 0, sizeof(*wr));
	wr->sge[0].addr = (uintptr_t)from->buffer + offset;
	wr->sge[0].length = len;
	wr->sge[0].lkey = from->mr->lkey;
	wr->wr.wr_id = offset;
	wr->wr.sg_list = wr->sge;
	wr->wr.num_sge = 1;
	wr->wr.opcode = opcode;
	wr->wr.send_flags = IBV_SEND_SIGNALED;
	if (from->qp->qp_type == IBV_QPT_UD) {
		wr->wr.wr.ud.ah = from->ah;
		wr->wr.wr.ud.remote_qpn = to->qp->qp_num;
		wr->wr.wr.ud.remote_qkey = VERBS_QKEY;
		return;
	}
	switch (opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.wr.atomic.remote_addr = remote;
		wr->wr.wr.atomic.rkey = to->mr->rkey;
		break;
	default:
		wr->wr.wr.rdma.remote_addr = remote;
		wr->wr.wr.rdma.rkey = to->mr->rkey;
	}
}

int pair_post(struct pair_end *end, struct pair_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(end->qp, &wr->wr, &bad);
}

int pair_post_recv(struct pair_end *end, size_t offset, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buffer + offset,
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = offset,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(end->qp, &wr, &bad);
}

int pair_wait(struct ibv_cq *cq, struct ibv_wc *wc)
{
	long end = topo_now_ms() + PAIR_PATIENCE_MS;

	while (ibv_poll_cq(cq, 1, wc) != 1) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		sched_yield();
	}
	return 0;
}

int pair_wait_sent(struct pair_end *end)
{
	struct ibv_wc wc;

	return pair_wait(end->set.cq, &wc) ?: wc.status;
}

bool pair_event(struct pair_end *end, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&poll_fd, 1, timeout_ms) != 1 ||
	    ibv_get_cq_event(end->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* ---- bytes ---- */

static uint8_t byte_at(size_t i, unsigned int seed)
{
	return (i * 2654435761u + seed * 40503u) >> 11;
}

void pair_fill(uint8_t *at, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = byte_at(i, seed);
}

bool pair_filled(const uint8_t *at, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (at[i] != byte_at(i, seed))
			return false;
	return true;
}
