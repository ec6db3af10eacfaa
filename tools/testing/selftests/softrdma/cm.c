// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "ends.h"
#include "topo.h"

#define STEP_MS 5000

void cm_address(struct sockaddr_storage *to, const char *address, int port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET6, address, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
	} else {
		inet_pton(AF_INET, address, &in->sin_addr);
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	}
}

void cm_fill(uint8_t *buf, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = seed + i * 7 + (i >> 8) * 13;
}

bool cm_holds(const uint8_t *buf, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (uint8_t)(seed + i * 7 + (i >> 8) * 13))
			return false;
	return true;
}

bool cm_is_all(const uint8_t *buf, size_t len, uint8_t byte)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte)
			return false;
	return true;
}

int cm_poll(struct ibv_cq *cq, struct ibv_wc *wc, int timeout_ms)
{
	long end = topo_now_ms() + timeout_ms;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)) && topo_now_ms() <= end)
		usleep(100);
	return n;
}

static struct ibv_qp_init_attr qp_attr(const struct cm_config *config)
{
	int sge = config->max_sge ?: 4;

	return (struct ibv_qp_init_attr) {
		.qp_type = config->datagram ? IBV_QPT_UD : IBV_QPT_RC,
		.sq_sig_all = config->sig_all,
		.cap = {
			.max_send_wr = config->max_send_wr ?: 16,
			.max_recv_wr = 16,
			.max_send_sge = sge,
			.max_recv_sge = sge,
			.max_inline_data = 64,
		},
	};
}

static enum rdma_port_space port_space(const struct cm_config *config)
{
	return config->datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
}

/* A peer that is slow to post a receive is waited for. */
static struct rdma_conn_param conn_param(uint32_t qpn)
{
	return (struct rdma_conn_param) {
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = qpn,
	};
}

/* ---- the server ---- */

/**
 * struct serving - what the server's thread is told and says
 * @config: what to do
 * @pair: filled with the server's part
 * @connect: accept a connection; else only listen
 * @ret: 0 or -errno
 */
struct serving {
	const struct cm_config *config;
	struct cm_pair *pair;
	bool connect;
	int ret;
};

static int start_listening(struct serving *s)
{
	struct sockaddr_storage addr;

	cm_address(&addr, s->config->server, 0);
	if (rdma_create_id(NULL, &s->pair->listen, NULL,
			   port_space(s->config)) ||
	    rdma_bind_addr(s->pair->listen, (struct sockaddr *)&addr) ||
	    rdma_listen(s->pair->listen, 4))
		return -errno;
	return 0;
}

static int create_srq(struct cm_end *end, const struct cm_config *config,
		      struct ibv_qp_init_attr *attr)
{
	struct ibv_srq_init_attr srq = {
		.attr = {
			.max_wr = config->srq_wr,
			.max_sge = config->max_sge ?: 4,
		},
	};

	if (!config->srq_wr)
		return 0;
	if (!config->attr_srq)
		return rdma_create_srq(end->id, NULL, &srq) ? -errno : 0;
	end->srq = ibv_create_srq(end->id->pd, &srq);
	attr->srq = end->srq;
	return end->srq ? 0 : -errno;
}

static int accept_client(struct serving *s)
{
	struct ibv_qp_init_attr attr = qp_attr(s->config);
	struct cm_end *end = &s->pair->server;
	struct rdma_conn_param param;
	int ret;

	if (rdma_get_request(s->pair->listen, &end->id))
		return -errno;
	ret = create_srq(end, s->config, &attr);
	if (ret)
		return ret;
	if (rdma_create_qp(end->id, NULL, &attr))
		return -errno;
	param = conn_param(end->id->qp->qp_num);
	return rdma_accept(end->id, &param) ? -errno : 0;
}

static void *serve(void *arg)
{
	struct serving *s = arg;

	s->ret = s->config->enter ? s->config->enter() :
		 ends_enter(s->config->across ? ENDS_B : ENDS_A);
	if (!s->ret)
		s->ret = s->connect ? accept_client(s) : start_listening(s);
	return NULL;
}

/* ---- the client ---- */

static int prepare_client(struct cm_pair *pair, const struct cm_config *config)
{
	struct ibv_qp_init_attr attr = qp_attr(config);
	struct sockaddr_storage addr;

	cm_address(&addr, config->server,
		   ntohs(rdma_get_src_port(pair->listen)));
	if (rdma_create_id(NULL, &pair->client.id, NULL,
			   port_space(config)) ||
	    rdma_resolve_addr(pair->client.id, NULL, (struct sockaddr *)&addr,
			      STEP_MS) ||
	    rdma_resolve_route(pair->client.id, STEP_MS) ||
	    rdma_create_qp(pair->client.id, NULL, &attr))
		return -errno;
	return 0;
}

static int connect_client(struct cm_pair *pair, const struct cm_config *config)
{
	struct rdma_conn_param param = conn_param(pair->client.id->qp->qp_num);
	struct rdma_ud_param *ud;

	if (rdma_connect(pair->client.id, &param))
		return -errno;
	if (!config->datagram)
		return 0;
	ud = &pair->client.id->event->param.ud;
	pair->qpn = ud->qp_num;
	pair->ah = ibv_create_ah(pair->client.id->pd, &ud->ah_attr);
	return pair->ah ? 0 : -errno;
}

/* ---- both ---- */

static int run_server(struct serving *s)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, s))
		return -EAGAIN;
	pthread_join(thread, NULL);
	return s->ret;
}

int cm_prepare(struct cm_pair *pair, const struct cm_config *config)
{
	struct serving s = { .config = config, .pair = pair };
	int ret;

	memset(pair, 0, sizeof(*pair));
	pair->client.buf = aligned_alloc(4096, CM_BUF_LEN);
	pair->server.buf = aligned_alloc(4096, CM_BUF_LEN);
	if (!pair->client.buf || !pair->server.buf)
		return -ENOMEM;
	memset(pair->client.buf, 0, CM_BUF_LEN);
	memset(pair->server.buf, 0, CM_BUF_LEN);
	ret = run_server(&s);
	return ret ?: prepare_client(pair, config);
}

int cm_connect(struct cm_pair *pair, const struct cm_config *config)
{
	struct serving s = { .config = config, .pair = pair, .connect = true };
	pthread_t thread;
	int ret;

	if (pthread_create(&thread, NULL, serve, &s))
		return -EAGAIN;
	ret = connect_client(pair, config);
	if (ret) {
		/* It may wait for a request that never comes. */
		fprintf(stderr, "# connecting: %s\n", strerror(-ret));
		pthread_cancel(thread);
	}
	pthread_join(thread, NULL);
	return ret ?: s.ret;
}

int cm_open(struct cm_pair *pair, const struct cm_config *config)
{
	return cm_prepare(pair, config) ?: cm_connect(pair, config);
}

static void *disconnect_end(void *id)
{
	return (void *)(intptr_t)rdma_disconnect(id);
}

int cm_disconnect(struct cm_pair *pair)
{
	pthread_t thread;
	void *ret;
	int err;

	if (pthread_create(&thread, NULL, disconnect_end, pair->server.id))
		return -1;
	err = rdma_disconnect(pair->client.id);
	pthread_join(thread, &ret);
	return err ?: (intptr_t)ret;
}

static int close_end(struct cm_end *end)
{
	int ret = 0;

	if (end->mr)
		ret = rdma_dereg_mr(end->mr);
	if (end->id)
		rdma_destroy_ep(end->id);
	if (end->srq)
		ret = ibv_destroy_srq(end->srq) ?: ret;
	free(end->buf);
	return ret;
}

int cm_close(struct cm_pair *pair)
{
	int ret = 0;

	if (pair->ah)
		ret = ibv_destroy_ah(pair->ah);
	ret = close_end(&pair->client) ?: ret;
	ret = close_end(&pair->server) ?: ret;
	if (pair->listen)
		rdma_destroy_id(pair->listen);
	memset(pair, 0, sizeof(*pair));
	return ret;
}
