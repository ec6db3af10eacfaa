/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How the debug kernel's engines are made to stall (debug-kernel.rst). */
#ifndef SRT_KNOBS_H
#define SRT_KNOBS_H

#include <stdbool.h>

#define KNOBS		"/sys/kernel/debug/softrdma"

/* Has this kernel the knob, as "hold"? Mounts debugfs where it is not. */
bool knob_exists(const char *knob);

/* Always, or never. 0 or -errno. */
int knob_turn(const char *knob, bool on);

#endif
