/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Internal interfaces of the responder: rc_resp.c judges requests,
 * rc_resp_hold.c knows what is missing, rc_resp_out.c makes the responses.
 */
#ifndef SRDMA_PROTO_RC_RESP_PRIV_H
#define SRDMA_PROTO_RC_RESP_PRIV_H

#include <linux/types.h>

#include "rc_resp.h"

/* rc_resp.c */

/* A NAK or RNR NAK of @psn is to be sent, instead of one still due. */
void srdma_resp_nak(struct srdma_rc_resp *resp, u8 syndrome, u32 psn);
void srdma_resp_nak_why(struct srdma_rc_resp *resp, enum srdma_resp_why why,
			u32 psn);

/* rc_resp_hold.c */

void srdma_resp_hold_init(struct srdma_rc_resp *resp);

/* There are holes, and @pkt came, which is not expected. */
void srdma_resp_passes_hole(struct srdma_rc_resp *resp,
			    const struct srdma_pkt *pkt);

/* @pkt has the number of a report: it repeats what that has reported. */
void srdma_resp_stamped(struct srdma_rc_resp *resp,
			const struct srdma_pkt *pkt);

/* There are holes, and epsn has moved by @pkt. */
void srdma_resp_moved(struct srdma_rc_resp *resp, const struct srdma_pkt *pkt);

/* The packet that was asked for last came once more. */
void srdma_resp_came_twice(struct srdma_rc_resp *resp,
			   const struct srdma_pkt *pkt);

/* Of the next report. */
u8 srdma_resp_next_number(const struct srdma_rc_resp *resp);

/* The report with @number is on its way: a NAK, or a selective acknowledge. */
void srdma_resp_reported(struct srdma_rc_resp *resp, u8 number);

/* rc_resp_out.c */

/* The answer of slot @slot is due from @psn up to before @end. */
void srdma_resp_answer(struct srdma_rc_resp *resp, u32 slot, u32 psn, u32 end);

/* The same of what is asked for again: @len bytes, all of a READ or a part. */
void srdma_resp_repeat(struct srdma_rc_resp *resp, u32 slot, u32 psn, u32 len);

/* Nothing of slot @slot, which is pending, is due any more. */
void srdma_resp_answered(struct srdma_rc_resp *resp, u32 slot);

/* Slot @slot is used anew: no part of what it had is due any more. */
void srdma_resp_forget_parts(struct srdma_rc_resp *resp, u32 slot);

#endif
