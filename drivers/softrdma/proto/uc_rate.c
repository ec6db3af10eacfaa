// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reaction point of unreliable connections: a rate. As in DCQCN (Zhu et al., SIGCOMM
 * 2015), but for any line: what is left to a sender may be one packet in 15 ms, and marks
 * may come 50 ms late. So nothing here counts in the microseconds of a data center.
 *
 * At first there is no rate. What is sent then may be a thousand times what the line
 * takes, and notifications halve it (it falls), as long as more is sent than is told of.
 * When they stop it grows quickly (it searches), and from the next one on as others do
 * who share the queue.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "uc_rate.h"

/* Ethernet, IPv4, UDP, BTH and ICRC: what is around a payload. */
#define RATE_AROUND	58u

#define RATE_SECOND_NS	1000000000ull

/* What was sent in so much time says how fast that is. */
#define MEASURE_NS	1000000u

/* No rate is less, nor of use when it is more. */
#define RATE_LEAST	5000u
#define RATE_MOST	100000000000ull

/*
 * At once goes what passes in so much time, up to so many packets. A queue marks a train
 * as it marks one packet: who sends longer ones than others is told less often.
 */
#define RATE_BURST_NS	130000u
#define RATE_BURST	16u

/* Who comes late, as timers do, may catch up with so much. */
#define RATE_LATE_NS	250000u

/*
 * Notifications have stopped when there was none for so many times as they were apart
 * before, and for so long: what many send by turns comes through in clumps.
 */
#define STOP_TIMES	4u
#define STOP_NS		100000000u

/*
 * A rate that falls is halved at each second notification, if they tell of less than two
 * thirds of the bursts: of the others nobody has heard, they were lost. Else all of them
 * arrive, or a packet of each, if a burst has several; then it is halved once in
 * RATE_CUT_NS. If it has one, a queue only drains, or goes on marking for the average of
 * what it held: then a quarter less is enough, once in so long.
 */
#define FALL_TOLD	2u
#define FALL_HOLD_NS	25000000u

/*
 * The rate grows by a step, and the step with it, e times in that: all who share a queue
 * are notified at about the same time, and then grow by as much, whatever they have. So
 * their shares become equal. On a fast line it takes longer until it matters: nine times
 * that for an eighth of 1 Gbit/s, twice for an eighth of a 16th of 10 Mbit/s.
 */
#define GROW_NS		100000000ull
#define GROW_PARTS	100u
#define RATE_STEP	2000u

/* Who searches has the line to find, and grows four times as fast, from an eighth on. */
#define SEARCH_SHIFT	2
#define SEARCH_PARTS	8u

/*
 * Who shares goes an eighth below what it had, for so long at least, but no more often
 * than marks need to get here. Meanwhile each notification cuts an eighth as well, so
 * that the queue drains; from there it goes back quickly.
 */
#define RATE_CUT_PARTS	8u
#define RATE_CUT_NS	4000000u
#define TARGET_NS	75000000u
#define BACK_NS		25000000u

void srdma_uc_rate_set_mtu(struct srdma_uc_rate *rate, u32 mtu)
{
	rate->packet = mtu + RATE_AROUND;
}

static u64 takes_ns(const struct srdma_uc_rate *rate, u64 bytes)
{
	return div64_u64(bytes * RATE_SECOND_NS, rate->rate);
}

bool srdma_uc_rate_waits(struct srdma_uc_rate *rate, u64 now)
{
	bool waits = rate->rate && now < rate->next_at;

	rate->wake_at = waits ? rate->next_at : 0;
	return waits;
}

u32 srdma_uc_rate_burst(const struct srdma_uc_rate *rate)
{
	u64 bytes = div_u64(rate->rate * RATE_BURST_NS, RATE_SECOND_NS);

	return clamp_t(u64, div_u64(bytes, rate->packet), 1, RATE_BURST);
}

static u64 speed_now(const struct srdma_uc_rate *rate, u64 now)
{
	return div64_u64((u64)rate->sent * RATE_SECOND_NS,
			 max_t(u64, now - rate->since, MEASURE_NS));
}

static void note_speed(struct srdma_uc_rate *rate, u32 bytes, u64 now)
{
	if (now - rate->since >= MEASURE_NS) {
		rate->seen = speed_now(rate, now);
		rate->since = now;
		rate->sent = 0;
	}
	rate->sent += bytes;
}

static bool have_stopped(const struct srdma_uc_rate *rate, u64 now)
{
	return now - rate->told_at >= max_t(u64, STOP_TIMES * rate->apart,
					    STOP_NS);
}

static void search(struct srdma_uc_rate *rate, u64 now)
{
	rate->phase = SRDMA_UC_SEARCHES;
	rate->step = rate->rate / SEARCH_PARTS;
	rate->grown_at = now;
	rate->target_at = now;
}

static void grow_back(struct srdma_uc_rate *rate, u64 passed)
{
	u64 most = rate->target - rate->rate;

	rate->rate += div_u64(most * min_t(u64, passed, BACK_NS), BACK_NS) + 1;
}

static void grow_on(struct srdma_uc_rate *rate, u64 passed)
{
	u32 shift = rate->phase == SRDMA_UC_SEARCHES ? SEARCH_SHIFT : 0;
	u64 step = div_u64(rate->step * passed << shift, GROW_NS);

	rate->rate += step;
	rate->step += step;
	if (rate->rate > RATE_MOST)
		rate->rate = 0;
}

/* What is not sent meanwhile is no reason to grow: of a long time a part counts. */
static void grow(struct srdma_uc_rate *rate, u64 now)
{
	u64 passed = now - rate->grown_at;

	if (rate->phase == SRDMA_UC_FALLS) {
		if (have_stopped(rate, now))
			search(rate, now);
		return;
	}
	if (passed < GROW_NS / GROW_PARTS)
		return;
	passed = min(passed, GROW_NS / 4);
	rate->grown_at = now;
	if (rate->rate < rate->target)
		grow_back(rate, passed);
	else
		grow_on(rate, passed);
}

void srdma_uc_rate_sent(struct srdma_uc_rate *rate, u32 packets, u32 bytes,
			u64 now)
{
	u64 late = now - min_t(u64, now, RATE_LATE_NS);

	bytes += packets * RATE_AROUND;
	rate->bursts++;
	note_speed(rate, bytes, now);
	if (rate->rate)
		grow(rate, now);
	if (rate->rate)
		rate->next_at = max(rate->next_at, late) + takes_ns(rate, bytes);
}

/* The first of all, or since there was a rate. */
static void begin_to_fall(struct srdma_uc_rate *rate, u64 now)
{
	rate->phase = SRDMA_UC_FALLS;
	rate->rate = min(max(rate->seen, speed_now(rate, now)) / 2, RATE_MOST);
	rate->target = 0;
	rate->apart = 0;
	rate->bursts = 0;
	rate->told = 0;
	rate->next_at = now;
}

/* The rate was set by the first one. */
static void fall_on(struct srdma_uc_rate *rate, u64 now)
{
	if (++rate->told < FALL_TOLD)
		return;
	if (rate->bursts * 2 > rate->told * 3)
		rate->rate /= 2;
	else if (srdma_uc_rate_burst(rate) > 1 &&
		 now - rate->cut_at >= RATE_CUT_NS)
		rate->rate /= 2;
	else if (now - rate->cut_at >= FALL_HOLD_NS)
		rate->rate -= rate->rate / 4;
	else
		return;
	rate->cut_at = now;
	rate->bursts = 0;
	rate->told = 0;
}

static void give_way(struct srdma_uc_rate *rate, u64 now)
{
	u64 had = max(rate->rate, rate->target);

	rate->phase = SRDMA_UC_SHARES;
	rate->step = RATE_STEP;
	if (now - rate->cut_at < RATE_CUT_NS)
		return;
	rate->cut_at = now;
	rate->rate -= rate->rate / RATE_CUT_PARTS;
	if (now - rate->target_at < TARGET_NS)
		return;
	rate->target_at = now;
	rate->target = had - had / RATE_CUT_PARTS;
}

static void tell_again(struct srdma_uc_rate *rate, u64 now)
{
	u64 apart = now - rate->told_at;

	if (rate->apart)
		rate->apart += apart / 4 - rate->apart / 4;
	else
		rate->apart = apart;
	if (rate->phase == SRDMA_UC_FALLS)
		fall_on(rate, now);
	else
		give_way(rate, now);
}

void srdma_uc_rate_told(struct srdma_uc_rate *rate, u64 now)
{
	if (rate->rate)
		grow(rate, now);
	if (rate->rate)
		tell_again(rate, now);
	else
		begin_to_fall(rate, now);
	rate->rate = max_t(u64, rate->rate, RATE_LEAST);
	rate->told_at = now;
	rate->grown_at = now;
}
