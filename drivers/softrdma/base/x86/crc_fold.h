/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whether the code of crc_fold.S can be used on this CPU.
 */
#ifndef SRDMA_X86_CRC_FOLD_H
#define SRDMA_X86_CRC_FOLD_H

#include <linux/linkage.h>
#include <linux/types.h>

/* It works on blocks of this many bytes. */
#define SRDMA_CRC_BLOCK		64

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

asmlinkage u32 srdma_crc_fold(u32 crc, const void *p, size_t len);
asmlinkage u32 srdma_crc_fold_copy(u32 crc, const void *from, size_t len,
				   void *to);

static inline bool srdma_fold_is_possible(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) &&
	       boot_cpu_has(X86_FEATURE_AVX) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

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

#else

/* Never called, since srdma_fold_begin() returns false. */
static inline u32 srdma_crc_fold(u32 crc, const void *p, size_t len)
{
	return crc;
}

static inline u32 srdma_crc_fold_copy(u32 crc, const void *from, size_t len,
				      void *to)
{
	return crc;
}

static inline bool srdma_fold_is_possible(void)
{
	return false;
}

static inline bool srdma_fold_begin(void)
{
	return false;
}

static inline void srdma_fold_end(void)
{
}

#endif

#endif
