/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 (reflected 0x04c11db7) by carry-less multiplication, with or without
 * copying on the way: in registers of 128, 256 and 512 bits.
 *
 * Four registers hold polynomials of 16 bytes, one to four of them each. The sum
 * of all, each moved on by as many bytes as follow it, is congruent to what was
 * seen. A step moves each one on by the four registers together, and adds as many
 * bytes. To move on by n bytes is to multiply by x^8n: the two halves by x^(8n+32)
 * and x^(8n-32) modulo the polynomial, bit reversed and shifted by one as the
 * reflected order wants it. At the end one register takes up the three before it,
 * then what is left in steps of one register, then its last 16 bytes the others
 * in it, then what is left in steps of 16 bytes, and the rest. These 16 bytes are
 * reduced to 8, with 4 of zeroes behind them, then to 4 by Barrett's method.
 *
 * A copying function reads each byte of the source once, or adds what it wrote:
 * what goes out is what is summed up, even if the source is being changed.
 *
 * All functions are
 *
 *	u32 srdma_crc_fold_*(u32 crc, const void *from, size_t len)
 *	u32 srdma_crc_fold_copy_*(u32 crc, const void *from, size_t len, void *to)
 *
 * where len is at least 16. Their addresses are taken (static_call()), so objtool wants
 * them to begin as what is called by a pointer does.
 */
#include <linux/linkage.h>

.section .rodata.srdma_crc_fold, "a", @progbits
.balign 64
/* What moves on by so many bytes. The first four are in this order for join_parts. */
.Lby_48: .octa 0x0000000174359406000000003db1ecdc
.Lby_32: .octa 0x000000015a54636600000000f1da05aa
.Lby_16: .octa 0x00000000ccaa009e00000001751997d0
.Lby_none: .octa 0
.Lby_64: .octa 0x00000001c6e415960000000154442bd4
#ifndef SRDMA_NO_WIDE_FOLD
.Lby_96: .octa 0x000000018cb44e5800000000df068dc2
.Lby_128: .octa 0x000000014a7fe88000000001e88ef372
.Lby_192: .octa 0x000000012e958ac400000001821d8bc0
.Lby_256: .octa 0x00000001322d1430000000011542778a
#endif
/* x^95 divided by the polynomial, and the polynomial */
.Lbarrett: .octa 0x00000001db710641b4e5b025f7011641
/*
 * For vpshufb: 16 bytes from n bytes on move a register's bytes 16 - n up, those
 * from 16 + n on move them n down.
 */
.Lslide:
	.octa 0xffffffffffffffffffffffffffffffff
	.octa 0x0f0e0d0c0b0a09080706050403020100
	.octa 0xffffffffffffffffffffffffffffffff

.text

/* Moves %\reg on by what \by says. */
.macro move_on reg, by, scratch
	vpclmulqdq $0x00, \by, \reg, \scratch
	vpclmulqdq $0x11, \by, \reg, \reg
	vpxor \scratch, \reg, \reg
.endm

/* Sets %eax to the bytes behind the last whole one of \size, %rdx to the others. */
.macro split_len size
	mov %edx, %eax
	and $(\size - 1), %eax
	sub %rax, %rdx
.endm

/* Adds the 16 bytes at %rsi to %xmm0, copied to %rcx or not, and leaves them behind. */
.macro add_16 copy
.if \copy
	vmovdqu (%rsi), %xmm1
	vmovdqu %xmm1, (%rcx)
	add $16, %rcx
	vpxor %xmm1, %xmm0, %xmm0
.else
	vpxor (%rsi), %xmm0, %xmm0
.endif
	add $16, %rsi
.endm

/* If %eax has the bit \size, writes so many bytes of %xmm5 by \store. */
.macro write_if size, store:vararg
	test $\size, %al
	jz .Lnot_\@
	\store
	add $\size, %rcx
	vpsrldq $\size, %xmm5, %xmm5
.Lnot_\@:
.endm

/*
 * Moves %xmm0 on by %eax bytes, fewer than 16, and adds those at %rsi. 16 bytes
 * are read, up to their end; what is too early of these is not used.
 */
.macro add_rest copy
	lea .Lslide(%rip), %rdx
	vmovdqu -16(%rsi,%rax), %xmm1
	vmovdqu (%rdx,%rax), %xmm2
	vmovdqu 16(%rdx,%rax), %xmm3
.if \copy
	sub %rax, %rdx
	vmovdqu 32(%rdx), %xmm5
	vpshufb %xmm5, %xmm1, %xmm5
	write_if 8, vmovq %xmm5, (%rcx)
	write_if 4, vmovd %xmm5, (%rcx)
	write_if 2, vpextrw $0, %xmm5, (%rcx)
	write_if 1, vpextrb $0, %xmm5, (%rcx)
.endif
	/* The last of 16 + %eax bytes, then those in front of them */
	vpshufb %xmm3, %xmm0, %xmm4
	vpblendvb %xmm3, %xmm1, %xmm4, %xmm4
	vpshufb %xmm2, %xmm0, %xmm0
	move_on %xmm0, %xmm10, %xmm5
	vpxor %xmm4, %xmm0, %xmm0
.endm

/* Fewer than 64 bytes at %rsi, %eax of them. */
.macro add_tail copy
	mov %eax, %edx
	and $15, %eax
	sub %eax, %edx
	jz .Ltail_rest_\@
.Ltail_\@:
	move_on %xmm0, %xmm10, %xmm4
	add_16 \copy
	sub $16, %edx
	jnz .Ltail_\@
.Ltail_rest_\@:
	test %eax, %eax
	jz .Ltail_end_\@
	add_rest \copy
.Ltail_end_\@:
.endm

/* The sum of the 16 bytes in %xmm0, to %eax; %xmm10 moves on by 16. */
.macro reduce
	/* The first 8 bytes onto the others, and 4 of zeroes behind them */
	vpclmulqdq $0x10, %xmm10, %xmm0, %xmm1
	vpsrldq $8, %xmm0, %xmm0
	vpxor %xmm1, %xmm0, %xmm0
	/* 12 bytes less the multiple of the polynomial */
	vmovdqa .Lbarrett(%rip), %xmm2
	vpclmulqdq $0x00, %xmm2, %xmm0, %xmm1
	vpclmulqdq $0x10, %xmm2, %xmm1, %xmm1
	vpxor %xmm1, %xmm0, %xmm0
	vpextrd $2, %xmm0, %eax
.endm

/* 128 bits: all that PCLMULQDQ and AVX need. */

/* Adds 64 bytes. By 32 bytes they take fewer instructions to copy. */
.macro add_64 copy
.if \copy
	vmovdqu (%rsi,%rdx), %ymm8
	vmovdqu 32(%rsi,%rdx), %ymm9
	vmovdqu %ymm8, (%rcx,%rdx)
	vmovdqu %ymm9, 32(%rcx,%rdx)
	vpxor (%rcx,%rdx), %xmm0, %xmm0
	vpxor 16(%rcx,%rdx), %xmm1, %xmm1
	vpxor 32(%rcx,%rdx), %xmm2, %xmm2
	vpxor 48(%rcx,%rdx), %xmm3, %xmm3
.else
	vpxor (%rsi,%rdx), %xmm0, %xmm0
	vpxor 16(%rsi,%rdx), %xmm1, %xmm1
	vpxor 32(%rsi,%rdx), %xmm2, %xmm2
	vpxor 48(%rsi,%rdx), %xmm3, %xmm3
.endif
.endm

/* From their ends, so that one register counts for all. */
.macro go_to_ends copy
	add %rdx, %rsi
.if \copy
	add %rdx, %rcx
.endif
	neg %rdx
.endm

/* For what is shorter than one step of a function: %eax bytes, 16 at least. */
.macro add_few copy
	vmovd %edi, %xmm0
	add_16 \copy
	sub $16, %eax
	vmovdqa .Lby_16(%rip), %xmm10
.endm

.macro fold_128 copy
	split_len 64
	jz .Lfew_\@
	go_to_ends \copy
	vmovdqa .Lby_64(%rip), %xmm10
	vmovd %edi, %xmm0
	vpxor %xmm1, %xmm1, %xmm1
	vpxor %xmm2, %xmm2, %xmm2
	vpxor %xmm3, %xmm3, %xmm3
	add_64 \copy
	add $64, %rdx
	jz .Ljoin_\@
.Lstep_\@:
	move_on %xmm0, %xmm10, %xmm4
	move_on %xmm1, %xmm10, %xmm5
	move_on %xmm2, %xmm10, %xmm6
	move_on %xmm3, %xmm10, %xmm7
	add_64 \copy
	add $64, %rdx
	jnz .Lstep_\@
.Ljoin_\@:
	vmovdqa .Lby_16(%rip), %xmm10
	move_on %xmm0, %xmm10, %xmm4
	vpxor %xmm0, %xmm1, %xmm1
	move_on %xmm1, %xmm10, %xmm4
	vpxor %xmm1, %xmm2, %xmm2
	move_on %xmm2, %xmm10, %xmm4
	vpxor %xmm2, %xmm3, %xmm0
	test %eax, %eax
	jnz .Lrest_\@
.Lreduce_\@:
	reduce
	vzeroupper
	RET
.Lfew_\@:
	add_few \copy
.Lrest_\@:
	add_tail \copy
	jmp .Lreduce_\@
.endm

SYM_FUNC_START(srdma_crc_fold_128)
	ENDBR
	fold_128 0
SYM_FUNC_END(srdma_crc_fold_128)

SYM_FUNC_START(srdma_crc_fold_copy_128)
	ENDBR
	fold_128 1
SYM_FUNC_END(srdma_crc_fold_copy_128)

#ifndef SRDMA_NO_WIDE_FOLD

/*
 * Wider ones, which need VPCLMULQDQ and AVX2, or AVX512F: registers of \size bytes,
 * which are called \w, y or z. Register 3 has what is first, 0 what is last.
 */

.macro load_by w, by, reg
.ifc \w, y
	vbroadcasti128 \by(%rip), \reg
.else
	vbroadcasti32x4 \by(%rip), \reg
.endif
.endm

/* \to += \a + \b */
.macro add_both w, a, b, to
.ifc \w, y
	vpxor \a, \b, \b
	vpxor \b, \to, \to
.else
	vpternlogq $0x96, \a, \b, \to
.endif
.endm

/* Sets \reg to what is \off bytes behind %rsi, copied or not. */
.macro take w, off, reg, copy
.ifc \w, y
	vmovdqu \off(%rsi), \reg
.if \copy
	vmovdqu \reg, \off(%rcx)
.endif
.else
	vmovdqu64 \off(%rsi), \reg
.if \copy
	vmovdqu64 \reg, \off(%rcx)
.endif
.endif
.endm

/* The first bytes, with the sum before them. */
.macro take_first w, reg, copy
	take \w, 0, \reg, \copy
	vmovd %edi, %xmm7
.ifc \w, y
	vpxor %ymm7, \reg, \reg
.else
	vpxorq %zmm7, \reg, \reg
.endif
.endm

.macro leave_behind bytes, copy
	add $(\bytes), %rsi
.if \copy
	add $(\bytes), %rcx
.endif
.endm

/* \to += \reg, moved on; \reg is lost. */
.macro move_onto w, reg, by, to, scratch
	vpclmulqdq $0x00, \by, \reg, \scratch
	vpclmulqdq $0x11, \by, \reg, \reg
	add_both \w, \scratch, \reg, \to
.endm

/* \reg = what is \off bytes behind %rsi, + \reg, moved on. */
.macro step_reg w, off, reg, by, copy, scratch1, scratch2
	vpclmulqdq $0x00, \by, \reg, \scratch1
	vpclmulqdq $0x11, \by, \reg, \scratch2
	take \w, \off, \reg, \copy
	add_both \w, \scratch1, \scratch2, \reg
.endm

/* Moves the parts of register 0 onto its last 16 bytes, in %xmm0. */
.macro join_parts w
	vmovdqa .Lby_16(%rip), %xmm10
.ifc \w, y
	vextracti128 $1, %ymm0, %xmm1
	move_on %xmm0, %xmm10, %xmm4
	vpxor %xmm1, %xmm0, %xmm0
.else
	vmovdqa64 .Lby_48(%rip), %zmm4
	vextracti32x4 $3, %zmm0, %xmm1
	vpclmulqdq $0x00, %zmm4, %zmm0, %zmm2
	vpclmulqdq $0x11, %zmm4, %zmm0, %zmm0
	vpxorq %zmm2, %zmm0, %zmm0
	vextracti64x4 $1, %zmm0, %ymm2
	vpxor %ymm2, %ymm0, %ymm0
	vextracti128 $1, %ymm0, %xmm2
	vpxor %xmm2, %xmm1, %xmm1
	vpxor %xmm1, %xmm0, %xmm0
.endif
.endm

.macro fold_wide w, size, copy, by_1, by_2, by_3, by_4
	split_len \size
	jz .Lfew_\@
	sub $(4 * \size), %rdx
	jb .Lshort_\@
	load_by \w, \by_4, %\w\()mm10
	take_first \w, %\w\()mm3, \copy
	take \w, \size, %\w\()mm2, \copy
	take \w, 2*\size, %\w\()mm1, \copy
	take \w, 3*\size, %\w\()mm0, \copy
	leave_behind 4*\size, \copy
	sub $(4 * \size), %rdx
	jb .Ljoin_\@
.Lstep_\@:
	step_reg \w, 0, %\w\()mm3, %\w\()mm10, \copy, %\w\()mm4, %\w\()mm5
	step_reg \w, \size, %\w\()mm2, %\w\()mm10, \copy, %\w\()mm6, %\w\()mm7
	step_reg \w, 2*\size, %\w\()mm1, %\w\()mm10, \copy, %\w\()mm8, %\w\()mm9
	step_reg \w, 3*\size, %\w\()mm0, %\w\()mm10, \copy, %\w\()mm11, %\w\()mm12
	leave_behind 4*\size, \copy
	sub $(4 * \size), %rdx
	jae .Lstep_\@
.Ljoin_\@:
	load_by \w, \by_3, %\w\()mm11
	load_by \w, \by_2, %\w\()mm12
	load_by \w, \by_1, %\w\()mm10
	move_onto \w, %\w\()mm3, %\w\()mm11, %\w\()mm0, %\w\()mm4
	move_onto \w, %\w\()mm2, %\w\()mm12, %\w\()mm0, %\w\()mm5
	move_onto \w, %\w\()mm1, %\w\()mm10, %\w\()mm0, %\w\()mm6
	add $(4 * \size), %rdx
	jz .Lparts_\@
.Lone_\@:
	step_reg \w, 0, %\w\()mm0, %\w\()mm10, \copy, %\w\()mm4, %\w\()mm5
	leave_behind \size, \copy
	sub $\size, %rdx
	jnz .Lone_\@
.Lparts_\@:
	join_parts \w
	test %eax, %eax
	jnz .Lrest_\@
.Lreduce_\@:
	reduce
	vzeroupper
	RET
.Lshort_\@:
	load_by \w, \by_1, %\w\()mm10
	take_first \w, %\w\()mm0, \copy
	leave_behind \size, \copy
	add $(3 * \size), %rdx
	jnz .Lone_\@
	jmp .Lparts_\@
.Lfew_\@:
	add_few \copy
.Lrest_\@:
	add_tail \copy
	jmp .Lreduce_\@
.endm

SYM_FUNC_START(srdma_crc_fold_256)
	ENDBR
	fold_wide y, 32, 0, .Lby_32, .Lby_64, .Lby_96, .Lby_128
SYM_FUNC_END(srdma_crc_fold_256)

SYM_FUNC_START(srdma_crc_fold_copy_256)
	ENDBR
	fold_wide y, 32, 1, .Lby_32, .Lby_64, .Lby_96, .Lby_128
SYM_FUNC_END(srdma_crc_fold_copy_256)

SYM_FUNC_START(srdma_crc_fold_512)
	ENDBR
	fold_wide z, 64, 0, .Lby_64, .Lby_128, .Lby_192, .Lby_256
SYM_FUNC_END(srdma_crc_fold_512)

SYM_FUNC_START(srdma_crc_fold_copy_512)
	ENDBR
	fold_wide z, 64, 1, .Lby_64, .Lby_128, .Lby_192, .Lby_256
SYM_FUNC_END(srdma_crc_fold_copy_512)

#endif
