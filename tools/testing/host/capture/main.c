// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * replay: each RoCEv2 packet of a capture, and what the protocol core says to it.
 * Twice over the file: to learn the path MTUs, and to judge.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/file.h"
#include "capture/flow.h"
#include "proto/icrc.h"

#define ROCE_PORT	4791
#define UDP_LEN		8
#define ICRC_RESIDUE	0xdebb20e3u

/* What a sanitizer finds is not what a packet is blamed for. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "exitcode=99";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "exitcode=99";
}

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static bool has_right_icrc(const struct roce *r, const uint8_t *ip,
			   size_t ip_len, size_t len)
{
	const uint8_t *udp = ip + ip_len, *bth = udp + UDP_LEN;
	struct srdma_icrc_flow flow;
	__be32 apsn;
	u32 crc;

	if (r->v6)
		srdma_icrc_flow_v6(&flow, ip, udp);
	else
		srdma_icrc_flow_v4(&flow, ip, udp);
	memcpy(&apsn, bth + 8, sizeof(apsn));
	crc = srdma_icrc_base(&flow, UDP_LEN + len, bth);
	crc = srdma_icrc_start(&flow, crc, r->v6 ? 0 : be16(ip + 4), apsn);
	crc = srdma_icrc_update(crc, bth + SRDMA_BTH_LEN, len - SRDMA_BTH_LEN);
	return crc == ICRC_RESIDUE;
}

/* Fills @ip_len; false where there is no UDP to the port in one piece. */
static bool find_udp(const struct capture_packet *p, struct roce *r,
		     size_t *ip_len)
{
	const uint8_t *ip = p->ip;

	r->v6 = ip[0] >> 4 == 6;
	*ip_len = r->v6 ? 40 : 20;
	if (p->len < *ip_len + UDP_LEN)
		return false;
	if (r->v6) {
		memcpy(r->src, ip + 8, 16);
		memcpy(r->dst, ip + 24, 16);
	} else {
		memcpy(r->src, ip + 12, 4);
		memcpy(r->dst, ip + 16, 4);
	}
	if (r->v6 ? ip[6] != 17 : ip[0] != 0x45 || ip[9] != 17 ||
				  be16(ip + 6) & 0x3fff)
		return false;
	return be16(ip + *ip_len + 2) == ROCE_PORT &&
	       be16(ip + *ip_len + 4) >= UDP_LEN;
}

/* Is this a RoCEv2 packet? Then @r is filled. */
static bool take_apart(const struct capture_packet *p, struct roce *r)
{
	size_t ip_len, len, there;
	const uint8_t *bth;

	memset(r, 0, sizeof(*r));
	if (!find_udp(p, r, &ip_len))
		return false;
	bth = p->ip + ip_len + UDP_LEN;
	len = be16(p->ip + ip_len + 4) - UDP_LEN;
	there = p->len - ip_len - UDP_LEN;
	r->cut = there < len;
	if (there > len)
		there = len;
	if (there > SRDMA_HDR_MAX)
		there = SRDMA_HDR_MAX;
	r->parse = srdma_pkt_parse(&r->pkt, bth, there, len);
	r->icrc = r->parse == SRDMA_PARSE_OK && !r->cut &&
		  has_right_icrc(r, p->ip, ip_len, len);
	return true;
}

static void print_one(unsigned long number, const struct roce *r,
		      const struct verdict *v)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	inet_ntop(r->v6 ? AF_INET6 : AF_INET, r->src, src, sizeof(src));
	inet_ntop(r->v6 ? AF_INET6 : AF_INET, r->dst, dst, sizeof(dst));
	printf("%lu %s > %s", number, src, dst);
	if (r->parse == SRDMA_PARSE_OK)
		printf(" QP 0x%x PSN 0x%06x %s %u bytes%s, ICRC %s",
		       r->pkt.dest_qpn, r->pkt.psn, r->pkt.op->name,
		       r->pkt.payload_len, r->pkt.ack_req ? ", asks" : "",
		       r->cut ? "not captured" : r->icrc ? "right" : "WRONG");
	printf(": %s\n", v->text);
}

/* Calls back for each RoCEv2 packet; false when the file is broken. */
static bool walk(const uint8_t *data, size_t len,
		 void (*each)(const struct roce *r, unsigned long number))
{
	struct capture_packet p;
	enum capture_next what;
	struct capture c;
	struct roce r;

	if (!capture_open(&c, data, len))
		return false;
	for (;;) {
		what = capture_next(&c, &p);
		if (what == CAPTURE_END || what == CAPTURE_BROKEN)
			return what == CAPTURE_END;
		if (what == CAPTURE_PACKET && take_apart(&p, &r))
			each(&r, c.frames);
	}
}

static unsigned long packets, wrong;
static bool quiet;

static void learn(const struct roce *r, unsigned long number)
{
	flow_learn(r);
}

static void judge(const struct roce *r, unsigned long number)
{
	struct verdict v = flow_judge(r);

	packets++;
	wrong += !v.fine;
	if (!quiet || !v.fine)
		print_one(number, r, &v);
}

static uint8_t *read_all(const char *name, size_t *len)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = NULL;
	long size;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 &&
	    !fseek(f, 0, SEEK_SET)) {
		data = malloc(size + 1);
		if (data)
			*len = fread(data, 1, size, f);
	}
	fclose(f);
	return data;
}

int main(int argc, char **argv)
{
	const char *name;
	uint8_t *data;
	size_t len = 0;
	bool whole;

	quiet = argc > 1 && !strcmp(argv[1], "-q");
	if (argc != 2 + quiet) {
		fprintf(stderr, "usage: replay [-q] FILE\n");
		return 2;
	}
	name = argv[1 + quiet];
	data = read_all(name, &len);
	if (!data) {
		perror(name);
		return 2;
	}
	srdma_icrc_init();
	whole = walk(data, len, learn);
	walk(data, len, judge);
	flow_forget();
	free(data);
	if (!whole)
		fprintf(stderr, "%s: no capture, or it ends in a frame\n",
			name);
	else if (!packets)
		fprintf(stderr, "%s: no packet of RoCEv2 is in it\n", name);
	printf("%lu RoCEv2 packets, %lu not as they should be\n", packets,
	       wrong);
	return !whole || !packets ? 2 : wrong ? 1 : 0;
}
