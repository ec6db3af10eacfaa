/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a requester notes about losses. Most lose nothing, so it is memory that the caller
 * gives when something is lost for the first time (srdma_rc_req.mend).
 */
#ifndef SRDMA_PROTO_RC_REQ_MEND_H
#define SRDMA_PROTO_RC_REQ_MEND_H

#include <linux/types.h>

/*
 * READ responses behind a hole are kept so many packets from the oldest PSN: a power
 * of two, which the simulator makes smaller.
 */
#ifndef SRDMA_REQ_KEPT
#define SRDMA_REQ_KEPT		2048u
#endif

/* Holes that the peer has reported and that wait for being filled; most of them. */
#define SRDMA_REQ_AGAIN		128u

/**
 * struct srdma_rc_again - packets to be repeated
 * @psn: the first
 * @end: behind the last
 * @stamp: number of the report that asks for them
 */
struct srdma_rc_again {
	u32 psn;
	u32 end;
	u8 stamp;
};

/**
 * struct srdma_rc_req_mend - what a requester notes about losses
 * @kept: a bit for each PSN, modulo their number: a READ response that is in place
 *	behind a hole; those of no other PSNs are set
 * @again: ring of what the peer has reported to be missing
 * @again_to: behind what of it was repeated last
 * @repeated: packets that were, since @counted_psn was the next one to be sent
 * @counted_psn: see @repeated
 * @lost_psn: the oldest READ is asked for again, and what is missing in front of this was
 *	lost once more: that is asked for first
 * @tail_psn: then it goes on from here; what is between is on its way. @lost_psn: nothing
 *	was lost once more
 * @probe_end: behind what had been sent before the last probe
 * @gone: packets in front of it that were not there when that was answered, and were not
 *	repeated since
 * @lost_at: when something reported was taken for another loss, ns
 */
struct srdma_rc_req_mend {
	u32 kept[SRDMA_REQ_KEPT / 32];
	struct srdma_rc_again again[SRDMA_REQ_AGAIN];
	u32 again_to;
	u32 repeated;
	u32 counted_psn;
	u32 lost_psn;
	u32 tail_psn;
	u32 probe_end;
	u32 gone;
	u64 lost_at;
};

#endif
