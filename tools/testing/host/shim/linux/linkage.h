/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User-space stand-in for the kernel header of this name, for assembly. */
#ifndef SHIM_LINUX_LINKAGE_H
#define SHIM_LINUX_LINKAGE_H

#define SYM_FUNC_START(name)						\
	.globl name; .type name, @function; .balign 16; name:
#define SYM_FUNC_END(name)

#define RET	ret
#define ENDBR

#endif
