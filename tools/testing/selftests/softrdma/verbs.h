/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* libibverbs objects as tests want them, and the attributes a QP needs. */
#ifndef SRT_VERBS_H
#define SRT_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define VERBS_PORT	1
#define VERBS_QKEY	0x11111111u

/* Open a device by name; NULL if it is not there or does not open. */
struct ibv_context *verbs_open(const char *name);

/* The index of the RoCEv2 GID of this address ("10.77.0.1"), or -ENOENT. */
int verbs_gid_index(struct ibv_context *ctx, const char *address,
		    union ibv_gid *gid);
int verbs_wait_gid(struct ibv_context *ctx, const char *address, bool there,
		   int timeout_ms);

/*
 * Wait for an asynchronous event of this type, acknowledging it and every
 * other before it. 0, or -ETIMEDOUT.
 */
int verbs_wait_event(struct ibv_context *ctx, enum ibv_event_type type,
		     int timeout_ms);

enum ibv_port_state verbs_port_state(struct ibv_context *ctx);
int verbs_wait_port(struct ibv_context *ctx, enum ibv_port_state state,
		    int timeout_ms);

/**
 * struct verbs_set - a device opened, with one of what most tests need
 * @ctx: the open device
 * @pd: a protection domain
 * @cq: a completion queue of 64
 * @gid: the RoCEv2 IPv4 GID
 * @gid_index: where @gid stands in the port's table
 */
struct verbs_set {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
	int gid_index;
};

/* 0 or -errno; verbs_close() frees what there is, and is fine with a part. */
int verbs_open_set(struct verbs_set *set, const char *name);
/* The same with the GID of another address, and without a CQ. */
int verbs_open_at(struct verbs_set *set, const char *name, const char *address);
int verbs_close_set(struct verbs_set *set);

/* A QP with 16 WRs and one SGE each way, in RESET. */
struct ibv_qp *verbs_qp(struct verbs_set *set, enum ibv_qp_type type);

/* The attributes, and their mask, that a transition requires. */
int verbs_mask(enum ibv_qp_type type, enum ibv_qp_state from,
	       enum ibv_qp_state to);

/* Legal values for every attribute there is, connecting to @qpn at our GID. */
void verbs_attr(struct verbs_set *set, struct ibv_qp_attr *attr,
		enum ibv_qp_state to, uint32_t qpn);

/* Take a QP from RESET to a state; 0 or errno of the step that failed. */
int verbs_qp_to(struct verbs_set *set, struct ibv_qp *qp,
		enum ibv_qp_state state, uint32_t qpn);

/*
 * An RC or UC QP from RESET to RTS, connected to itself with one PSN for both
 * ways, so that it can send. 0 or errno.
 */
int verbs_qp_connect_self(struct verbs_set *set, struct ibv_qp *qp);

/* The state as the kernel sees it, or -1. */
int verbs_qp_state(struct ibv_qp *qp);

#endif
