// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * socket_check: two ends that talk through the kernel's own socket families over
 * RDMA, RDS and SMC, and look at every byte.
 *
 *	socket_check rds|smc serve|ask LOCAL PEER [ROUNDS]
 *
 * RDS: messages there and back; then one end reads and writes the memory of the
 * other one by keys. SMC: the same messages in a stream, then 16 MB each way. The
 * status is 0 if all was right.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif

#define PORT		4711
#define LONGEST		(1 << 20)
#define STREAM		(16 << 20)
#define REMOTE		(256 * 1024)

/* Below, at and above a packet, a page, a fragment of RDS, and what is one request. */
static const size_t sizes[] = { 1, 8, 100, 1000, 4095, 4096, 4097, 10000, 65536,
				100000, 200000 };
#define SIZES		(sizeof(sizes) / sizeof(sizes[0]))

static unsigned char *buf;
static struct sockaddr_in local, peer;

static void die(const char *what)
{
	fprintf(stderr, "socket_check: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Bytes that tell which message they are of, and where in it. */
static unsigned char byte_at(size_t at, unsigned int message)
{
	return message * 31 + at * 7 + (at >> 8) + (at >> 16) * 3;
}

static void fill(size_t len, unsigned int message, size_t from)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = byte_at(from + i, message);
}

static void check(size_t len, unsigned int message, size_t from)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (buf[i] == byte_at(from + i, message))
			continue;
		fprintf(stderr, "message %u of %zu: byte %zu differs\n",
			message, len, from + i);
		exit(1);
	}
}

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
	};

	if (inet_pton(AF_INET, text, &sin.sin_addr) != 1) {
		errno = EINVAL;
		die(text);
	}
	return sin;
}

/* ---- RDS: messages ---- */

/* Length of the message by which the ends find each other, and of no other one. */
#define HELLO		2

static int rds_open(void)
{
	int size = 4 << 20, s = socket(AF_RDS, SOCK_SEQPACKET, 0);

	if (s < 0)
		die("socket");
	setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(s, (struct sockaddr *)&local, sizeof(local)))
		die("bind");
	return s;
}

static void rds_send(int s, const void *data, size_t len)
{
	if (sendto(s, data, len, 0, (struct sockaddr *)&peer, sizeof(peer)) !=
	    (ssize_t)len)
		die("send");
}

static void rds_receive(int s, void *data, size_t len)
{
	ssize_t n;

	do {
		n = recv(s, data, len, MSG_TRUNC);
	} while (n == HELLO);
	if (n < 0)
		die("receive");
	if (n == (ssize_t)len)
		return;
	fprintf(stderr, "%zd bytes in place of %zu\n", n, len);
	exit(1);
}

static void rds_timeout(int s, int ms)
{
	struct timeval time = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

/* What is sent to a socket that is not there yet is lost. */
static void rds_greet(int s, bool asks)
{
	rds_timeout(s, asks ? 300 : 0);
	do {
		if (asks)
			rds_send(s, buf, HELLO);
	} while (recv(s, buf, LONGEST, 0) != HELLO);
	rds_timeout(s, 0);
	if (!asks)
		rds_send(s, buf, HELLO);
}

static void rds_messages(int s, bool asks, int rounds)
{
	unsigned int message = 0;
	size_t i;

	for (; rounds; rounds--) {
		for (i = 0; i < SIZES; i++, message += 2) {
			if (asks) {
				fill(sizes[i], message, 0);
				rds_send(s, buf, sizes[i]);
			}
			rds_receive(s, buf, sizes[i]);
			check(sizes[i], message + asks, 0);
			if (!asks) {
				fill(sizes[i], message + 1, 0);
				rds_send(s, buf, sizes[i]);
			}
		}
	}
}

/* ---- RDS: memory ---- */

static struct msghdr with_control(void *control, size_t size, struct iovec *iov,
				  int type, const void *data, size_t len)
{
	struct msghdr msg = {
		.msg_name = &peer,
		.msg_namelen = sizeof(peer),
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = size,
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cmsg), data, len);
	return msg;
}

/* The peer gets the key with the message. */
static void rds_offer_memory(int s)
{
	rds_rdma_cookie_t cookie = 0;
	struct rds_get_mr_args args = {
		.vec = { (uintptr_t)buf, REMOTE },
		.cookie_addr = (uintptr_t)&cookie,
		.flags = RDS_RDMA_READWRITE,
	};
	char control[CMSG_SPACE(sizeof(args))] = {};
	struct rds_free_mr_args end = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = with_control(control, sizeof(control), &iov,
					 RDS_CMSG_RDMA_MAP, &args, sizeof(args));

	fill(REMOTE, 1000, 0);
	if (sendmsg(s, &msg, 0) < 0)
		die("sendmsg with RDS_CMSG_RDMA_MAP");
	/* With the READ, and behind what the peer has written. */
	rds_receive(s, &byte, 1);
	rds_receive(s, &byte, 1);
	check(REMOTE, 1001, 0);
	end.cookie = cookie;
	if (setsockopt(s, SOL_RDS, RDS_FREE_MR, &end, sizeof(end)))
		die("RDS_FREE_MR");
	rds_send(s, &byte, 1);
}

/* The control message that comes next, of this type. */
static void rds_told(int s, int type, void *data, size_t len)
{
	char control[256], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;

	if (recvmsg(s, &msg, 0) < 0)
		die("recvmsg");
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg))
		if (cmsg->cmsg_level == SOL_RDS && cmsg->cmsg_type == type) {
			memcpy(data, CMSG_DATA(cmsg), len);
			return;
		}
	fprintf(stderr, "control message %d did not come\n", type);
	exit(1);
}

static void rds_access(int s, rds_rdma_cookie_t cookie, int flags)
{
	struct rds_iovec vec = { (uintptr_t)buf, REMOTE };
	struct rds_rdma_args args = {
		.cookie = cookie,
		.remote_vec = { 0, REMOTE },
		.local_vec_addr = (uintptr_t)&vec,
		.nr_local = 1,
		.flags = flags | RDS_RDMA_NOTIFY_ME,
	};
	char control[CMSG_SPACE(sizeof(args))] = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = with_control(control, sizeof(control), &iov,
					 RDS_CMSG_RDMA_ARGS, &args,
					 sizeof(args));

	if (sendmsg(s, &msg, 0) < 0)
		die("sendmsg with RDS_CMSG_RDMA_ARGS");
}

/* Waits until the access of this end is complete. */
static void rds_notified(int s)
{
	struct rds_rdma_notify notify;

	rds_told(s, RDS_CMSG_RDMA_STATUS, &notify, sizeof(notify));
	if (notify.status == RDS_RDMA_SUCCESS)
		return;
	fprintf(stderr, "access: status %d\n", notify.status);
	exit(1);
}

static void rds_use_memory(int s)
{
	rds_rdma_cookie_t cookie;
	char done;

	rds_told(s, RDS_CMSG_RDMA_DEST, &cookie, sizeof(cookie));
	memset(buf, 0, REMOTE);
	rds_access(s, cookie, 0);
	rds_notified(s);
	check(REMOTE, 1000, 0);
	fill(REMOTE, 1001, 0);
	rds_access(s, cookie, RDS_RDMA_READWRITE);
	rds_notified(s);
	rds_receive(s, &done, 1);
}

static void rds(bool asks, int rounds)
{
	int s = rds_open();

	rds_greet(s, asks);
	rds_messages(s, asks, rounds);
	if (asks)
		rds_use_memory(s);
	else
		rds_offer_memory(s);
	/* What was sent last is to be acknowledged before the socket goes. */
	sleep(1);
}

/* ---- SMC ---- */

static void smc_send(int s, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = send(s, buf + done, len - done, 0);

		if (n <= 0)
			die("send");
		done += n;
	}
}

static void smc_receive(int s, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = recv(s, buf + done, len - done, 0);

		if (n <= 0)
			die("receive");
		done += n;
	}
}

static int smc_accept(void)
{
	int on = 1, peers, s = socket(AF_SMC, SOCK_STREAM, 0);

	if (s < 0)
		die("socket");
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (struct sockaddr *)&local, sizeof(local)) || listen(s, 1))
		die("listen");
	peers = accept(s, NULL, NULL);
	if (peers < 0)
		die("accept");
	close(s);
	return peers;
}

/* The server may not listen yet. */
static int smc_connect(void)
{
	int s, tries = 100;

	for (;;) {
		s = socket(AF_SMC, SOCK_STREAM, 0);
		if (s < 0)
			die("socket");
		if (!connect(s, (struct sockaddr *)&peer, sizeof(peer)))
			return s;
		if (errno != ECONNREFUSED || !--tries)
			die("connect");
		close(s);
		usleep(200000);
	}
}

static void smc_stream(int s, bool out)
{
	size_t at;

	for (at = 0; at < STREAM; at += LONGEST) {
		if (out) {
			fill(LONGEST, 2000, at);
			smc_send(s, LONGEST);
		} else {
			smc_receive(s, LONGEST);
			check(LONGEST, 2000, at);
		}
	}
}

static void smc_messages(int s, bool asks)
{
	unsigned int message = 0;
	size_t i;

	for (i = 0; i < SIZES; i++, message += 2) {
		if (asks) {
			fill(sizes[i], message, 0);
			smc_send(s, sizes[i]);
		}
		smc_receive(s, sizes[i]);
		check(sizes[i], message + asks, 0);
		if (!asks) {
			fill(sizes[i], message + 1, 0);
			smc_send(s, sizes[i]);
		}
	}
}

static void smc(bool asks, int rounds)
{
	int s = asks ? smc_connect() : smc_accept();

	for (; rounds; rounds--)
		smc_messages(s, asks);
	smc_stream(s, asks);
	smc_stream(s, !asks);
	/* The last one to have received lets the other one go. */
	if (asks)
		smc_send(s, 1);
	else
		smc_receive(s, 1);
	close(s);
}

int main(int argc, char **argv)
{
	bool asks;
	int rounds;

	if (argc < 5) {
		fprintf(stderr, "usage: socket_check rds|smc serve|ask LOCAL PEER [ROUNDS]\n");
		return 2;
	}
	asks = !strcmp(argv[2], "ask");
	local = address(argv[3]);
	peer = address(argv[4]);
	rounds = argc > 5 ? atoi(argv[5]) : 4;
	buf = aligned_alloc(4096, LONGEST);
	if (!buf)
		die("memory");
	if (!strcmp(argv[1], "rds"))
		rds(asks, rounds);
	else
		smc(asks, rounds);
	return 0;
}
