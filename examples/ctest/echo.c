// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * echo: a server and a client of librdmacm, in two threads; the server sends back what
 * it is sent.
 *
 * usage: echo [--without-server]
 *
 * At $SOFTRDMA_ADDRESS. Without a server the client must be refused.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE "7474"
#define SIZE 4096

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* An endpoint with a queue pair for one message each way, at our address. */
static struct rdma_cm_id *create_endpoint(int flags)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags,
		.ai_port_space = RDMA_PS_TCP,
	};
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	const char *address = getenv("SOFTRDMA_ADDRESS");
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	check(address != NULL, "SOFTRDMA_ADDRESS is not set");
	check(!rdma_getaddrinfo(address, SERVICE, &hints, &info), address);
	check(!rdma_create_ep(&id, info, NULL, &init), "create an endpoint");
	rdma_freeaddrinfo(info);
	return id;
}

static void *serve(void *arg)
{
	struct rdma_cm_id *listener = arg, *id;
	static char buffer[SIZE];
	struct ibv_mr *mr;
	struct ibv_wc wc;

	check(!rdma_get_request(listener, &id), "wait for a request");
	mr = rdma_reg_msgs(id, buffer, SIZE);
	check(mr != NULL, "register memory");
	check(!rdma_post_recv(id, NULL, buffer, SIZE, mr), "post a receive");
	check(!rdma_accept(id, NULL), "accept");
	check(rdma_get_recv_comp(id, &wc) == 1 && !wc.status, "receive");
	check(!rdma_post_send(id, NULL, buffer, wc.byte_len, mr, 0), "send");
	check(rdma_get_send_comp(id, &wc) == 1 && !wc.status, "sent");
	/* Ends when the client does. */
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return NULL;
}

static void exchange(struct rdma_cm_id *id)
{
	static char out[SIZE], in[SIZE];
	struct ibv_mr *from = rdma_reg_msgs(id, out, SIZE);
	struct ibv_mr *to = rdma_reg_msgs(id, in, SIZE);
	struct ibv_wc wc;

	check(from && to, "register memory");
	for (int i = 0; i < SIZE; i++)
		out[i] = i * 7;
	check(!rdma_post_recv(id, NULL, in, SIZE, to), "post a receive");
	check(!rdma_connect(id, NULL), "connect");
	check(!rdma_post_send(id, NULL, out, SIZE, from, 0), "send");
	check(rdma_get_send_comp(id, &wc) == 1 && !wc.status, "sent");
	check(rdma_get_recv_comp(id, &wc) == 1 && !wc.status, "receive");
	if (memcmp(in, out, SIZE)) {
		fprintf(stderr, "another message came back\n");
		exit(1);
	}
	printf("%d bytes came back\n", SIZE);
	rdma_disconnect(id);
	rdma_dereg_mr(from);
	rdma_dereg_mr(to);
}

int main(int argc, char *argv[])
{
	struct rdma_cm_id *listener, *client;
	pthread_t server;

	if (argc > 1 && !strcmp(argv[1], "--without-server")) {
		client = create_endpoint(0);
		check(rdma_connect(client, NULL) == -1 && errno == ECONNREFUSED,
		      "refused");
		rdma_destroy_ep(client);
		return 0;
	}
	listener = create_endpoint(RAI_PASSIVE);
	check(!rdma_listen(listener, 1), "listen");
	check(!pthread_create(&server, NULL, serve, listener), "thread");
	client = create_endpoint(0);
	exchange(client);
	pthread_join(server, NULL);
	rdma_destroy_ep(client);
	rdma_destroy_ep(listener);
	return 0;
}
