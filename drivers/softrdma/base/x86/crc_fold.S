/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 (reflected 0x04c11db7) of 64 byte blocks by carry-less
 * multiplication, with or without copying them on the way.
 *
 * Four lanes of 16 bytes each hold a polynomial that is congruent to all that
 * their lane has seen. A step moves a lane 64 bytes on, that is multiplies it
 * by x^512: its two halves by x^(512+32) and x^(512-32) modulo the polynomial,
 * bit reversed and shifted by one as the reflected order wants it. At the end
 * the lanes are moved onto the last one, 16 bytes at a time; these 16 bytes are
 * reduced to 8, with 4 of zeroes behind them, then to 4 by Barrett's method.
 */
#include <linux/linkage.h>

.section .rodata.cst16.srdma_crc_fold, "aM", @progbits, 16
.balign 16
.Lby_64: .octa 0x00000001c6e415960000000154442bd4
.Lby_16: .octa 0x00000000ccaa009e00000001751997d0
.Lby_8: .octa 0x00000000000000000000000163cd6124
/* The polynomial, and x^64 divided by it */
.Lbarrett: .octa 0x00000001f701164100000001db710641
.Llow_32: .octa 0x000000000000000000000000ffffffff

.text

/* Multiplies %\lane by \by, a power of x. */
.macro shift_lane lane, by, scratch
	vpclmulqdq $0x00, \by, \lane, \scratch
	vpclmulqdq $0x11, \by, \lane, \lane
	vpxor \scratch, \lane, \lane
.endm

/* Adds the 64 bytes at \at to the lanes. */
.macro add_block at
	vpxor (\at), %xmm0, %xmm0
	vpxor 16(\at), %xmm1, %xmm1
	vpxor 32(\at), %xmm2, %xmm2
	vpxor 48(\at), %xmm3, %xmm3
.endm

.macro shift_lanes
	shift_lane %xmm0, %xmm10, %xmm4
	shift_lane %xmm1, %xmm10, %xmm5
	shift_lane %xmm2, %xmm10, %xmm6
	shift_lane %xmm3, %xmm10, %xmm7
.endm

/*
 * Copies 64 bytes and adds the copy: what goes out is what is summed up, even if
 * the source is being changed.
 */
.macro copy_block to, from, at
	vmovdqu (\from,\at), %ymm8
	vmovdqu 32(\from,\at), %ymm9
	vmovdqu %ymm8, (\to,\at)
	vmovdqu %ymm9, 32(\to,\at)
	vpxor (\to,\at), %xmm0, %xmm0
	vpxor 16(\to,\at), %xmm1, %xmm1
	vpxor 32(\to,\at), %xmm2, %xmm2
	vpxor 48(\to,\at), %xmm3, %xmm3
.endm

.macro join_lanes
	vmovdqa .Lby_16(%rip), %xmm10
	shift_lane %xmm0, %xmm10, %xmm4
	vpxor %xmm0, %xmm1, %xmm1
	shift_lane %xmm1, %xmm10, %xmm4
	vpxor %xmm1, %xmm2, %xmm2
	shift_lane %xmm2, %xmm10, %xmm4
	vpxor %xmm2, %xmm3, %xmm0
.endm

/* The sum of the 16 bytes in %xmm0, to %eax. */
.macro reduce
	vmovdqa .Llow_32(%rip), %xmm3
	/* The first 8 bytes onto the others */
	vpclmulqdq $0x10, %xmm10, %xmm0, %xmm1
	vpsrldq $8, %xmm0, %xmm0
	vpxor %xmm1, %xmm0, %xmm0
	/* The first 4 of 12 onto the others */
	vpsrldq $4, %xmm0, %xmm1
	vpand %xmm3, %xmm0, %xmm0
	vpclmulqdq $0x00, .Lby_8(%rip), %xmm0, %xmm0
	vpxor %xmm1, %xmm0, %xmm0
	/* 8 bytes less the multiple of the polynomial */
	vmovdqa .Lbarrett(%rip), %xmm2
	vpand %xmm3, %xmm0, %xmm1
	vpclmulqdq $0x10, %xmm2, %xmm1, %xmm1
	vpand %xmm3, %xmm1, %xmm1
	vpclmulqdq $0x00, %xmm2, %xmm1, %xmm1
	vpxor %xmm1, %xmm0, %xmm0
	vpextrd $1, %xmm0, %eax
.endm

.macro start_lanes
	vmovdqa .Lby_64(%rip), %xmm10
	vmovd %edi, %xmm0
	vpxor %xmm1, %xmm1, %xmm1
	vpxor %xmm2, %xmm2, %xmm2
	vpxor %xmm3, %xmm3, %xmm3
.endm

/*
 * u32 srdma_crc_fold(u32 crc, const void *p, size_t len)
 *
 * len is a multiple of 64 and not 0.
 */
SYM_FUNC_START(srdma_crc_fold)
	start_lanes
	add_block %rsi
.Lfold:
	sub $64, %rdx
	jz .Lfold_end
	add $64, %rsi
	shift_lanes
	add_block %rsi
	jmp .Lfold
.Lfold_end:
	join_lanes
	reduce
	vzeroupper
	RET
SYM_FUNC_END(srdma_crc_fold)

/*
 * u32 srdma_crc_fold_copy(u32 crc, const void *from, size_t len, void *to)
 *
 * Likewise.
 */
SYM_FUNC_START(srdma_crc_fold_copy)
	start_lanes
	/* Both from their ends, so that one register counts for all. */
	add %rdx, %rsi
	add %rdx, %rcx
	neg %rdx
	copy_block %rcx, %rsi, %rdx
	add $64, %rdx
	jz .Lcopy_end
.Lcopy:
	shift_lanes
	copy_block %rcx, %rsi, %rdx
	add $64, %rdx
	jnz .Lcopy
.Lcopy_end:
	join_lanes
	reduce
	vzeroupper
	RET
SYM_FUNC_END(srdma_crc_fold_copy)
