// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The network. Every packet is built, summed, parsed and checked with the
 * module's own packet layer, so a header that is written wrongly, or read
 * wrongly, is found here as well.
 */
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "net.h"
#include "proto/aeth.h"
#include "proto/icrc.h"
#include "proto/packet.h"
#include "proto/run.h"

/* Most packets of a run. */
#define RUN_MAX		64

static struct srdma_icrc_flow flow;

void net_init(void)
{
	static const u8 ip[20] = { 0x45, [6] = 0x40, [8] = 64, [9] = 17,
				   [12] = 10, [15] = 1, [16] = 10, [19] = 2 };
	static const u8 udp[8] = { 0xc0, 0x00, 0x12, 0xb7 };

	srdma_icrc_init();
	srdma_icrc_flow_v4(&flow, ip, udp);
}

static __le32 icrc_of(const u8 *data, u32 len)
{
	const struct srdma_wire_bth *bth = (const struct srdma_wire_bth *)data;
	u32 crc;

	crc = srdma_icrc_base(&flow, 8 + len + SRDMA_ICRC_LEN, data);
	crc = srdma_icrc_start(&flow, crc, 0, bth->apsn);
	crc = srdma_icrc_update(crc, data + SRDMA_BTH_LEN,
				len - SRDMA_BTH_LEN);
	return srdma_icrc_final(crc);
}

const char *net_describe(const struct srdma_pkt *pkt)
{
	static char text[2][128];
	static int turn;
	char *t = text[turn ^= 1];
	int n;

	n = snprintf(t, sizeof(text[0]), "%-18s psn %06x%s", pkt->op->name,
		     pkt->psn, pkt->ack_req ? " ackreq" : "");
	if (pkt->op->flags & SRDMA_OP_AETH)
		n += snprintf(t + n, sizeof(text[0]) - n,
			      " syndrome %02x msn %06x", pkt->aeth.syndrome,
			      pkt->aeth.msn);
	if (pkt->stamp)
		n += snprintf(t + n, sizeof(text[0]) - n, " #%u", pkt->stamp);
	if (pkt->op->flags & SRDMA_OP_SACK)
		n += snprintf(t + n, sizeof(text[0]) - n,
			      " held %u, missing %u from %06x",
			      pkt->aeth.held, pkt->sack.holes[0].count,
			      pkt->sack.holes[0].psn);
	if (pkt->op->flags & SRDMA_OP_RETH)
		n += snprintf(t + n, sizeof(text[0]) - n,
			      " va %llx len %u", (unsigned long long)
			      pkt->reth.va, pkt->reth.len);
	if (pkt->payload_len)
		snprintf(t + n, sizeof(text[0]) - n, " payload %u",
			 pkt->payload_len);
	return t;
}

struct frame *net_frame(struct sim *s, struct node *from,
			const struct srdma_pkt *pkt, u8 **payload)
{
	struct frame *f = frame_get();
	u32 hdr;

	f->pkt = *pkt;
	f->pkt.op = srdma_opcode_get(pkt->opcode);
	f->pkt.pkey = SRDMA_PKEY_DEFAULT;
	f->pkt.dest_qpn = 0x11 + !from->id;
	f->pkt.mig = true;
	hdr = srdma_pkt_build(f->data, &f->pkt);
	SIM_CHECK(s, hdr, "opcode %02x cannot be built", pkt->opcode);
	*payload = f->data + hdr;
	f->len = srdma_pkt_wire_len(hdr, pkt->payload_len);
	return f;
}

bool net_begin_train(struct sim *s)
{
	if (s->p.net.shuffle_ns)
		s->train_late = rnd_below(&s->rng, s->p.net.shuffle_ns);
	return rnd_chance(&s->rng, s->p.net.train_loss);
}

/* A few bits near each other, but not where the ICRC does not look. */
static void spoil(struct sim *s, struct frame *f)
{
	u32 at = rnd_below(&s->rng, f->len);

	if (at == SRDMA_BTH_RESV8_OFF)
		at++;
	f->data[at] ^= 1 + rnd_below(&s->rng, 255);
	f->spoiled = true;
}

static void deliver(struct sim *s, struct node *from, struct frame *f)
{
	const struct net_params *net = &s->p.net;
	u64 at = from->link_free + net->delay_ns;

	if (net->shuffle_ns) {
		event_add(s, at + s->train_late, EV_FRAME, from->peer, f);
		return;
	}
	if (net->jitter_ns)
		at += rnd_below(&s->rng, net->jitter_ns);
	if (rnd_chance(&s->rng, net->late)) {
		at += rnd_below(&s->rng, net->late_ns);
	} else {
		if (at < from->last_arrival)
			at = from->last_arrival;
		from->last_arrival = at;
	}
	event_add(s, at, EV_FRAME, from->peer, f);
}

void net_send(struct sim *s, struct node *from, struct frame *f, bool lost)
{
	const struct net_params *net = &s->p.net;
	u32 body = f->len - SRDMA_ICRC_LEN;
	struct frame *copy;
	__le32 icrc;

	memset(f->data + f->pkt.op->hdr_len + f->pkt.payload_len, 0,
	       srdma_pkt_pad(f->pkt.payload_len));
	icrc = icrc_of(f->data, body);
	memcpy(f->data + body, &icrc, sizeof(icrc));

	s->packets++;
	s->on_wire += f->pkt.payload_len;
	if (from->link_free < s->now)
		from->link_free = s->now;
	if (net->queue_ns && from->link_free - s->now > net->queue_ns)
		lost = true;
	else
		from->link_free += (u64)(f->len + 46) * net->ps_byte / 1000;
	lost |= rnd_chance(&s->rng, net->loss);
	SIM_LOG(s, "%c > %s%s", 'A' + from->id, net_describe(&f->pkt),
		lost ? "   LOST" : "");
	if (lost) {
		frame_put(f);
		return;
	}
	if (rnd_chance(&s->rng, net->dup)) {
		copy = frame_get();
		*copy = *f;
		deliver(s, from, copy);
	}
	if (rnd_chance(&s->rng, net->spoil))
		spoil(s, f);
	deliver(s, from, f);
}

bool net_receive(struct sim *s, struct node *to, struct frame *f)
{
	u32 body = f->len - SRDMA_ICRC_LEN;
	struct srdma_pkt sent = f->pkt;
	enum srdma_parse why;
	__le32 icrc;

	why = srdma_pkt_parse(&f->pkt, f->data, f->len, f->len);
	icrc = icrc_of(f->data, body);
	if (memcmp(f->data + body, &icrc, sizeof(icrc))) {
		SIM_CHECK(s, f->spoiled, "good packet has a wrong ICRC");
		SIM_LOG(s, "%c < %s   SPOILED", 'A' + to->id,
			net_describe(&sent));
		return false;
	}
	SIM_CHECK(s, !f->spoiled, "spoiled packet has a good ICRC");
	SIM_CHECK(s, why == SRDMA_PARSE_OK, "%s does not parse: %d",
		  net_describe(&sent), why);
	if (why != SRDMA_PARSE_OK)
		return false;
	SIM_CHECK(s, f->pkt.opcode == sent.opcode && f->pkt.psn == sent.psn &&
		  f->pkt.payload_len == sent.payload_len &&
		  f->pkt.dest_qpn == 0x11 + to->id,
		  "%s was parsed as %s", net_describe(&sent),
		  net_describe(&f->pkt));
	f->payload = f->data + f->pkt.hdr_len;
	SIM_LOG(s, "%c < %s", 'A' + to->id, net_describe(&f->pkt));
	return true;
}

struct frame *net_inbox_take(struct node *n)
{
	struct frame *f = n->inbox;

	if (!f)
		return NULL;
	n->inbox = f->next;
	if (!n->inbox)
		n->inbox_tail = &n->inbox;
	return f;
}

/*
 * On one host the end of a burst, too, belongs to the run, although it has a
 * header that the others lack.
 */
static u32 add_end(struct srdma_pkt *run, const struct srdma_pkt *end)
{
	const u32 kinds = SRDMA_OP_SEND | SRDMA_OP_WRITE | SRDMA_OP_READ_RESP;
	u32 flags = end->op->flags;

	if (end->psn != srdma_psn_add(run->psn, run->more + 1u) ||
	    (flags & SRDMA_OP_ONLY) != SRDMA_OP_END || flags & SRDMA_OP_RWQE ||
	    !(flags & run->op->flags & kinds))
		return 0;
	run->opcode = srdma_run_opcode(run->opcode, end->opcode);
	run->op = srdma_opcode_get(run->opcode);
	run->more++;
	run->payload_len += end->payload_len;
	run->ack_req |= end->ack_req;
	run->se = end->se;
	/* Or the key to invalidate. */
	run->imm = end->imm;
	if (flags & SRDMA_OP_AETH)
		run->aeth = end->aeth;
	return end->payload_len;
}

void net_join(struct sim *s, struct node *to, struct frame *f)
{
	static u8 payload[RUN_MAX * SRDMA_MTU_MAX];
	u32 most = rnd_below(&s->rng, RUN_MAX);
	u32 at = f->pkt.payload_len;
	struct frame *more;
	enum joined how;
	u32 len;

	memcpy(payload, f->payload, at);
	f->payload = payload;
	while (most-- && to->inbox && srdma_run_is_open(&f->pkt, s->p.mtu)) {
		more = to->inbox;
		len = srdma_run_add(&f->pkt, (const void *)more->data,
				    more->len, s->p.mtu);
		how = f->pkt.op->flags & SRDMA_OP_REQ ? JOINED_REQUEST :
							JOINED_RESPONSE;
		if (!len && to->peer->p->one_host) {
			len = add_end(&f->pkt, &more->pkt);
			how = JOINED_HEADERS;
		}
		if (!len)
			return;
		memcpy(payload + at, more->payload, len);
		at += len;
		s->seen.joined[how]++;
		SIM_LOG(s, "%c   joined: %s", 'A' + to->id,
			net_describe(&f->pkt));
		frame_put(net_inbox_take(to));
	}
}
