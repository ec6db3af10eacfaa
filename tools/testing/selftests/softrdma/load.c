// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "topo.h"
#include "uverbs.h"
#include "verbs.h"

#define FATAL_MS 30000

/**
 * struct hold - one of everything
 * @set: context, PD, CQ
 * @channel: completion channel of @event_cq
 * @event_cq: armed, so that somebody could be waiting for it
 * @rc: RC QP connected to itself, with receives posted
 * @ud: UD QP in RTS
 * @srq: with receives posted
 * @mr: 64 KB
 * @mw: type 2
 * @ah: to ourselves
 * @raw: a second context, through the bare character device
 * @ring: a CQ's ring, mapped in that context
 * @place: where and how large @ring is
 */
struct hold {
	struct verbs_set set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *event_cq;
	struct ibv_qp *rc;
	struct ibv_qp *ud;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	int raw;
	volatile char *ring;
	struct uverbs_ring place;
};

static int hold_qps(struct hold *h)
{
	struct ibv_recv_wr wr = {}, *bad;

	h->rc = verbs_qp(&h->set, IBV_QPT_RC);
	h->ud = verbs_qp(&h->set, IBV_QPT_UD);
	if (!h->rc || !h->ud ||
	    verbs_qp_to(&h->set, h->rc, IBV_QPS_RTS, h->rc->qp_num) ||
	    verbs_qp_to(&h->set, h->ud, IBV_QPS_RTS, 0) ||
	    ibv_post_recv(h->rc, &wr, &bad) || ibv_post_recv(h->ud, &wr, &bad))
		return 1;
	return 0;
}

static int hold_raw(struct hold *h, const char *device)
{
	h->raw = uverbs_open(device);
	if (h->raw < 0 || uverbs_get_context(h->raw) ||
	    uverbs_create_cq(h->raw, 100, &h->place) < 0)
		return 1;
	h->ring = mmap(NULL, h->place.size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       h->raw, h->place.offset);
	return h->ring == MAP_FAILED;
}

/* 0, or the number of the step that failed. */
static int hold_everything(struct hold *h, const char *device)
{
	struct ibv_srq_init_attr srq_init = { .attr = { 16, 1, 0 } };
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp_attr attr;
	static char buffer[65536];

	if (verbs_open_set(&h->set, device))
		return 1;
	h->channel = ibv_create_comp_channel(h->set.ctx);
	if (!h->channel)
		return 2;
	h->event_cq = ibv_create_cq(h->set.ctx, 16, NULL, h->channel, 0);
	if (!h->event_cq || ibv_req_notify_cq(h->event_cq, 0))
		return 3;
	if (hold_qps(h))
		return 4;
	h->srq = ibv_create_srq(h->set.pd, &srq_init);
	if (!h->srq || ibv_post_srq_recv(h->srq, &wr, &bad))
		return 5;
	h->mr = ibv_reg_mr(h->set.pd, buffer, sizeof(buffer),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	h->mw = ibv_alloc_mw(h->set.pd, IBV_MW_TYPE_2);
	if (!h->mr || !h->mw)
		return 6;
	verbs_attr(&h->set, &attr, IBV_QPS_RTR, 0);
	h->ah = ibv_create_ah(h->set.pd, &attr.ah_attr);
	if (!h->ah)
		return 7;
	return hold_raw(h, device) ? 8 : 0;
}

/* Every call answers, and none as if the device were there. */
static int see_errors(struct hold *h)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct uverbs_ring ring;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	if (ibv_alloc_pd(h->set.ctx))
		return 21;
	if (ibv_create_cq(h->set.ctx, 8, NULL, NULL, 0))
		return 22;
	if (verbs_qp(&h->set, IBV_QPT_RC))
		return 23;
	if (!verbs_qp_to(&h->set, h->rc, IBV_QPS_RESET, 0))
		return 24;
	if (!ibv_query_device(h->set.ctx, &attr) &&
	    !ibv_query_port(h->set.ctx, VERBS_PORT, &port))
		return 25;
	if (!ibv_post_send(h->rc, &wr, &bad))
		return 26;
	if (uverbs_create_cq(h->raw, 8, &ring) >= 0)
		return 27;
	/* The ring is memory still, whatever is in it. */
	h->ring[h->place.size - 1] = 1;
	return 0;
}

/* What is returned is the library's affair; that it returns is ours. */
static void destroy_everything(struct hold *h)
{
	munmap((void *)h->ring, h->place.size);
	close(h->raw);
	ibv_destroy_ah(h->ah);
	ibv_dealloc_mw(h->mw);
	ibv_dereg_mr(h->mr);
	ibv_destroy_qp(h->rc);
	ibv_destroy_qp(h->ud);
	ibv_destroy_srq(h->srq);
	ibv_destroy_cq(h->event_cq);
	ibv_destroy_comp_channel(h->channel);
	ibv_destroy_cq(h->set.cq);
	ibv_dealloc_pd(h->set.pd);
	ibv_close_device(h->set.ctx);
}

static int child(const char *device, enum load_act act, int ready, int go)
{
	struct hold h = {};
	int failed;
	char c;

	failed = hold_everything(&h, device);
	if (failed)
		return failed;
	if (write(ready, "", 1) != 1)
		return 10;
	if (act == LOAD_HOLD) {
		if (read(go, &c, 1) < 0)
			return 11;
		h.ring[h.place.size - 1] = 1;
		return 0;
	}
	failed = verbs_wait_event(h.set.ctx, IBV_EVENT_DEVICE_FATAL, FATAL_MS);
	if (failed) {
		fprintf(stderr, "# no IBV_EVENT_DEVICE_FATAL: %s\n",
			strerror(-failed));
		return 12;
	}
	failed = see_errors(&h);
	if (failed)
		return failed;
	if (act == LOAD_AWAIT_FATAL)
		destroy_everything(&h);
	return 0;
}

int load_start(struct load *load, const char *device, enum load_act act)
{
	int ready[2], go[2];
	char c;

	if (pipe(ready) || pipe(go))
		return -errno;
	fflush(NULL);
	load->pid = fork();
	if (load->pid < 0)
		return -errno;
	if (!load->pid) {
		close(ready[0]);
		close(go[1]);
		_exit(child(device, act, ready[1], go[0]));
	}
	close(ready[1]);
	close(go[0]);
	load->ready = ready[0];
	load->go = go[1];
	return read(load->ready, &c, 1) == 1 ? 0 : -ECHILD;
}

int load_finish(struct load *load, int timeout_ms)
{
	long end = topo_now_ms() + timeout_ms;
	int status;
	pid_t got;

	/* Closed is as good as written: the child's read returns. */
	close(load->go);
	close(load->ready);
	for (;;) {
		got = waitpid(load->pid, &status, WNOHANG);
		if (got == load->pid)
			break;
		if (got < 0)
			return -errno;
		if (topo_now_ms() > end) {
			kill(load->pid, SIGKILL);
			waitpid(load->pid, &status, 0);
			return -ETIMEDOUT;
		}
		usleep(2000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
