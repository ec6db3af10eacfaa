// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each flow of requests has a responder of the protocol core. It begins with the
 * first message that is seen whole from its start; a response of the capture that
 * asks for something again, when the core would not have, sends it back.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/flow.h"
#include "proto/rc_resp.h"
#include "proto/uc.h"

/* READs and atomics that may be outstanding: all that anybody offers. */
#define RESOURCES	255

/**
 * struct held - a request behind one that is missing
 * @next: by PSN
 * @pkt: the request
 */
struct held {
	struct held *next;
	struct srdma_pkt pkt;
};

/**
 * struct flow - requests of one QP to another
 * @next: in the list of all
 * @src: addresses and destination, which tell it from others
 * @dst: likewise
 * @qpn: likewise
 * @tp: enum srdma_transport
 * @mtu: path MTU, bytes; 0: no packet has told yet
 * @most: longest payload
 * @begun: the state below is in use
 * @first_psn: PSN that it was begun with
 * @rc: responder, RC
 * @res: its memory
 * @held: what a responder may be holding back
 * @uc: receiver, UC
 */
struct flow {
	struct flow *next;
	uint8_t src[16];
	uint8_t dst[16];
	uint32_t qpn;
	uint8_t tp;
	uint32_t mtu;
	uint32_t most;
	bool begun;
	uint32_t first_psn;
	struct srdma_rc_resp rc;
	struct srdma_rc_res res[RESOURCES];
	struct srdma_rc_resp_mend mend;
	struct held *held;
	struct srdma_uc_resp uc;
};

static struct flow *flows;

static struct flow *find_flow(const struct roce *r)
{
	struct flow *f;

	for (f = flows; f; f = f->next)
		if (f->qpn == r->pkt.dest_qpn && f->tp == r->pkt.op->transport &&
		    !memcmp(f->src, r->src, 16) && !memcmp(f->dst, r->dst, 16))
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		abort();
	memcpy(f->src, r->src, 16);
	memcpy(f->dst, r->dst, 16);
	f->qpn = r->pkt.dest_qpn;
	f->tp = r->pkt.op->transport;
	f->next = flows;
	flows = f;
	return f;
}

static void drop_held(struct flow *f)
{
	struct held *held;

	while ((held = f->held)) {
		f->held = held->next;
		free(held);
	}
	srdma_rc_resp_forget(&f->rc);
}

void flow_forget(void)
{
	struct flow *f;

	while ((f = flows)) {
		flows = f->next;
		drop_held(f);
		free(f);
	}
}

static bool is_mtu(uint32_t bytes)
{
	return bytes >= 256 && bytes <= 4096 && !(bytes & (bytes - 1));
}

void flow_learn(const struct roce *r)
{
	const struct srdma_pkt *pkt = &r->pkt;
	struct flow *f;

	if (r->parse != SRDMA_PARSE_OK)
		return;
	f = find_flow(r);
	if (pkt->op->payload == SRDMA_PAY_MTU && is_mtu(pkt->payload_len))
		f->mtu = pkt->payload_len;
	if (pkt->payload_len > f->most)
		f->most = pkt->payload_len;
}

/* Of the same two hosts: what either way has told, or the least that is enough. */
static uint32_t mtu_of(const struct flow *f)
{
	const struct flow *other;
	uint32_t mtu = 1024;

	if (f->mtu)
		return f->mtu;
	for (other = flows; other; other = other->next)
		if (other->mtu && (!memcmp(f->src, other->dst, 16) ||
				   !memcmp(f->src, other->src, 16)) &&
		    (!memcmp(f->dst, other->src, 16) ||
		     !memcmp(f->dst, other->dst, 16)))
			return other->mtu;
	while (mtu < f->most && mtu < 4096)
		mtu *= 2;
	return mtu;
}

static void begin(struct flow *f, uint32_t psn)
{
	struct srdma_rc_resp_attr attr = { .psn = psn, .mtu = mtu_of(f) };

	if (!f->begun)
		f->first_psn = psn;
	f->begun = true;
	if (f->tp == SRDMA_TP_RC) {
		srdma_rc_resp_init(&f->rc, &attr, f->res, RESOURCES);
		f->rc.mend = &f->mend;
	} else {
		srdma_uc_resp_init(&f->uc, psn, attr.mtu);
	}
}

/* ---- requests ---- */

static const struct verdict rc_verdicts[SRDMA_RESP_NR] = {
	[SRDMA_RESP_SEND] = { "expected", true },
	[SRDMA_RESP_WRITE] = { "expected", true },
	[SRDMA_RESP_READ] = { "expected", true },
	[SRDMA_RESP_ATOMIC] = { "expected", true },
	[SRDMA_RESP_ATOMIC_WRITE] = { "expected", true },
	[SRDMA_RESP_FLUSH] = { "expected", true },
	[SRDMA_RESP_DUP_READ] = { "duplicate, answered again", false },
	[SRDMA_RESP_DUP] = { "duplicate, acknowledged again", false },
	[SRDMA_RESP_NAK_INV_REQ] = { "invalid: NAK, the QP fails", false },
	[SRDMA_RESP_DROP_GAP] = { "out of sequence, packets are missing", false },
	[SRDMA_RESP_DROP_OLD] = { "duplicate, its answer is not kept", false },
	[SRDMA_RESP_DROP_RANGE] = { "duplicate that asks for more", false },
	[SRDMA_RESP_DROP_ERROR] = { "for a QP that has failed", false },
};

static const struct verdict uc_verdicts[SRDMA_UC_NR] = {
	[SRDMA_UC_SEND] = { "expected", true },
	[SRDMA_UC_WRITE] = { "expected", true },
	[SRDMA_UC_DROP_LOST] = { "of a message that has lost packets", false },
	[SRDMA_UC_DROP_SEQ] = { "does not follow the one before", false },
	[SRDMA_UC_DROP_LEN] = { "wrong length for its place", false },
};

/* All answers are given at once; what the capture says is judged by itself. */
static void answer_all(struct flow *f)
{
	static const struct srdma_burst_limit limit = { 64, 1 << 16 };
	struct srdma_rc_resp_burst out;

	while (srdma_rc_resp_next(&f->rc, &limit, SRDMA_RESP_NO_CREDITS,
				  &out) != SRDMA_OUT_NONE)
		srdma_rc_resp_sent(&f->rc, &out);
}

static enum srdma_resp_verdict execute(struct flow *f,
				       const struct srdma_pkt *pkt)
{
	struct srdma_rc_resp_act act = {};
	enum srdma_resp_verdict v;

	v = srdma_rc_resp_request(&f->rc, pkt, &act);
	if (v <= SRDMA_RESP_DUP_READ)
		srdma_rc_resp_commit(&f->rc, pkt, &act);
	return v;
}

static void hold(struct flow *f, const struct srdma_pkt *pkt)
{
	struct held **at = &f->held;
	struct held *held = calloc(1, sizeof(*held));

	if (!held)
		abort();
	while (*at && srdma_psn_before((*at)->pkt.psn, pkt->psn))
		at = &(*at)->next;
	held->pkt = *pkt;
	held->next = *at;
	*at = held;
	srdma_rc_resp_hold(&f->rc, pkt);
}

/* Those that have become expected are executed. */
static void release(struct flow *f)
{
	struct held *held;

	while ((held = f->held) && held->pkt.psn == f->rc.epsn) {
		f->held = held->next;
		execute(f, &held->pkt);
		free(held);
	}
}

static struct verdict judge_rc(struct flow *f, const struct srdma_pkt *pkt)
{
	enum srdma_resp_verdict v;

	if (srdma_rc_resp_wants(&f->rc, pkt)) {
		hold(f, pkt);
		return (struct verdict) {
			"out of sequence, packets are missing", false };
	}
	v = execute(f, pkt);
	release(f);
	answer_all(f);
	return rc_verdicts[v];
}

static struct verdict judge_request(const struct roce *r)
{
	struct flow *f = find_flow(r);
	struct srdma_rc_resp_act act = {};

	if (!f->begun && !(r->pkt.op->flags & SRDMA_OP_START))
		return (struct verdict) {
			"of a message that began before the capture", true };
	if (!f->begun)
		begin(f, r->pkt.psn);
	if (f->tp == SRDMA_TP_RC)
		return judge_rc(f, &r->pkt);
	return uc_verdicts[srdma_uc_resp_request(&f->uc, &r->pkt, &act)];
}

/* ---- responses ---- */

/* The flow that a response is about, if only one can be. */
static struct flow *asked_by(const struct roce *r)
{
	struct flow *f, *found = NULL;

	for (f = flows; f; f = f->next) {
		if (f->tp != SRDMA_TP_RC || !f->begun ||
		    memcmp(f->src, r->dst, 16) || memcmp(f->dst, r->src, 16) ||
		    srdma_psn_before(r->pkt.psn, f->first_psn) ||
		    srdma_psn_after(r->pkt.psn, f->rc.epsn))
			continue;
		if (found)
			return NULL;
		found = f;
	}
	return found;
}

static const char *const naks[] = {
	[SRDMA_NAK_PSN_SEQ] = "NAK: sequence error, to be sent again from here",
	[SRDMA_NAK_INV_REQ] = "NAK: invalid request",
	[SRDMA_NAK_REM_ACCESS] = "NAK: remote access error",
	[SRDMA_NAK_REM_OP] = "NAK: remote operational error",
	[SRDMA_NAK_INV_RD_REQ] = "NAK: invalid RD request",
};

/* What the receiver has not executed is expected again. */
static void go_back(struct flow *f, uint32_t psn)
{
	if (f && srdma_psn_before(psn, f->rc.epsn))
		begin(f, psn);
}

static struct verdict judge_response(const struct roce *r)
{
	struct flow *f = asked_by(r);
	uint8_t syndrome = r->pkt.aeth.syndrome;

	if (!(r->pkt.op->flags & SRDMA_OP_AETH))
		return (struct verdict) { "response", true };
	switch (srdma_aeth_kind(syndrome)) {
	case SRDMA_AETH_KIND_ACK:
		if (r->pkt.op->flags & SRDMA_OP_SACK)
			return (struct verdict) {
				"acknowledges, and names what is missing", false };
		return (struct verdict) { "acknowledges", true };
	case SRDMA_AETH_KIND_RNR:
		if (f)
			drop_held(f);
		go_back(f, r->pkt.psn);
		return (struct verdict) { "RNR NAK: no receive is posted",
					  false };
	case SRDMA_AETH_KIND_NAK:
		/* With a number it holds what is behind, else it has dropped it. */
		if (srdma_aeth_value(syndrome) == SRDMA_NAK_PSN_SEQ &&
		    !r->pkt.stamp && f) {
			drop_held(f);
			go_back(f, r->pkt.psn);
		}
		return (struct verdict) { naks[srdma_aeth_value(syndrome)],
					  false };
	case SRDMA_AETH_KIND_BAD:
		break;
	}
	return (struct verdict) { "reserved syndrome", false };
}

static const char *const parses[SRDMA_PARSE_NR] = {
	[SRDMA_PARSE_SHORT] = "too short",
	[SRDMA_PARSE_UNALIGNED] = "length is no multiple of four",
	[SRDMA_PARSE_TVER] = "unknown transport version",
	[SRDMA_PARSE_OPCODE] = "unknown opcode",
	[SRDMA_PARSE_PAD] = "more padding than payload",
	[SRDMA_PARSE_LENGTH] = "length that the opcode cannot have",
};

/* What is no packet, or has a wrong ICRC, reaches no QP. */
struct verdict flow_judge(const struct roce *r)
{
	if (r->parse != SRDMA_PARSE_OK)
		return (struct verdict) { parses[r->parse], false };
	if (!r->icrc && !r->cut)
		return (struct verdict) { "dropped", false };
	switch (r->pkt.op->transport) {
	case SRDMA_TP_CNP:
		return (struct verdict) { "congestion notification", true };
	case SRDMA_TP_UD:
		return (struct verdict) { "datagram", true };
	}
	return r->pkt.op->flags & SRDMA_OP_RESP ? judge_response(r) :
						  judge_request(r);
}
