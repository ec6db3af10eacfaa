// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What exchange sends: bytes that tell their place, work requests, completions. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exchange.h"

#define CANARY		0xc5
#define PATIENCE_S	25

/* Byte i of the data of a seed. */
static uint8_t byte(uint32_t seed, uint32_t i)
{
	uint32_t x = (seed + i / 251) * 2654435761u;

	return (x >> 24) + i;
}

void fill(uint8_t *at, uint32_t size, uint32_t seed)
{
	for (uint32_t i = 0; i < size; i++)
		at[i] = byte(seed, i);
}

void wait_for(const volatile uint8_t *at, uint32_t size, uint32_t seed)
{
	time_t end = time(NULL) + PATIENCE_S;
	uint32_t i = 0;

	while (time(NULL) < end) {
		while (i < size && at[i] == byte(seed, i))
			i++;
		if (i == size)
			return;
		usleep(100);
	}
}

void check(const struct plan *p, const uint8_t *at, uint32_t size,
	   uint32_t seed)
{
	for (uint32_t i = 0; i < size; i++)
		need(at[i] == byte(seed, i), "%s of %u bytes: byte %u is wrong",
		     names[p->what], p->size, i);
	for (uint32_t i = size; i < size + 64; i++)
		need(at[i] == CANARY, "%s of %u bytes: byte %u is written, too",
		     names[p->what], p->size, i);
}

void clear(uint8_t *at, uint32_t size)
{
	memset(at, CANARY, size + 64);
}

struct ibv_wc poll_one(struct ibv_cq *cq, const struct plan *p)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		need(time(NULL) < end, "%s of %u bytes: no %s completion",
		     names[p->what], p->size, cq == send_cq ? "send" :
		     "receive");
		usleep(20);
	}
	need(n == 1, "polling failed");
	return wc;
}

struct ibv_wc poll_well(struct ibv_cq *cq, const struct plan *p)
{
	struct ibv_wc wc = poll_one(cq, p);

	need(wc.status == IBV_WC_SUCCESS, "%s of %u bytes: %s: %s",
	     names[p->what], p->size, cq == send_cq ? "sent" : "received",
	     ibv_wc_status_str(wc.status));
	return wc;
}

void post_recv(uint8_t *at, uint32_t size)
{
	struct ibv_sge sge = { (uintptr_t)at, size, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_recv(qp, &wr, &bad), "cannot post a receive");
}

uint32_t imm_of(uint32_t seed)
{
	return seed * 2246822519u;
}

void post(enum ibv_wr_opcode opcode, uint8_t *at, uint32_t size, uint32_t seed,
	  uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)at, size, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = seed, .opcode = opcode, .sg_list = &sge,
		.num_sge = size ? 1 : 0, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint64_t remote = there.addr + (at - own);
	int error;

	wr.imm_data = htonl(imm_of(seed));
	if (opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = rkey;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = size ? WORD + seed : 0;
		wr.wr.atomic.swap = ~WORD;
	} else if (opt.type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = there.qpn;
		wr.wr.ud.remote_qkey = 0x11111111;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	error = ibv_post_send(qp, &wr, &bad);
	need(!error, "refused: %s", strerror(error));
}

void post_put(const uint8_t *at, uint32_t seed, uint32_t rkey)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	int error;

	ibv_wr_start(ex);
	ex->wr_id = seed;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(ex, rkey, there.addr + (at - own), at);
	error = ibv_wr_complete(ex);
	need(!error, "refused: %s", strerror(error));
}

uint64_t word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

void put_word(uint8_t *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}
