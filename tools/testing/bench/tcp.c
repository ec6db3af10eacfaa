// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What scripts/bench puts beside RDMA: the same messages by a TCP socket of the
 * same kernel, over the same interfaces.
 *
 *	tcp TEST SIZE N ADDRESS			the one that listens there
 *	tcp TEST SIZE N ADDRESS FROM		the other one; prints a figure
 *
 * bw: N messages one way, MB/s (2^20), until the last byte has been read; as many
 * before them, so that windows are open. lat: there and back, half of the median,
 * microseconds. connect: N connections one
 * after the other, the mean, microseconds.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sockets.h"

#define PORT	18516
#define MEBI	(1 << 20)

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void put(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0)
			die("write");
		p += n;
		len -= n;
	}
}

static void get(int fd, char *p, size_t len)
{
	while (len) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			die("read");
		p += n;
		len -= n;
	}
}

static int connect_to(const char *to, const char *from)
{
	struct sockaddr_in a = address(to, PORT), b = address(from, 0);
	int fd = new_socket();

	if (bind(fd, (struct sockaddr *)&b, sizeof(b)))
		die("bind");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	return fd;
}

static int listen_at(const char *where)
{
	struct sockaddr_in a = address(where, PORT);
	int fd = new_socket();

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64))
		die("listen");
	return fd;
}

static int accept_one(int listening)
{
	int fd = accept(listening, NULL, NULL);
	int on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("accept");
	return fd;
}

static void take_stream(int fd, char *buf, size_t size, long n)
{
	while (n--)
		get(fd, buf, size);
	put(fd, buf, 1);
}

static void answer_each(int fd, char *buf, size_t size, long n)
{
	while (n--) {
		get(fd, buf, size);
		put(fd, buf, size);
	}
}

static double stream_us(int fd, char *buf, size_t size, long n)
{
	double start = now_us();

	while (n--)
		put(fd, buf, size);
	get(fd, buf, 1);
	return now_us() - start;
}

static double bandwidth(int fd, char *buf, size_t size, long n)
{
	stream_us(fd, buf, size, n);
	return (double)size * n / MEBI / stream_us(fd, buf, size, n) * 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double latency(int fd, char *buf, size_t size, long n)
{
	double *took = calloc(n, sizeof(*took));
	double median;
	long i;

	if (!took)
		die("calloc");
	for (i = 0; i < n; i++) {
		double start = now_us();

		put(fd, buf, size);
		get(fd, buf, size);
		took[i] = (now_us() - start) / 2;
	}
	qsort(took, n, sizeof(*took), compare);
	median = took[n / 2];
	free(took);
	return median;
}

static double connecting(const char *to, const char *from, long n)
{
	double took = 0;
	long i;

	for (i = 0; i < n; i++) {
		double start = now_us();
		int fd = connect_to(to, from);

		took += now_us() - start;
		close(fd);
	}
	return took / n;
}

static void serve(const char *test, const char *where, char *buf, size_t size,
		  long n)
{
	int listening = listen_at(where);
	int fd;

	if (!strcmp(test, "connect")) {
		while (n--)
			close(accept_one(listening));
		return;
	}
	fd = accept_one(listening);
	if (!strcmp(test, "bw")) {
		take_stream(fd, buf, size, n);
		take_stream(fd, buf, size, n);
	} else {
		answer_each(fd, buf, size, n);
	}
}

static double measure(const char *test, const char *to, const char *from,
		      char *buf, size_t size, long n)
{
	int fd;

	if (!strcmp(test, "connect"))
		return connecting(to, from, n);
	fd = connect_to(to, from);
	return !strcmp(test, "bw") ? bandwidth(fd, buf, size, n) :
				     latency(fd, buf, size, n);
}

int main(int argc, char **argv)
{
	size_t size;
	char *buf;
	long n;

	if (argc < 5 || argc > 6 || atol(argv[3]) < 1) {
		fprintf(stderr,
			"usage: tcp bw|lat|connect SIZE N ADDRESS [FROM]\n");
		return 2;
	}
	size = atol(argv[2]);
	n = atol(argv[3]);
	buf = malloc(size + 1);
	if (!buf)
		die("malloc");
	memset(buf, 'x', size + 1);
	if (argc == 5)
		serve(argv[1], argv[4], buf, size, n);
	else
		printf("%.2f\n",
		       measure(argv[1], argv[4], argv[5], buf, size, n));
	free(buf);
	return 0;
}
