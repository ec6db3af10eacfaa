/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User-space stand-in for the kernel header of this name; libc includes the
 * system's one through <limits.h>, hence the include_next.
 */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U8_MAX		0xffu
#define U16_MAX		0xffffu
#define U32_MAX		0xffffffffu
#define S32_MAX		0x7fffffff
#define S32_MIN		(-S32_MAX - 1)
#define U64_MAX		0xffffffffffffffffull
#define S64_MAX		0x7fffffffffffffffll

#endif
