// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The QP of exchange, and the TCP connection beside it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "exchange.h"

#define PORT		18516

struct ibv_pd *pd;
struct ibv_cq *send_cq, *recv_cq;
struct ibv_qp *qp;
struct ibv_mr *mr;
struct ibv_mw *mw;
struct ibv_ah *ah;
struct about there;
uint8_t *area, *own;
static struct ibv_context *context;
static struct about here;
static int wire;

void say(const void *data, size_t size)
{
	need(write(wire, data, size) == (ssize_t)size, "the peer is gone");
}

void hear(void *data, size_t size)
{
	need(recv(wire, data, size, MSG_WAITALL) == (ssize_t)size,
	     "the peer gave up");
}

void say_go(void)
{
	say("", 1);
}

void hear_go(void)
{
	char go;

	hear(&go, 1);
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), opt.device))
			continue;
		context = ibv_open_device(list[i]);
	}
	need(context, "no device %s", opt.device);
	ibv_free_device_list(list);
}

void make_qp(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = opt.type,
		.cap = { .max_send_wr = 2 * POSTED, .max_recv_wr = 2 * POSTED,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
		     IBV_ACCESS_MW_BIND;

	open_device();
	area = aligned_alloc(4096, 2 * AREA);
	own = area + AREA;
	pd = ibv_alloc_pd(context);
	need(pd && area, "no PD or no memory");
	mr = ibv_reg_mr(pd, area, 2 * AREA, access);
	send_cq = ibv_create_cq(context, 2 * POSTED, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, 2 * POSTED, NULL, NULL, 0);
	need(mr && send_cq && recv_cq, "no MR or CQ");
	init.send_cq = send_cq;
	init.recv_cq = recv_cq;
	init.pd = pd;
	if (opt.put) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	qp = ibv_create_qp_ex(context, &init);
	need(qp, "no QP");
	if (opt.type == IBV_QPT_RC) {
		mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		need(mw, "no memory window");
	}
}

static enum ibv_mtu mtu_value(void)
{
	return IBV_MTU_256 + __builtin_ctz(opt.mtu / 256);
}

static struct ibv_ah_attr path(void)
{
	return (struct ibv_ah_attr) {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = there.gid, .sgid_index = opt.gid,
			 .hop_limit = 64 },
	};
}

static void modify(struct ibv_qp_attr *attr, int mask)
{
	int error = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	need(!error, "no QP in state %d: %s", attr->qp_state, strerror(error));
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {
		.path_mtu = mtu_value(), .dest_qp_num = there.qpn,
		.rq_psn = there.psn, .sq_psn = here.psn, .ah_attr = path(),
		.max_rd_atomic = opt.depth, .max_dest_rd_atomic = opt.depth,
		.min_rnr_timer = 6, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .port_num = 1, .qkey = 0x11111111,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	bool rc = opt.type == IBV_QPT_RC, ud = opt.type == IBV_QPT_UD;

	attr.qp_state = IBV_QPS_INIT;
	modify(&attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	modify(&attr, (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN) |
	       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	attr.qp_state = IBV_QPS_RTS;
	modify(&attr, IBV_QP_SQ_PSN |
	       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC : 0));
	if (ud) {
		ah = ibv_create_ah(pd, &attr.ah_attr);
		need(ah, "no address handle");
	}
}

void dial(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to;
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(PORT) };
	char port[8];
	int yes = 1;

	snprintf(port, sizeof(port), "%d", PORT);
	if (opt.peer) {
		need(!getaddrinfo(opt.peer, port, &hints, &to), "no such peer");
		wire = socket(to->ai_family, SOCK_STREAM, 0);
		need(!connect(wire, to->ai_addr, to->ai_addrlen),
		     "cannot connect: %s", strerror(errno));
		freeaddrinfo(to);
		return;
	}
	wire = socket(AF_INET6, SOCK_STREAM, 0);
	setsockopt(wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	need(!bind(wire, (struct sockaddr *)&any, sizeof(any)) &&
	     !listen(wire, 1), "cannot listen: %s", strerror(errno));
	wire = accept(wire, NULL, NULL);
	need(wire >= 0, "nobody called");
}

void introduce(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	here.qpn = qp->qp_num;
	here.psn = (now.tv_nsec ^ getpid() << 12) & 0xffffff;
	here.addr = (uintptr_t)area;
	here.rkey = mr->rkey;
	need(!ibv_query_gid(context, 1, opt.gid, &here.gid), "no such GID");
	say(&here, sizeof(here));
	hear(&there, sizeof(there));
	connect_qp();
	say_go();
	hear_go();
}
