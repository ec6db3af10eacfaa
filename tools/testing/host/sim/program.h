/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a seed decides: parameters and programs.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "sim.h"

/* Everything of @s from @seed. */
void program_make(struct sim *s, u64 seed);

/*
 * The fixed scenario of the goodput figures: @count messages of @op with
 * @len bytes from A to B, over 10 Gbit/s and 10 us; packets or, with @trains,
 * whole bursts are lost at @loss of 10000. With @holds, B holds back what comes
 * behind a hole.
 */
void program_make_goodput(struct sim *s, u64 seed, u8 op, u32 len, u32 count,
			  u32 loss, bool trains, bool holds);

/*
 * The fixed scenario of distance: @count messages of @op with @len bytes over a
 * line of @ps_byte and a round trip of @rtt_us that lose nothing, with the limits
 * that the driver sets.
 */
void program_make_distance(struct sim *s, u8 op, u32 len, u32 count,
			   u32 rtt_us, u32 ps_byte);

/* The same, where one of 1000 trains is lost, between two that hold back. */
void program_make_far_loss(struct sim *s, u64 seed, u8 op, u32 len, u32 count,
			   u32 rtt_us, u32 ps_byte);

/*
 * The same over 10 Gbit/s, where each train takes half a millisecond, and up to one
 * more, so that they overtake each other.
 */
void program_make_shuffle(struct sim *s, u64 seed, u8 op, u32 len, u32 count);

/*
 * The fixed scenario of a short queue: the same, over a line of a short round trip,
 * which loses what would wait for longer than @queue_us.
 */
void program_make_queue(struct sim *s, u8 op, u32 len, u32 count, u32 queue_us,
			u32 ps_byte);

/* One line. */
void program_describe(const struct sim *s);

#endif
