/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The code of crc_fold.S, as wide as it suits this CPU.
 */
#ifndef SRDMA_X86_CRC_FOLD_H
#define SRDMA_X86_CRC_FOLD_H

#include <linux/types.h>

#include "base/x86/fold_choice.h"

/* It takes no fewer bytes than this. */
#define SRDMA_FOLD_MIN		16

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

#include <linux/linkage.h>
#include <linux/static_call.h>
#include <asm/fpu/api.h>

asmlinkage u32 srdma_crc_fold_128(u32 crc, const void *p, size_t len);
asmlinkage u32 srdma_crc_fold_copy_128(u32 crc, const void *from, size_t len,
				       void *to);

DECLARE_STATIC_CALL(srdma_fold_sum, srdma_crc_fold_128);
DECLARE_STATIC_CALL(srdma_fold_copying, srdma_crc_fold_copy_128);

enum srdma_fold_width srdma_fold_widest(void);
void srdma_fold_use(enum srdma_fold_width width);

/* Takes the vector registers, unless whom we interrupted has them. */
static inline bool srdma_fold_begin(void)
{
	if (!irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

static inline void srdma_fold_end(void)
{
	kernel_fpu_end();
}

/* Between these two, and after srdma_fold_use(); SRDMA_FOLD_MIN bytes or more. */
static inline u32 srdma_fold(u32 crc, const void *p, size_t len)
{
	return static_call(srdma_fold_sum)(crc, p, len);
}

static inline u32 srdma_fold_copy(u32 crc, const void *from, size_t len,
				  void *to)
{
	return static_call(srdma_fold_copying)(crc, from, len, to);
}

#else

static inline enum srdma_fold_width srdma_fold_widest(void)
{
	return SRDMA_FOLD_NONE;
}

static inline void srdma_fold_use(enum srdma_fold_width width)
{
}

static inline bool srdma_fold_begin(void)
{
	return false;
}

static inline void srdma_fold_end(void)
{
}

/* Never called, since srdma_fold_begin() returns false. */
static inline u32 srdma_fold(u32 crc, const void *p, size_t len)
{
	return crc;
}

static inline u32 srdma_fold_copy(u32 crc, const void *from, size_t len,
				  void *to)
{
	return crc;
}

#endif

#endif
