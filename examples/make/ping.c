// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ping: two RC queue pairs of one device are connected, and one sends to the other.
 *
 * The device is $SOFTRDMA_DEVICE (else the first), and $SOFTRDMA_GID_INDEX the index of
 * its address (else 0). Exits with 0 if the message came, and was right.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE "hello over RDMA"
#define PORT 1

static int check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
	return ok;
}

static struct ibv_context *open_device(void)
{
	const char *name = getenv("SOFTRDMA_DEVICE");
	struct ibv_device **list;
	struct ibv_context *ctx = NULL;

	list = ibv_get_device_list(NULL);
	check(list != NULL, "list of devices");
	for (int i = 0; list[i] && !ctx; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			ctx = ibv_open_device(list[i]);
	check(ctx != NULL, name ? name : "no device");
	ibv_free_device_list(list);
	return ctx;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	check(qp != NULL, "create a queue pair");
	return qp;
}

/* Both are of this device, so the address of the peer is our own. */
static void connect_qp(struct ibv_qp *qp, struct ibv_qp *peer, int index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
	};

	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "to INIT");

	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = { .sgid_index = index, .hop_limit = 64 },
		},
	};
	check(!ibv_query_gid(qp->context, PORT, index, &attr.ah_attr.grh.dgid),
	      "GID");
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER), "to RTR");

	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	      "to RTS");
}

static void expect_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (n == 0);
	check(n == 1, "poll");
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n",
			ibv_wc_status_str(wc.status));
		exit(1);
	}
}

int main(void)
{
	static char out[64] = MESSAGE, in[64];
	const char *index = getenv("SOFTRDMA_GID_INDEX");
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_mr *from, *to;
	struct ibv_qp *a, *b;

	check(pd && cq, "protection domain, completion queue");
	from = ibv_reg_mr(pd, out, sizeof(out), 0);
	to = ibv_reg_mr(pd, in, sizeof(in), IBV_ACCESS_LOCAL_WRITE);
	check(from && to, "register memory (ulimit -l?)");
	a = create_qp(pd, cq);
	b = create_qp(pd, cq);
	connect_qp(a, b, index ? atoi(index) : 0);
	connect_qp(b, a, index ? atoi(index) : 0);

	struct ibv_sge space = { (uintptr_t)in, sizeof(in), to->lkey };
	struct ibv_recv_wr recv = { .sg_list = &space, .num_sge = 1 }, *badr;
	struct ibv_sge data = { (uintptr_t)out, sizeof(out), from->lkey };
	struct ibv_send_wr send = {
		.sg_list = &data,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bads;

	check(!ibv_post_recv(b, &recv, &badr), "post a receive");
	check(!ibv_post_send(a, &send, &bads), "post a send");
	expect_completion(cq);
	expect_completion(cq);
	if (memcmp(in, out, sizeof(in))) {
		fprintf(stderr, "another message came\n");
		return 1;
	}
	printf("%s: %s\n", ibv_get_device_name(ctx->device), in);

	ibv_destroy_qp(a);
	ibv_destroy_qp(b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return 0;
}
