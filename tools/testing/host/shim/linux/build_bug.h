/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User-space stand-in for the kernel header of this name. */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#include <assert.h>

#undef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, #expr)
#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), #cond)

#endif
