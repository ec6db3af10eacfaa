// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verdicts by name, and which of them must turn up.
 */
#include <stdio.h>
#include <string.h>

#include "seen.h"

static const char *const next_names[SRDMA_NEXT_NR] = {
	[SRDMA_NEXT_SEND] = "send",
	[SRDMA_NEXT_LOCAL] = "local",
	[SRDMA_NEXT_EMPTY] = "empty",
	[SRDMA_NEXT_WINDOW] = "window",
	[SRDMA_NEXT_CREDIT] = "credit",
	[SRDMA_NEXT_RD_ATOMIC] = "rd_atomic",
	[SRDMA_NEXT_FENCE] = "fence",
	[SRDMA_NEXT_ORDER] = "order",
	[SRDMA_NEXT_RNR] = "rnr",
	[SRDMA_NEXT_PACE] = "pace",
	[SRDMA_NEXT_SQD] = "sqd",
	[SRDMA_NEXT_FAILING] = "failing",
	[SRDMA_NEXT_ERROR] = "error",
};

/* Nobody answers what is not a response. */
static const char *const resp_names[SRDMA_REQ_RESP_NR] = {
	[SRDMA_REQ_ACK] = "ack",
	[SRDMA_REQ_SACK] = "sack",
	[SRDMA_REQ_PLACE] = "place",
	[SRDMA_REQ_ATOMIC] = "atomic",
	[SRDMA_REQ_RETRY] = "retry",
	[SRDMA_REQ_RNR_WAIT] = "rnr",
	[SRDMA_REQ_FAILED] = "failed",
	[SRDMA_REQ_DROP_GHOST] = "ghost",
	[SRDMA_REQ_DROP_DUP] = "dup",
	[SRDMA_REQ_DROP_GAP] = "gap",
	[SRDMA_REQ_DROP_ERROR] = "error",
};

static const char *const timer_names[SRDMA_TIMER_NR] = {
	[SRDMA_TIMER_EARLY] = "early",
	[SRDMA_TIMER_RNR] = "rnr",
	[SRDMA_TIMER_PACE] = "pace",
	[SRDMA_TIMER_LATE] = "late",
	[SRDMA_TIMER_PROBE] = "probe",
	[SRDMA_TIMER_RETRY] = "retry",
	[SRDMA_TIMER_FAILED] = "failed",
};

/* These requesters keep to the rules: no invalid request, no other range. */
static const char *const verdict_names[SRDMA_RESP_NR] = {
	[SRDMA_RESP_SEND] = "send",
	[SRDMA_RESP_WRITE] = "write",
	[SRDMA_RESP_READ] = "read",
	[SRDMA_RESP_ATOMIC] = "atomic",
	[SRDMA_RESP_ATOMIC_WRITE] = "atomic_write",
	[SRDMA_RESP_FLUSH] = "flush",
	[SRDMA_RESP_DUP_READ] = "dup_read",
	[SRDMA_RESP_DUP] = "dup",
	[SRDMA_RESP_DROP_GAP] = "gap",
	[SRDMA_RESP_DROP_OLD] = "old",
	[SRDMA_RESP_DROP_ERROR] = "error",
};

static const char *const uc_names[SRDMA_UC_NR] = {
	[SRDMA_UC_SEND] = "send",
	[SRDMA_UC_WRITE] = "write",
	[SRDMA_UC_DROP_LOST] = "lost",
};

static const char *const status_names[STATUS_NR] = {
	[SRDMA_ST_OK] = "ok",
	[SRDMA_ST_LOC_PROT] = "loc_prot",
	[SRDMA_ST_FLUSH] = "flush",
	[SRDMA_ST_REM_INV_REQ] = "rem_inv_req",
	[SRDMA_ST_REM_ACCESS] = "rem_access",
	[SRDMA_ST_REM_OP] = "rem_op",
	[SRDMA_ST_RETRY_EXC] = "retry_exc",
	[SRDMA_ST_RNR_RETRY_EXC] = "rnr_retry_exc",
};

static const char *const joined_names[JOINED_NR] = {
	[JOINED_REQUEST] = "request",
	[JOINED_RESPONSE] = "response",
	[JOINED_HEADERS] = "headers_differ",
};

static const char *const held_names[] = { "back" };

void seen_add(struct seen *sum, const struct seen *more)
{
	const u64 *from = (const u64 *)more;
	u64 *to = (u64 *)sum;
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
		to[i] += from[i];
}

static u32 print_row(const char *row, const char *const *names, const u64 *n,
		     u32 count)
{
	u32 missing = 0;
	u32 i;

	printf("  %-9s", row);
	for (i = 0; i < count; i++) {
		if (!names[i])
			continue;
		printf(" %s %llu", names[i], (unsigned long long)n[i]);
		missing += !n[i];
	}
	putchar('\n');
	return missing;
}

u32 seen_print(const struct seen *s)
{
	u32 missing = 0;

	printf("verdicts:\n");
	missing += print_row("next", next_names, s->next, SRDMA_NEXT_NR);
	missing += print_row("response", resp_names, s->resp,
			     SRDMA_REQ_RESP_NR);
	missing += print_row("timer", timer_names, s->timer, SRDMA_TIMER_NR);
	missing += print_row("request", verdict_names, s->verdict,
			     SRDMA_RESP_NR);
	missing += print_row("uc", uc_names, s->uc, SRDMA_UC_NR);
	missing += print_row("status", status_names, s->status, STATUS_NR);
	missing += print_row("joined", joined_names, s->joined, JOINED_NR);
	missing += print_row("held", held_names, &s->held, 1);
	return missing;
}
