/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only source of chance in the simulator: everything follows from the
 * seed, so that a failing run can be repeated.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <linux/types.h>

/**
 * struct rng - a stream of random numbers (splitmix64)
 * @s: state
 */
struct rng {
	u64 s;
};

static inline u64 rnd(struct rng *r)
{
	u64 z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* 0 .. @n - 1 */
static inline u32 rnd_below(struct rng *r, u32 n)
{
	return (u64)(u32)rnd(r) * n >> 32;
}

/* @lo .. @hi */
static inline u32 rnd_range(struct rng *r, u32 lo, u32 hi)
{
	return lo + rnd_below(r, hi - lo + 1);
}

/* True @n times out of 10000. */
static inline bool rnd_chance(struct rng *r, u32 n)
{
	return rnd_below(r, 10000) < n;
}

#define RND_PICK(r, ...)						\
	({								\
		static const u32 pick_[] = { __VA_ARGS__ };		\
		pick_[rnd_below(r, sizeof(pick_) / sizeof(pick_[0]))];	\
	})

#endif
