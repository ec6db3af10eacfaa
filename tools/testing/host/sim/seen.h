/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How often the core came to each of its verdicts: a simulator that never
 * gets there proves nothing about it.
 */
#ifndef SIM_SEEN_H
#define SIM_SEEN_H

#include <linux/types.h>

#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/uc.h"

/* A packet was taken together with the one in front of it. */
enum joined {
	JOINED_REQUEST,
	JOINED_RESPONSE,
	JOINED_HEADERS,		/* though they differ in headers */
	JOINED_NR,
};

#define STATUS_NR	(SRDMA_ST_FATAL + 1)

/**
 * struct seen - verdicts counted
 * @next: by enum srdma_req_next
 * @resp: by enum srdma_req_resp
 * @timer: by enum srdma_req_timer
 * @verdict: by enum srdma_resp_verdict
 * @uc: by enum srdma_uc_verdict
 * @status: by enum srdma_status
 * @joined: by enum joined
 * @held: packets held back behind a hole
 */
struct seen {
	u64 next[SRDMA_NEXT_NR];
	u64 resp[SRDMA_REQ_RESP_NR];
	u64 timer[SRDMA_TIMER_NR];
	u64 verdict[SRDMA_RESP_NR];
	u64 uc[SRDMA_UC_NR];
	u64 status[STATUS_NR];
	u64 joined[JOINED_NR];
	u64 held;
};

void seen_add(struct seen *sum, const struct seen *more);

/* Prints all; returns how many should have been seen and were not. */
u32 seen_print(const struct seen *s);

#endif
