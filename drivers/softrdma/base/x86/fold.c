// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which functions of crc_fold.S this CPU can use, and which are in use.
 */
#include <linux/init.h>
#include <linux/linkage.h>
#include <linux/static_call.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#include "base/x86/crc_fold.h"

/* Wider ones are there if the assembler knows their instructions (Kbuild). */
#ifdef SRDMA_NO_WIDE_FOLD
#define HAVE_WIDE	false
#else
#define HAVE_WIDE	true
#endif

#define DECLARE_FOLD(bits)						\
asmlinkage u32 srdma_crc_fold_##bits(u32 crc, const void *p, size_t len); \
asmlinkage u32 srdma_crc_fold_copy_##bits(u32 crc, const void *from,	\
					  size_t len, void *to)

DECLARE_FOLD(256);
DECLARE_FOLD(512);

/* Wrong sums, and no copies, until srdma_fold_use() is called. */
DEFINE_STATIC_CALL_RET0(srdma_fold_sum, srdma_crc_fold_128);
DEFINE_STATIC_CALL_RET0(srdma_fold_copying, srdma_crc_fold_copy_128);

/*
 * Newer kernels know the CPUs. Of those that have VPCLMULQDQ, the first generations
 * lower their clock, and these have no AVX512_BF16.
 */
static bool __init is_slow_by_512(void)
{
#ifdef X86_FEATURE_PREFER_YMM
	return boot_cpu_has(X86_FEATURE_PREFER_YMM);
#else
	return !boot_cpu_has(X86_FEATURE_AVX512_BF16);
#endif
}

/* The widest of crc_fold.S that suits this CPU. */
enum srdma_fold_width __init srdma_fold_widest(void)
{
	const u64 ymm = XFEATURE_MASK_SSE | XFEATURE_MASK_YMM;
	const struct srdma_fold_cpu cpu = {
		.pclmulqdq = boot_cpu_has(X86_FEATURE_PCLMULQDQ),
		.avx = boot_cpu_has(X86_FEATURE_AVX),
		.avx2 = boot_cpu_has(X86_FEATURE_AVX2),
		.avx512f = boot_cpu_has(X86_FEATURE_AVX512F),
		.vpclmulqdq = HAVE_WIDE && boot_cpu_has(X86_FEATURE_VPCLMULQDQ),
		.saves_ymm = cpu_has_xfeatures(ymm, NULL),
		.saves_zmm = cpu_has_xfeatures(ymm | XFEATURE_MASK_AVX512, NULL),
		.slow_zmm = is_slow_by_512(),
	};

	return srdma_fold_choose(&cpu);
}

#define USE_FOLD(bits)							\
do {									\
	static_call_update(srdma_fold_sum, srdma_crc_fold_##bits);	\
	static_call_update(srdma_fold_copying, srdma_crc_fold_copy_##bits); \
} while (0)

/**
 * srdma_fold_use - choose what srdma_fold() and srdma_fold_copy() are
 * @width: not above srdma_fold_widest()
 */
void __init srdma_fold_use(enum srdma_fold_width width)
{
	switch (width) {
	case SRDMA_FOLD_NONE:
		return;
	case SRDMA_FOLD_128:
		USE_FOLD(128);
		return;
	case SRDMA_FOLD_256:
		if (HAVE_WIDE)
			USE_FOLD(256);
		return;
	case SRDMA_FOLD_512:
		if (HAVE_WIDE)
			USE_FOLD(512);
		return;
	}
}
