// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo.h"
#include "verbs.h"

/* More than any test makes; the attribute that carries them is under 64 KB. */
#define GID_TABLE_BOUND 512

struct ibv_context *verbs_open(const char *name)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i;

	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name)) {
			ctx = ibv_open_device(list[i]);
			break;
		}
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static void gid_from(const char *address, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, address, gid->raw) == 1)
		return;
	/* An IPv4 address stands in its IPv4-mapped IPv6 form. */
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	inet_pton(AF_INET, address, gid->raw + 12);
}

int verbs_gid_index(struct ibv_context *ctx, const char *address,
		    union ibv_gid *gid)
{
	static struct ibv_gid_entry table[GID_TABLE_BOUND];
	union ibv_gid want;
	ssize_t count;
	int i;

	gid_from(address, &want);
	count = ibv_query_gid_table(ctx, table, GID_TABLE_BOUND, 0);
	for (i = 0; i < count; i++) {
		if (table[i].gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(&table[i].gid, &want, sizeof(want)))
			continue;
		if (gid)
			*gid = want;
		return table[i].gid_index;
	}
	return count < 0 ? count : -ENOENT;
}

int verbs_wait_gid(struct ibv_context *ctx, const char *address, bool there,
		   int timeout_ms)
{
	long end = topo_now_ms() + timeout_ms;

	while ((verbs_gid_index(ctx, address, NULL) >= 0) != there) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		usleep(2000);
	}
	return 0;
}

int verbs_wait_event(struct ibv_context *ctx, enum ibv_event_type type,
		     int timeout_ms)
{
	struct pollfd poll_fd = { .fd = ctx->async_fd, .events = POLLIN };
	long end = topo_now_ms() + timeout_ms;
	struct ibv_async_event event;
	long left;

	for (;;) {
		left = end - topo_now_ms();
		if (left <= 0 || poll(&poll_fd, 1, left) != 1)
			return -ETIMEDOUT;
		if (ibv_get_async_event(ctx, &event))
			return -errno;
		ibv_ack_async_event(&event);
		if (event.event_type == type)
			return 0;
	}
}

enum ibv_port_state verbs_port_state(struct ibv_context *ctx)
{
	struct ibv_port_attr attr;

	if (ibv_query_port(ctx, VERBS_PORT, &attr))
		return IBV_PORT_NOP;
	return attr.state;
}

int verbs_wait_port(struct ibv_context *ctx, enum ibv_port_state state,
		    int timeout_ms)
{
	long end = topo_now_ms() + timeout_ms;

	while (verbs_port_state(ctx) != state) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		usleep(2000);
	}
	return 0;
}

int verbs_open_at(struct verbs_set *set, const char *name, const char *address)
{
	memset(set, 0, sizeof(*set));
	set->ctx = verbs_open(name);
	if (!set->ctx)
		return -ENODEV;
	if (verbs_wait_gid(set->ctx, address, true, 5000))
		return -EADDRNOTAVAIL;
	set->gid_index = verbs_gid_index(set->ctx, address, &set->gid);
	set->pd = ibv_alloc_pd(set->ctx);
	return set->pd ? 0 : -ENOMEM;
}

int verbs_open_set(struct verbs_set *set, const char *name)
{
	int ret = verbs_open_at(set, name, TOPO_IPV4);

	if (ret)
		return ret;
	set->cq = ibv_create_cq(set->ctx, 64, NULL, NULL, 0);
	return set->cq ? 0 : -ENOMEM;
}

int verbs_close_set(struct verbs_set *set)
{
	int ret = 0;

	if (set->cq)
		ret = ibv_destroy_cq(set->cq);
	if (set->pd && !ret)
		ret = ibv_dealloc_pd(set->pd);
	if (set->ctx && !ret)
		ret = ibv_close_device(set->ctx);
	return ret;
}

struct ibv_qp *verbs_qp(struct verbs_set *set, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = {
			.max_send_wr = 16,
			.max_recv_wr = 16,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = type,
	};

	return ibv_create_qp(set->pd, &init);
}

/* The tables of ibv_modify_qp(3), less IBV_QP_STATE, which is always there. */
static int mask_to_init(enum ibv_qp_type type)
{
	int mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	return mask | (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static int mask_to_rtr(enum ibv_qp_type type)
{
	int connected = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;

	if (type == IBV_QPT_UD)
		return 0;
	if (type == IBV_QPT_UC)
		return connected;
	return connected | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static int mask_to_rts(enum ibv_qp_type type)
{
	if (type != IBV_QPT_RC)
		return IBV_QP_SQ_PSN;
	return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

int verbs_mask(enum ibv_qp_type type, enum ibv_qp_state from,
	       enum ibv_qp_state to)
{
	int mask = IBV_QP_STATE;

	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		mask |= mask_to_init(type);
	else if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		mask |= mask_to_rtr(type);
	else if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		mask |= mask_to_rts(type);
	return mask;
}

void verbs_attr(struct verbs_set *set, struct ibv_qp_attr *attr,
		enum ibv_qp_state to, uint32_t qpn)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = to;
	attr->path_mtu = IBV_MTU_1024;
	attr->qkey = VERBS_QKEY;
	attr->rq_psn = 0x123456;
	attr->sq_psn = 0x654321;
	attr->dest_qp_num = qpn;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ;
	attr->port_num = VERBS_PORT;
	attr->max_rd_atomic = 4;
	attr->max_dest_rd_atomic = 8;
	attr->min_rnr_timer = 12;
	attr->timeout = 14;
	attr->retry_cnt = 5;
	attr->rnr_retry = 6;
	attr->ah_attr.is_global = 1;
	attr->ah_attr.port_num = VERBS_PORT;
	attr->ah_attr.sl = 3;
	attr->ah_attr.grh.dgid = set->gid;
	attr->ah_attr.grh.sgid_index = set->gid_index;
	attr->ah_attr.grh.hop_limit = 64;
	attr->ah_attr.grh.traffic_class = 0x20;
	attr->ah_attr.grh.flow_label = 0x12345;
}

static int step(struct verbs_set *set, struct ibv_qp *qp,
		enum ibv_qp_state from, enum ibv_qp_state to, uint32_t qpn)
{
	struct ibv_qp_attr attr;

	verbs_attr(set, &attr, to, qpn);
	return ibv_modify_qp(qp, &attr, verbs_mask(qp->qp_type, from, to));
}

int verbs_qp_to(struct verbs_set *set, struct ibv_qp *qp,
		enum ibv_qp_state state, uint32_t qpn)
{
	static const enum ibv_qp_state ladder[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	unsigned int rung, top;
	int ret;

	ret = step(set, qp, IBV_QPS_RESET, IBV_QPS_RESET, qpn);
	if (ret)
		return ret;
	/* ERR is reached from INIT, SQD from RTS. */
	top = state == IBV_QPS_ERR ? 1 : state == IBV_QPS_SQD ? 3 : state;
	for (rung = 1; rung <= top; rung++) {
		ret = step(set, qp, ladder[rung - 1], ladder[rung], qpn);
		if (ret)
			return ret;
	}
	if (state == IBV_QPS_ERR || state == IBV_QPS_SQD)
		ret = step(set, qp, ladder[top], state, qpn);
	return ret;
}

int verbs_qp_connect_self(struct verbs_set *set, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	int ret;

	ret = verbs_qp_to(set, qp, IBV_QPS_RTR, qp->qp_num);
	if (ret)
		return ret;
	verbs_attr(set, &attr, IBV_QPS_RTS, qp->qp_num);
	attr.sq_psn = attr.rq_psn;
	return ibv_modify_qp(qp, &attr, verbs_mask(qp->qp_type, IBV_QPS_RTR,
						   IBV_QPS_RTS));
}

int verbs_qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return -1;
	return attr.qp_state;
}
