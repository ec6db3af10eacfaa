/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which of the functions of crc_fold.S suits a CPU. Host tests look at it, too.
 */
#ifndef SRDMA_X86_FOLD_CHOICE_H
#define SRDMA_X86_FOLD_CHOICE_H

#include <linux/types.h>

/* From the narrowest on: a CPU that can use one can use those before it. */
enum srdma_fold_width {
	SRDMA_FOLD_NONE,
	SRDMA_FOLD_128,
	SRDMA_FOLD_256,
	SRDMA_FOLD_512,
};

/**
 * struct srdma_fold_cpu - what matters of a CPU, and of the kernel on it
 * @pclmulqdq: carry-less multiplication
 * @avx: instructions with three operands, loads of 256 bits
 * @avx2: integers in 256 bits
 * @avx512f: integers in 512 bits
 * @vpclmulqdq: carry-less multiplication in these
 * @saves_ymm: the kernel saves and restores registers of 256 bits
 * @saves_zmm: and of 512
 * @slow_zmm: 512 bits lower the clock, for all that runs there
 */
struct srdma_fold_cpu {
	bool pclmulqdq;
	bool avx;
	bool avx2;
	bool avx512f;
	bool vpclmulqdq;
	bool saves_ymm;
	bool saves_zmm;
	bool slow_zmm;
};

/* The widest that this CPU can use and gains by. */
static inline enum srdma_fold_width
srdma_fold_choose(const struct srdma_fold_cpu *cpu)
{
	if (!cpu->pclmulqdq || !cpu->avx || !cpu->saves_ymm)
		return SRDMA_FOLD_NONE;
	if (!cpu->vpclmulqdq || !cpu->avx2)
		return SRDMA_FOLD_128;
	if (!cpu->avx512f || !cpu->saves_zmm || cpu->slow_zmm)
		return SRDMA_FOLD_256;
	return SRDMA_FOLD_512;
}

#endif
