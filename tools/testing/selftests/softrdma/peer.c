// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "counters.h"
#include "peer.h"
#include "topo.h"
#include "wire.h"

#define BTH_LEN		12
#define ICRC_LEN	4

/* Each test has another: what was said to an earlier one is not heard. */
static uint32_t peer_qpn(void)
{
	return 0x800000 | (getpid() & 0x7fffff);
}

/* ---- the QP ---- */

int peer_reconnect(struct peer *peer, const struct peer_attr *a)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct verbs_set to = peer->set;
	enum ibv_qp_state state;
	struct wire_frame frame;
	int ret = ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE);

	/* What it said before would be taken for what it says from now on. */
	while (!wire_capture(&frame, 0))
		;
	inet_pton(AF_INET, WIRE_PEER, to.gid.raw + 12);
	for (state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS; state++) {
		verbs_attr(&to, &attr, state, peer_qpn());
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
		attr.rq_psn = a->psn;
		attr.sq_psn = a->psn;
		attr.timeout = a->timeout;
		attr.retry_cnt = a->retry_cnt;
		attr.rnr_retry = a->rnr_retry;
		attr.min_rnr_timer = a->min_rnr_timer;
		attr.ah_attr.grh.traffic_class = a->traffic_class;
		attr.max_rd_atomic = a->rd_atomic;
		attr.max_dest_rd_atomic = a->rd_atomic;
		ret = ibv_modify_qp(peer->qp, &attr,
				    verbs_mask(IBV_QPT_RC, state - 1, state));
	}
	return ret;
}

int peer_reconnect_v6(struct peer *peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct verbs_set to = peer->set;
	enum ibv_qp_state state;
	int ret = ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE);

	if (verbs_wait_gid(to.ctx, TOPO_IPV6, true, PEER_WAIT_MS))
		return ENODEV;
	to.gid_index = verbs_gid_index(to.ctx, TOPO_IPV6, NULL);
	inet_pton(AF_INET6, WIRE_PEER6, to.gid.raw);
	for (state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS; state++) {
		verbs_attr(&to, &attr, state, 0x77);
		attr.rq_psn = PEER_PSN;
		attr.sq_psn = PEER_PSN;
		ret = ibv_modify_qp(peer->qp, &attr,
				    verbs_mask(IBV_QPT_RC, state - 1, state));
	}
	return ret;
}

int peer_open(struct peer *peer, const struct peer_attr *attr)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 32, .max_recv_wr = 32,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	memset(peer, 0, sizeof(*peer));
	if (verbs_open_set(&peer->set, TOPO_LINK))
		return ENODEV;
	peer->channel = ibv_create_comp_channel(peer->set.ctx);
	if (!peer->channel)
		return errno;
	fcntl(peer->channel->fd, F_SETFL, O_NONBLOCK);
	peer->recv_cq = ibv_create_cq(peer->set.ctx, 64, NULL, peer->channel,
				      0);
	peer->buf = aligned_alloc(4096, PEER_BUF);
	if (!peer->recv_cq || !peer->buf)
		return ENOMEM;
	cm_fill(peer->buf, PEER_BUF, 1);
	peer->mr = ibv_reg_mr(peer->set.pd, peer->buf, PEER_BUF,
			      IBV_ACCESS_LOCAL_WRITE |
			      IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ |
			      IBV_ACCESS_REMOTE_ATOMIC);
	init.send_cq = peer->set.cq;
	init.recv_cq = peer->recv_cq;
	peer->qp = peer->mr ? ibv_create_qp(peer->set.pd, &init) : NULL;
	peer->sent = counters_get("tx_packets");
	return peer->qp ? peer_reconnect(peer, attr) : errno;
}

int peer_close(struct peer *peer)
{
	int ret = 0;

	if (peer->qp)
		ret = ibv_destroy_qp(peer->qp);
	if (peer->mr && !ret)
		ret = ibv_dereg_mr(peer->mr);
	if (peer->recv_cq && !ret)
		ret = ibv_destroy_cq(peer->recv_cq);
	if (peer->channel && !ret)
		ret = ibv_destroy_comp_channel(peer->channel);
	free(peer->buf);
	return ret ?: verbs_close_set(&peer->set);
}

int peer_post_recv(struct peer *peer, uint64_t wr_id, uint32_t offset,
		   uint32_t len)
{
	struct ibv_sge sge = {
		(uintptr_t)peer->buf + offset, len, peer->mr->lkey
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_recv(peer->qp, &wr, &bad);
}

bool peer_completes(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return cm_poll(cq, wc, PEER_WAIT_MS) == 1;
}

/* ---- what it says ---- */

int peer_say(const struct peer *peer, const struct peer_packet *packet)
{
	uint8_t padded[9000] = {};
	struct wire_packet what = {
		.opcode = packet->opcode,
		.pad = -packet->len & 3,
		.ack_req = packet->ask,
		.qpn = packet->qpn ?: peer->qp->qp_num,
		.psn = packet->psn & 0xffffff,
		.ip_id = packet->psn,
		.ext = packet->ext,
		.ext_len = packet->ext_len,
		.payload = padded,
		.payload_len = (packet->len + 3) & ~3ul,
	};
	struct wire_frame frame;

	if (packet->len)
		memcpy(padded, packet->payload, packet->len);
	wire_build(&frame, &what);
	if (packet->solicited)
		wire_bth(&frame)[1] |= 0x80;
	if (packet->not_migrated)
		wire_bth(&frame)[1] &= ~0x40;
	if (packet->has_met_congestion)
		wire_meet_congestion(&frame);
	if (packet->is_stranger)
		frame.bytes[WIRE_IP + 15]++;
	wire_seal(&frame);
	return wire_inject(&frame, false);
}

int peer_send(const struct peer *peer, uint8_t opcode, uint32_t psn, size_t len)
{
	uint8_t payload[9000];
	__be32 imm = htobe32(psn);
	struct peer_packet packet = {
		.opcode = opcode, .psn = psn, .ask = true,
		.payload = payload, .len = len, .ext = &imm,
		.ext_len = opcode == RC_SEND_LAST_IMM ||
			   opcode == RC_WRITE_LAST_IMM ? sizeof(imm) : 0,
	};

	cm_fill(payload, len, psn);
	return peer_say(peer, &packet);
}

struct reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
};

int peer_rdma(const struct peer *peer, uint8_t opcode, uint32_t psn,
	      int64_t offset, uint32_t dma_len, size_t len)
{
	uint8_t payload[9000];
	struct reth reth = {
		.va = htobe64((uintptr_t)peer->buf + offset),
		.rkey = htobe32(peer->mr->rkey),
		.len = htobe32(dma_len),
	};
	struct peer_packet packet = {
		.opcode = opcode, .psn = psn, .ask = true,
		.ext = &reth, .ext_len = sizeof(reth),
		.payload = payload, .len = len,
	};

	cm_fill(payload, len, psn);
	return peer_say(peer, &packet);
}

int peer_atomic(const struct peer *peer, uint8_t opcode, uint32_t psn,
		int64_t offset, uint64_t swap_add, uint64_t compare)
{
	struct {
		__be64 va;
		__be32 rkey;
		__be64 swap_add;
		__be64 compare;
	} __attribute__((packed)) eth = {
		.va = htobe64((uintptr_t)peer->buf + offset),
		.rkey = htobe32(peer->mr->rkey),
		.swap_add = htobe64(swap_add),
		.compare = htobe64(compare),
	};
	struct peer_packet packet = {
		.opcode = opcode, .psn = psn, .ask = true,
		.ext = &eth, .ext_len = sizeof(eth),
	};

	return peer_say(peer, &packet);
}

int peer_ack(const struct peer *peer, uint32_t psn, uint8_t syndrome,
	     uint32_t msn)
{
	__be32 aeth = htobe32((uint32_t)syndrome << 24 | msn);
	struct peer_packet packet = {
		.opcode = RC_ACK, .psn = psn,
		.ext = &aeth, .ext_len = sizeof(aeth),
	};

	return peer_say(peer, &packet);
}

int peer_read_response(const struct peer *peer, uint8_t opcode, uint32_t psn,
		       const void *data, size_t len)
{
	__be32 aeth = htobe32((uint32_t)ACK_UNLIMITED << 24);
	struct peer_packet packet = {
		.opcode = opcode, .psn = psn,
		.ext = &aeth,
		.ext_len = opcode == RC_READ_RESP_MIDDLE ? 0 : sizeof(aeth),
		.payload = data, .len = len,
	};

	return peer_say(peer, &packet);
}

int peer_atomic_ack(const struct peer *peer, uint32_t psn, uint64_t orig)
{
	struct {
		__be32 aeth;
		__be64 orig;
	} __attribute__((packed)) ext = {
		htobe32((uint32_t)ACK_UNLIMITED << 24), htobe64(orig),
	};
	struct peer_packet packet = {
		.opcode = RC_ATOMIC_ACK, .psn = psn,
		.ext = &ext, .ext_len = sizeof(ext),
	};

	return peer_say(peer, &packet);
}

/* ---- what it hears ---- */

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

/* Returns the bytes of extension headers; fills in what is in them. */
static size_t take_headers(struct peer_heard *heard, const uint8_t *p)
{
	switch (heard->opcode) {
	case RC_SEND_LAST_IMM:
	case RC_WRITE_LAST_IMM:
		return 4;
	case RC_WRITE_FIRST:
	case RC_WRITE_ONLY:
	case RC_READ:
		heard->va = get64(p);
		heard->dma_len = get32(p + 12);
		return 16;
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		heard->va = get64(p);
		return 28;
	case RC_ATOMIC_ACK:
		heard->orig = get64(p + 4);
		break;
	case RC_READ_RESP_FIRST:
	case RC_READ_RESP_LAST:
	case RC_READ_RESP_ONLY:
	case RC_ACK:
		break;
	default:
		return 0;
	}
	heard->syndrome = p[0];
	heard->msn = get32(p) & 0xffffff;
	return heard->opcode == RC_ATOMIC_ACK ? 12 : 4;
}

static bool icrc_is_right(const struct wire_frame *frame)
{
	struct wire_frame again = *frame;

	wire_seal_sums(&again);
	return !memcmp(again.bytes, frame->bytes, frame->len);
}

int peer_hear(struct peer_heard *heard, int timeout_ms)
{
	struct wire_frame frame;
	size_t ext, body;
	uint8_t *bth;
	int ret;

	do {
		ret = wire_capture(&frame, timeout_ms);
		bth = ret ? NULL : wire_bth(&frame);
	} while (bth && (get32(bth + 4) & 0xffffff) != peer_qpn());
	if (ret)
		return ret;
	memset(heard, 0, sizeof(*heard));
	heard->opcode = bth[0];
	heard->migrated = bth[1] & 0x40;
	heard->ask = bth[8] & 0x80;
	heard->psn = get32(bth + 8) & 0xffffff;
	ext = take_headers(heard, bth + BTH_LEN);
	body = frame.bytes + frame.len - bth - BTH_LEN - ICRC_LEN;
	heard->len = body - ext - (bth[1] >> 4 & 3);
	if (heard->len > sizeof(heard->payload) || !icrc_is_right(&frame))
		return -EBADMSG;
	memcpy(heard->payload, bth + BTH_LEN + ext, heard->len);
	return 0;
}

bool peer_hears(struct peer_heard *heard, uint8_t opcode, uint32_t psn)
{
	return !peer_hear(heard, PEER_WAIT_MS) && heard->opcode == opcode &&
	       heard->psn == (psn & 0xffffff);
}

bool peer_hears_ack(uint32_t psn, uint8_t syndrome)
{
	struct peer_heard heard;

	return peer_hears(&heard, RC_ACK, psn) && heard.syndrome == syndrome;
}

bool peer_hears_count(uint32_t psn, uint32_t msn)
{
	struct peer_heard heard;

	return peer_hears(&heard, RC_ACK, psn) && !(heard.syndrome & 0xe0) &&
	       heard.msn == msn;
}

bool peer_refuses(const struct peer *peer, uint32_t psn, uint8_t syndrome)
{
	return peer_hears_ack(psn, syndrome) &&
	       verbs_qp_state(peer->qp) == IBV_QPS_ERR;
}

int64_t peer_said(const struct peer *peer)
{
	return counters_get("tx_packets") - peer->sent;
}

bool peer_awaits(struct peer_heard *heard, uint8_t opcode, uint32_t psn)
{
	int ret;

	do {
		ret = peer_hear(heard, PEER_WAIT_MS);
	} while (!ret && (heard->opcode != opcode ||
			  heard->psn != (psn & 0xffffff)));
	return !ret;
}

/* ---- its requests ---- */

int peer_post(struct peer *peer, enum ibv_wr_opcode opcode, uint64_t wr_id,
	      uint32_t len)
{
	struct ibv_sge sge = {
		(uintptr_t)peer->buf, len, peer->mr->lkey
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = PEER_FAR;
		wr.wr.atomic.rkey = PEER_FAR_KEY;
	} else {
		wr.wr.rdma.remote_addr = PEER_FAR;
		wr.wr.rdma.rkey = PEER_FAR_KEY;
	}
	return ibv_post_send(peer->qp, &wr, &bad);
}

bool peer_post_sends(struct peer *peer, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (peer_post(peer, IBV_WR_SEND, i, 100))
			return false;
	return true;
}

void peer_drain(void)
{
	struct peer_heard heard;

	while (!peer_hear(&heard, 0))
		;
}

bool peer_sends_up_to(uint32_t last)
{
	struct peer_heard heard;
	uint32_t at = 0, most = 0;

	while (at != last && !peer_hear(&heard, PEER_WAIT_MS)) {
		at = (heard.psn - PEER_PSN) & 0xffffff;
		most = at > most ? at : most;
	}
	while (!peer_hear(&heard, 0)) {
		at = (heard.psn - PEER_PSN) & 0xffffff;
		most = at > most ? at : most;
	}
	return most == last;
}

bool peer_completed(struct peer *peer, uint64_t wr_id,
		    enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (!peer_completes(peer->set.cq, &wc))
		return false;
	if (wc.wr_id == wr_id && wc.status == status)
		return true;
	fprintf(stderr, "# request %lu: %s\n", (unsigned long)wc.wr_id,
		ibv_wc_status_str(wc.status));
	return false;
}

bool peer_completed_nothing(struct peer *peer)
{
	struct ibv_wc wc;

	return ibv_poll_cq(peer->set.cq, 1, &wc) == 0;
}
