/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The module's vector code where it can be assembled, else nothing.
 */
#ifdef __x86_64__
#include "base/x86/crc_fold.S"

.section .note.GNU-stack, "", @progbits
#endif
