// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "duo.h"
#include "nldev.h"
#include "rtnl.h"
#include "topo.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static int open_end(struct duo *duo, struct duo_end *end)
{
	int cqe = duo->cqe ?: 256, depth = duo->depth ?: 64;
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 2, .max_recv_sge = 1,
			 .max_inline_data = 64 },
		.srq = duo->srq,
		.qp_type = duo->type ?: IBV_QPT_RC,
		.sq_sig_all = !duo->no_sig_all,
	};
	struct ibv_context *ctx = end->set->ctx;

	end->channel = ibv_create_comp_channel(ctx);
	if (!end->channel)
		return errno;
	fcntl(end->channel->fd, F_SETFL, O_NONBLOCK);
	end->send_cq = ibv_create_cq(ctx, cqe, NULL, NULL, 0);
	end->recv_cq = ibv_create_cq(ctx, cqe, NULL, end->channel, 0);
	if (!end->send_cq || !end->recv_cq)
		return errno;
	end->buf = aligned_alloc(4096, DUO_BUF);
	if (!end->buf)
		return ENOMEM;
	memset(end->buf, 0, DUO_BUF);
	end->mr = ibv_reg_mr(end->set->pd, end->buf, DUO_BUF, ACCESS);
	init.send_cq = end->send_cq;
	init.recv_cq = end->recv_cq;
	end->qp = end->mr ? ibv_create_qp(end->set->pd, &init) : NULL;
	return end->qp ? 0 : errno;
}

int duo_open(struct duo *duo, struct verbs_set *a, struct verbs_set *b)
{
	int ret;

	fcntl(a->ctx->async_fd, F_SETFL, O_NONBLOCK);
	fcntl(b->ctx->async_fd, F_SETFL, O_NONBLOCK);
	duo->end[0].set = a;
	duo->end[1].set = b;
	ret = open_end(duo, &duo->end[0]);
	return ret ?: open_end(duo, &duo->end[1]);
}

static int close_end(struct duo_end *end)
{
	int ret = 0;

	if (end->qp)
		ret = ibv_destroy_qp(end->qp);
	if (end->mr && !ret)
		ret = ibv_dereg_mr(end->mr);
	if (end->send_cq && !ret)
		ret = ibv_destroy_cq(end->send_cq);
	if (end->recv_cq && !ret)
		ret = ibv_destroy_cq(end->recv_cq);
	if (end->channel && !ret)
		ret = ibv_destroy_comp_channel(end->channel);
	free(end->buf);
	memset(end, 0, sizeof(*end));
	return ret;
}

int duo_close(struct duo *duo)
{
	int ret = close_end(&duo->end[0]);

	return close_end(&duo->end[1]) ?: ret;
}

int duo_step(struct duo *duo, int which, enum ibv_qp_state to)
{
	struct duo_end *end = &duo->end[which], *peer = &duo->end[!which];
	struct ibv_qp_attr attr;

	verbs_attr(end->set, &attr, to, peer->qp->qp_num);
	attr.ah_attr.grh.dgid = peer->set->gid;
	attr.sq_psn = attr.rq_psn;
	attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	attr.min_rnr_timer = 1;
	attr.rnr_retry = duo->rnr_retry ?: 7;
	return ibv_modify_qp(end->qp, &attr,
			     verbs_mask(end->qp->qp_type, to - 1, to));
}

int duo_connect(struct duo *duo)
{
	static const enum ibv_qp_state ladder[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	int i, ret = 0;

	for (i = 0; i < 6 && !ret; i++)
		ret = duo_step(duo, i % 2, ladder[i / 2]);
	return ret;
}

int duo_up(struct duo *duo, struct verbs_set *a, struct verbs_set *b)
{
	return duo_open(duo, a, b) ?: duo_connect(duo);
}

int duo_state(struct duo_end *end, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to };

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

int duo_send(struct duo_end *end, uint64_t wr_id, uint32_t offset, uint32_t len,
	     int flags)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf + offset,
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	return ibv_post_send(end->qp, &wr, &bad);
}

int duo_recv(struct duo_end *end, uint64_t wr_id, uint32_t offset, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf + offset,
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
	};

	return ibv_post_recv(end->qp, &wr, &bad);
}

int duo_srq_recv(struct ibv_srq *srq, struct ibv_mr *mr, uint64_t wr_id,
		 void *at, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)at,
		.length = len,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ibv_post_srq_recv(srq, &wr, &bad);
}

int duo_write(struct duo_end *from, struct duo_end *to, uint64_t wr_id,
	      uint32_t len, uint32_t rkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->buf,
		.length = len,
		.lkey = from->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.remote_addr = (uintptr_t)to->buf,
		.wr.rdma.rkey = rkey,
	};

	return ibv_post_send(from->qp, &wr, &bad);
}

int duo_poll(struct ibv_cq *cq, struct ibv_wc *wc, int count)
{
	long end = topo_now_ms() + DUO_WAIT_MS;
	int got = 0;

	while (got < count && topo_now_ms() < end) {
		int ret = ibv_poll_cq(cq, count - got, wc + got);

		if (ret < 0)
			return ret;
		got += ret;
	}
	return got;
}

int duo_event(struct ibv_context *ctx, struct ibv_async_event *event,
	      int timeout_ms)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };

	if (poll(&fd, 1, timeout_ms) != 1 || ibv_get_async_event(ctx, event))
		return -ETIMEDOUT;
	return 0;
}

int duo_count_events(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct ibv_async_event event;
	int count = 0;

	while (!duo_event(ctx, &event, 0)) {
		count += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return count;
}

bool duo_notified(struct duo_end *end, int timeout_ms)
{
	struct pollfd fd = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, timeout_ms) != 1 ||
	    ibv_get_cq_event(end->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

#define NEAR_IPV4	"10.79.0.1"
#define FAR_IPV4	"10.79.0.2"

static int open_own_netns(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/**
 * struct place - an end of the wire
 * @netdev: its netdev
 * @link: the link on that
 * @ipv4: its address
 * @mac: likewise
 */
struct place {
	const char *netdev, *link, *ipv4, *mac;
};

static const struct place near_end = {
	DUO_NEAR_NETDEV, DUO_NEAR, NEAR_IPV4, "02:00:00:00:79:01",
};

static const struct place far_end = {
	DUO_FAR_NETDEV, DUO_FAR, FAR_IPV4, "02:00:00:00:79:02",
};

/*
 * In the namespace of that end. RDMA core would wait for a second, since the answer to
 * ARP comes over a veth before it waits for that.
 */
static int dress(const struct place *at, const struct place *peer)
{
	return topo_set_up("lo", true) ?:
	       rtnl_set_mac(at->netdev, at->mac) ?:
	       rtnl_add_address(at->netdev, at->ipv4, 24) ?:
	       topo_set_up(at->netdev, true) ?:
	       rtnl_add_neighbour(at->netdev, peer->ipv4, peer->mac) ?:
	       topo_link_add(at->link, at->netdev);
}

/* The namespace of the far end, once there is one. */
static int far_netns = -1;

int duo_veth_setup(void)
{
	int near, far, ret;

	duo_veth_teardown();
	ret = topo_enter_netns();
	if (ret)
		return ret;
	near = open_own_netns();
	if (near < 0 || unshare(CLONE_NEWNET))
		return -errno;
	far = open_own_netns();
	if (far < 0 || setns(near, CLONE_NEWNET))
		return -errno;
	far_netns = far;
	ret = rtnl_add_veth(DUO_NEAR_NETDEV, DUO_FAR_NETDEV, far);
	if (ret)
		return ret;
	if (setns(far, CLONE_NEWNET))
		return -errno;
	ret = dress(&far_end, &near_end);
	if (setns(near, CLONE_NEWNET))
		return -errno;
	return ret ?: dress(&near_end, &far_end);
}

int duo_veth_set_far_feature(const char *name, bool on)
{
	int near = open_own_netns(), ret;

	if (near < 0 || setns(far_netns, CLONE_NEWNET))
		return -errno;
	ret = topo_set_feature(DUO_FAR_NETDEV, name, on);
	if (setns(near, CLONE_NEWNET))
		ret = -errno;
	close(near);
	return ret;
}

void duo_veth_teardown(void)
{
	nldev_link_del(DUO_NEAR);
	nldev_link_del(DUO_FAR);
}

int duo_veth_open(struct verbs_set sets[2])
{
	return verbs_open_at(&sets[0], DUO_NEAR, NEAR_IPV4) ?:
	       verbs_open_at(&sets[1], DUO_FAR, FAR_IPV4);
}
