/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What one QP sends to another, as a capture shows it, and what the protocol core
 * of the receiver would say to it.
 */
#ifndef HOST_CAPTURE_FLOW_H
#define HOST_CAPTURE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/packet.h"

/**
 * struct roce - a RoCEv2 packet
 * @v6: IPv6
 * @src: address, 4 bytes or 16, the rest zero
 * @dst: likewise
 * @pkt: its headers
 * @parse: SRDMA_PARSE_OK when @pkt is filled
 * @icrc: its ICRC is right
 * @cut: not all of it was captured: nobody knows
 */
struct roce {
	bool v6;
	uint8_t src[16];
	uint8_t dst[16];
	struct srdma_pkt pkt;
	enum srdma_parse parse;
	bool icrc;
	bool cut;
};

/**
 * struct verdict - what is said to it
 * @text: in words
 * @fine: it is as it should be
 */
struct verdict {
	const char *text;
	bool fine;
};

/* First of all packets: path MTUs are learned from them. */
void flow_learn(const struct roce *r);

/* Then in turn. */
struct verdict flow_judge(const struct roce *r);

void flow_forget(void);

#endif
