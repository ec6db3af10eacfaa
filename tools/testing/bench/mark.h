/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An instruction that does nothing and that nobody else uses: nopl with a
 * displacement of our own.
 */
#ifndef SRDMA_BENCH_MARK_H
#define SRDMA_BENCH_MARK_H

#define MARK_BYTES	{ 0x0f, 0x1f, 0x80, 0x73, 0x72, 0x64, 0x6d }
#define MARK_ASM	".byte 0x0f, 0x1f, 0x80, 0x73, 0x72, 0x64, 0x6d"

#endif
