/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening a device by name, and connecting QPs. */
#ifndef SRT_CONNECT_H
#define SRT_CONNECT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* Where a QP is connected to. */
struct qp_way {
	uint32_t qpn;
	union ibv_gid gid;	/* of the peer */
	int gid_index;		/* of our own */
	uint8_t reads;		/* outstanding, each way */
};

/* What RC says to enter RTR and RTS, and UC does not. */
#define RC_RTR_MASK	(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RC_RTS_MASK	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
			 IBV_QP_MAX_QP_RD_ATOMIC)

/* The peer may write, and of RC read. Zero, or an errno. */
static inline int connect_qp_to(struct ibv_qp *qp, const struct qp_way *way)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = way->qpn,
		.max_dest_rd_atomic = way->reads,
		.max_rd_atomic = way->reads,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = way->gid, .sgid_index = way->gid_index,
				 .hop_limit = 64 },
		},
	};
	bool is_rc = qp->qp_type == IBV_QPT_RC;
	int bad;

	bad = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	bad = bad ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				   IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | (is_rc ? RC_RTR_MASK : 0));
	attr.qp_state = IBV_QPS_RTS;
	return bad ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				    (is_rc ? RC_RTS_MASK : 0));
}

#endif
