// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What scripts/bench-crowd runs: one that many send to, for some time, and what each
 * of them got through.
 *
 *	crowd recv KIND SIZE N WARM MS ADDRESS DEVICE GID_INDEX [FIFO]
 *	crowd send KIND SIZE ADDRESS DEVICE GID_INDEX
 *
 * KIND is write, send, read (the receiver reads), uc (WRITEs of unreliable connections),
 * or tcp, which needs no device.
 * Messages of SIZE bytes flow to the receiver from N senders: for WARM ms, then for
 * MS ms, which are measured. The receiver prints
 *
 *	MB/s (2^20), Jain's index, the longest time in ms without progress of one of
 *	them, packets that the senders sent, packets needed for what arrived
 *
 * With FIFO, a receiver of tcp and one of another kind wait for each other before
 * their senders begin. They talk to each other past the network, on which it is
 * crowded.
 *
 * All of them sleep until something is complete: as many programs that poll, as
 * perftest's do, would measure the scheduler. What has arrived of a message is seen
 * in memory: each KB of it bears the number of the message. Of uc any KB may be missing.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"
#include "sockets.h"

#define CONTROL		"/run/crowd."	/* and the kind */
#define PORT		18517
#define MEBI		(1 << 20)
#define PACKET		1024		/* the path MTU */
#define ON_THE_WAY	(2 * MEBI)	/* posted by each, at least */
#define PEERS_MAX	64
#define TICK_MS		5
#define READS		16

/* What the receiver tells a sender. */
#define MARK		'm'

/**
 * struct hello - what one end tells the other to connect
 * @qpn: its QP
 * @rkey: of its memory
 * @addr: of its memory
 * @gid: its GID
 */
struct hello {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t addr;
	union ibv_gid gid;
};

/**
 * struct peer - one connection
 * @control: socket
 * @data: socket of tcp
 * @qp: queue pair of the others
 * @mr: its memory, room for @depth messages
 * @buf: that
 * @other: what the other end said
 * @posted: messages, so far
 * @seen: receiver of uc: the numbers that its memory bore
 * @blocks: receiver: packets, or bytes of tcp, that have arrived, so far
 * @began: of these, when measuring began
 * @moved_at: when there were more the last time, ms
 * @longest: longest time without more, ms
 */
struct peer {
	int control;
	int data;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *buf;
	struct hello other;
	uint64_t posted;
	uint64_t *seen;
	uint64_t blocks;
	uint64_t began;
	double moved_at;
	double longest;
};

static enum { WRITE, SEND, READ, UC, TCP } kind;
static const char *const kinds[] = { "write", "send", "read", "uc", "tcp" };
static bool receives;
static size_t size;
static int depth;

static struct peer peers[PEERS_MAX];
static int count;

static const char *device;
static int gid_index;
static union ibv_gid gid;
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* ---- sockets ---- */

static void put(int fd, const void *p, size_t len)
{
	if (write(fd, p, len) != (ssize_t)len)
		die("write");
}

static void get(int fd, void *p, size_t len)
{
	if (recv(fd, p, len, MSG_WAITALL) != (ssize_t)len)
		die("read");
}

static int connect_data(const char *to)
{
	struct sockaddr_in a = address(to, PORT);
	int fd = new_socket();

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	return fd;
}

static int listen_for_data(const char *where)
{
	struct sockaddr_in a = address(where, PORT);
	int fd = new_socket();

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, PEERS_MAX))
		die("listen");
	return fd;
}

static struct sockaddr_un control_address(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), CONTROL "%s", kinds[kind]);
	return a;
}

static int connect_control(void)
{
	struct sockaddr_un a = control_address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	return fd;
}

static int listen_for_control(void)
{
	struct sockaddr_un a = control_address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	unlink(a.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, PEERS_MAX))
		die("listen");
	return fd;
}

static int accept_one(int listening)
{
	int fd = accept(listening, NULL, NULL);

	if (fd < 0)
		die("accept");
	return fd;
}

/* ---- verbs ---- */

static void open_device(void)
{
	ctx = open_by_name(device);
	if (!ctx || ibv_query_gid(ctx, 1, gid_index, &gid))
		die("device");
	pd = ibv_alloc_pd(ctx);
	channel = ibv_create_comp_channel(ctx);
	cq = ibv_create_cq(ctx, PEERS_MAX * 64, NULL, channel, 0);
	if (!pd || !channel || !cq || ibv_req_notify_cq(cq, 0))
		die("PD or CQ");
}

static void make_qp(struct peer *p)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = 2 * depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = kind == UC ? IBV_QPT_UC : IBV_QPT_RC,
		.qp_context = p,
		.sq_sig_all = 1,
	};

	p->buf = aligned_alloc(4096, depth * size);
	p->seen = calloc(depth * size / PACKET, sizeof(*p->seen));
	if (!p->buf || !p->seen)
		die("memory");
	/* What is read has the number of any message. */
	memset(p->buf, kind == READ && !receives ? 0xff : 0, depth * size);
	p->mr = ibv_reg_mr(pd, p->buf, depth * size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ);
	p->qp = ibv_create_qp(pd, &init);
	if (!p->mr || !p->qp)
		die("region or QP");
}

static void connect_qp(struct peer *p)
{
	struct hello mine = { p->qp->qp_num, p->mr->rkey, (uintptr_t)p->buf,
			      gid };
	struct qp_way way = { .gid_index = gid_index, .reads = READS };

	put(p->control, &mine, sizeof(mine));
	get(p->control, &p->other, sizeof(p->other));
	way.qpn = p->other.qpn;
	way.gid = p->other.gid;
	if (connect_qp_to(p->qp, &way))
		die("connect QP");
}

static char *slot_of(struct peer *p, uint64_t message)
{
	return p->buf + message % depth * size;
}

/* What has been written here says that it belongs to a message. */
static void number(char *message, uint64_t n)
{
	size_t at;

	for (at = 0; at < size; at += PACKET)
		memcpy(message + at, &n, sizeof(n));
}

static void post_receive(struct peer *p)
{
	char *slot = slot_of(p, p->posted++);
	struct ibv_sge sge = { (uintptr_t)slot, size, p->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = (uintptr_t)p,
					.sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(p->qp, &wr, &bad))
		die("post receive");
}

/* The next message. One that is read is seen to arrive where there was nothing. */
static void post(struct peer *p)
{
	char *slot = slot_of(p, p->posted);
	struct ibv_sge sge = { (uintptr_t)slot, size, p->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uintptr_t)p,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = kind == READ ? IBV_WR_RDMA_READ :
			  kind == SEND ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		.wr.rdma = { p->other.addr + (slot - p->buf), p->other.rkey },
	};

	p->posted++;
	number(slot, kind == READ ? 0 : p->posted);
	if (ibv_post_send(p->qp, &wr, &bad))
		die("post");
}

/* Calls @done with the peer of each completion, after waiting for @ms at most. */
static void take_completions(void (*done)(struct peer *), int ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_wc wc;
	void *context;
	struct ibv_cq *from;

	if (poll(&pfd, 1, ms) <= 0)
		return;
	if (ibv_get_cq_event(channel, &from, &context))
		die("event");
	ibv_ack_cq_events(from, 1);
	if (ibv_req_notify_cq(cq, 0))
		die("arm");
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (wc.status) {
			fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
			exit(1);
		}
		done((struct peer *)(uintptr_t)wc.wr_id);
	}
}

/* ---- the sender ---- */

static uint64_t packets_sent(void)
{
	unsigned long long n = 0;
	char path[128];
	FILE *f;

	if (kind == TCP)
		return 0;
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/tx_packets",
		 device);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &n) != 1)
		die(path);
	fclose(f);
	return n;
}

/* Has the receiver said something? What it says is noted in @sent. */
static bool take_mark(struct peer *p, uint64_t *sent, int *marks, int flags)
{
	char what;
	ssize_t n = recv(p->control, &what, 1, flags);

	/* It has failed, and said why. */
	if (!n)
		exit(1);
	if (n != 1)
		return false;
	sent[(*marks)++] = packets_sent();
	return true;
}

static void stream(struct peer *p, uint64_t *sent)
{
	struct pollfd pfd[2] = { { .fd = p->control, .events = POLLIN },
				 { .fd = p->data, .events = POLLOUT } };
	static char bytes[1 << 16];
	int marks = 0;

	while (marks < 2) {
		if (poll(pfd, 2, -1) < 0)
			die("poll");
		if (pfd[0].revents)
			take_mark(p, sent, &marks, 0);
		if (pfd[1].revents &&
		    send(p->data, bytes, sizeof(bytes), MSG_DONTWAIT) < 0)
			continue;
	}
}

static void send_messages(struct peer *p, uint64_t *sent)
{
	int i, marks = 0;

	for (i = 0; i < depth; i++)
		post(p);
	while (marks < 2) {
		take_completions(post, TICK_MS);
		take_mark(p, sent, &marks, MSG_DONTWAIT);
	}
}

static void be_sender(const char *to)
{
	const struct linger at_once = { .l_onoff = 1 };
	struct peer *p = &peers[0];
	uint64_t sent[2];
	int marks = 0;
	char go;

	p->control = connect_control();
	if (kind == TCP) {
		p->data = connect_data(to);
	} else {
		open_device();
		make_qp(p);
		connect_qp(p);
	}
	/* Everybody is connected. */
	get(p->control, &go, 1);
	if (kind == TCP)
		stream(p, sent);
	else if (kind == READ)
		while (marks < 2)
			take_mark(p, sent, &marks, 0);
	else
		send_messages(p, sent);
	put(p->control, sent, sizeof(sent));
	/* Until all have been heard. */
	if (recv(p->control, &go, 1, 0) < 0)
		die("end");
	/* What waits to be sent is not to be in the way of those who come next. */
	if (kind == TCP && setsockopt(p->data, SOL_SOCKET, SO_LINGER, &at_once,
				      sizeof(at_once)))
		die("linger");
}

/* ---- the receiver ---- */

static void moved(struct peer *p, double now)
{
	if (now - p->moved_at > p->longest)
		p->longest = now - p->moved_at;
	p->moved_at = now;
}

/* Looks what of memory has been written since. */
static void look_everywhere(struct peer *p, double now)
{
	uint64_t from = p->blocks, n;
	size_t i;

	for (i = 0; i < depth * size / PACKET; i++) {
		memcpy(&n, p->buf + i * PACKET, sizeof(n));
		if (n == p->seen[i])
			continue;
		p->seen[i] = n;
		p->blocks++;
	}
	if (p->blocks != from)
		moved(p, now);
}

/* Looks how far memory has been written. */
static void look_on(struct peer *p, double now)
{
	uint64_t each = size / PACKET, from = p->blocks, n;

	for (;; p->blocks++) {
		char *block = slot_of(p, p->blocks / each) +
			      p->blocks % each * PACKET;

		memcpy(&n, block, sizeof(n));
		if (n < p->blocks / each + 1)
			break;
	}
	if (p->blocks != from)
		moved(p, now);
}

static void look(struct peer *p, double now)
{
	if (kind == UC)
		look_everywhere(p, now);
	else
		look_on(p, now);
}

static void read_next(struct peer *p)
{
	look(p, now_ms());
	post(p);
}

static void take_stream(double now)
{
	struct pollfd pfd[PEERS_MAX];
	static char bytes[1 << 16];
	ssize_t n;
	int i;

	for (i = 0; i < count; i++)
		pfd[i] = (struct pollfd){ .fd = peers[i].data,
					  .events = POLLIN };
	if (poll(pfd, count, TICK_MS) <= 0)
		return;
	for (i = 0; i < count; i++) {
		if (!pfd[i].revents)
			continue;
		n = recv(peers[i].data, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n <= 0)
			continue;
		peers[i].blocks += n;
		moved(&peers[i], now);
	}
}

static void receive_until(double end)
{
	double now = now_ms(), looked = now;
	int i;

	for (; now < end; now = now_ms()) {
		if (kind == TCP) {
			take_stream(now);
			continue;
		}
		take_completions(kind == SEND ? post_receive : read_next,
				 TICK_MS);
		if (now - looked < TICK_MS)
			continue;
		looked = now;
		for (i = 0; i < count; i++)
			look(&peers[i], now);
	}
}

/* What guest-crowd lets run before and after; see there. */
static void tell_spinner(int sig)
{
	const char *pid = getenv("CROWD_SPINNER");

	if (pid && atoi(pid) > 0 && kill(atoi(pid), sig))
		die("spinner");
}

static void tell_all(void)
{
	int i;

	for (i = 0; i < count; i++)
		put(peers[i].control, &(char){ MARK }, 1);
}

static void accept_all(const char *where, int n)
{
	int data = kind == TCP ? listen_for_data(where) : -1;
	int listening = listen_for_control();
	struct peer *p;
	int i;

	for (count = 0; count < n; count++) {
		p = &peers[count];
		p->control = accept_one(listening);
		if (kind == TCP) {
			p->data = accept_one(data);
			continue;
		}
		make_qp(p);
		connect_qp(p);
		for (i = 0; kind == SEND && i < depth; i++)
			post_receive(p);
	}
}

/* An end of a FIFO opens when the other end is opened. */
static void wait_for_other(const char *fifo)
{
	if (open(fifo, kind == TCP ? O_RDONLY : O_WRONLY) < 0)
		die(fifo);
}

static void report(double ms)
{
	double each, sum = 0, squares = 0, longest = 0;
	double unit = kind == TCP ? 1 : PACKET;
	uint64_t sent[2], all = 0;
	int i;

	for (i = 0; i < count; i++) {
		struct peer *p = &peers[i];

		each = p->blocks - p->began;
		sum += each;
		squares += each * each;
		if (p->longest > longest)
			longest = p->longest;
		get(p->control, sent, sizeof(sent));
		all += sent[1] - sent[0];
	}
	printf("%.3f %.3f %.0f %llu %.0f\n", sum * unit / MEBI / ms * 1e3,
	       squares ? sum * sum / squares / count : 0, longest,
	       (unsigned long long)all, sum);
}

static void be_receiver(const char *where, int n, double warm, double ms,
			const char *fifo)
{
	double start;
	int i, j;

	if (kind != TCP)
		open_device();
	accept_all(where, n);
	if (fifo)
		wait_for_other(fifo);
	tell_spinner(SIGSTOP);
	tell_all();
	for (i = 0; kind == READ && i < count; i++)
		for (j = 0; j < depth; j++)
			post(&peers[i]);
	receive_until(now_ms() + warm);
	tell_all();
	start = now_ms();
	for (i = 0; i < count; i++) {
		peers[i].began = peers[i].blocks;
		peers[i].moved_at = start;
		peers[i].longest = 0;
	}
	receive_until(start + ms);
	tell_spinner(SIGCONT);
	tell_all();
	for (i = 0; i < count; i++)
		moved(&peers[i], now_ms());
	report(now_ms() - start);
}

int main(int argc, char **argv)
{
	char **device_args;
	int i;

	receives = argc >= 10 && argc <= 11 && !strcmp(argv[1], "recv");
	if (!receives && (argc != 7 || strcmp(argv[1], "send"))) {
		fprintf(stderr,
			"usage: crowd recv KIND SIZE N WARM MS ADDRESS DEVICE GID_INDEX [FIFO]\n"
			"       crowd send KIND SIZE ADDRESS DEVICE GID_INDEX\n");
		return 2;
	}
	for (i = 0; i < TCP && strcmp(argv[2], kinds[i]); i++)
		;
	kind = i;
	size = atol(argv[3]);
	depth = size < ON_THE_WAY / 4 ? ON_THE_WAY / size : 4;
	device_args = argv + (receives ? 8 : 5);
	device = device_args[0];
	gid_index = atoi(device_args[1]);
	if (receives)
		be_receiver(argv[7], atoi(argv[4]), atof(argv[5]),
			    atof(argv[6]), argv[10]);
	else
		be_sender(argv[4]);
	return 0;
}
