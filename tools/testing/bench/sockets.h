/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TCP sockets, and the end of a program that cannot go on. */
#ifndef SRT_SOCKETS_H
#define SRT_SOCKETS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1)
		die(text);
	return a;
}

/* A message leaves when it is sent, as one of RDMA does. */
static inline int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		die("socket");
	return fd;
}

#endif
