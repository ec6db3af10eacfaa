/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User-space stand-in for the kernel header of this name. */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#define min(a, b) ({			\
	__typeof__(a) min_a_ = (a);	\
	__typeof__(b) min_b_ = (b);	\
	(void)(&min_a_ == &min_b_);	\
	min_a_ < min_b_ ? min_a_ : min_b_; })
#define max(a, b) ({			\
	__typeof__(a) max_a_ = (a);	\
	__typeof__(b) max_b_ = (b);	\
	(void)(&max_a_ == &max_b_);	\
	max_a_ > max_b_ ? max_a_ : max_b_; })
#define min_t(t, a, b) ({		\
	t mint_a_ = (a);		\
	t mint_b_ = (b);		\
	mint_a_ < mint_b_ ? mint_a_ : mint_b_; })
#define max_t(t, a, b) ({		\
	t maxt_a_ = (a);		\
	t maxt_b_ = (b);		\
	maxt_a_ > maxt_b_ ? maxt_a_ : maxt_b_; })
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)

#endif
