/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How fast a UC QP sends that is notified of congestion (annex A17.9). Nobody
 * acknowledges what it sends: it has no window, and knows no round trip. All that it
 * hears is that one of its packets was marked.
 */
#ifndef SRDMA_PROTO_UC_RATE_H
#define SRDMA_PROTO_UC_RATE_H

#include <linux/types.h>

/* What a sender that was notified is doing. */
enum srdma_uc_phase {
	SRDMA_UC_FALLS,		/* since the first notification, until they stop */
	SRDMA_UC_SEARCHES,	/* for what it may send, until the next one */
	SRDMA_UC_SHARES,	/* what it found, with others */
};

/**
 * struct srdma_uc_rate - rate of a sender; all of it in bytes a second, and ns
 * @rate: what it may send; 0: as much as it can, and only the next four count
 * @seen: what it did send when that was last measured
 * @since: since when that is measured
 * @sent: bytes since
 * @packet: bytes of a full packet, with all headers
 * @phase: enum srdma_uc_phase
 * @bursts: that were sent since the rate was last cut, while it falls
 * @told: notifications since
 * @target: the rate goes back to that, when the queue has had time to drain
 * @target_at: when that was set
 * @cut_at: when the rate was last cut
 * @step: by that it grows in a while, as this grows itself
 * @grown_at: when it last grew
 * @told_at: when the last notification came
 * @apart: how far they are apart; 0: there was one only
 * @next_at: nothing is sent before
 * @wake_at: what is to be sent waits until then; 0: nothing waits
 */
struct srdma_uc_rate {
	u64 rate;
	u64 seen;
	u64 since;
	u32 sent;
	u32 packet;
	u8 phase;
	u32 bursts;
	u32 told;
	u64 target;
	u64 target_at;
	u64 cut_at;
	u64 step;
	u64 grown_at;
	u64 told_at;
	u64 apart;
	u64 next_at;
	u64 wake_at;
};

/* A full packet carries so much. A sender that is zero otherwise sends as fast as it can. */
void srdma_uc_rate_set_mtu(struct srdma_uc_rate *rate, u32 mtu);

/* Is it too early to send? Then wake_at says when it no longer is. */
bool srdma_uc_rate_waits(struct srdma_uc_rate *rate, u64 now);

/* How many packets may go at once; of a sender with a rate. */
u32 srdma_uc_rate_burst(const struct srdma_uc_rate *rate);

/* So many packets with so many bytes of payload were sent. */
void srdma_uc_rate_sent(struct srdma_uc_rate *rate, u32 packets, u32 bytes,
			u64 now);

/* A notification has come. */
void srdma_uc_rate_told(struct srdma_uc_rate *rate, u64 now);

#endif
