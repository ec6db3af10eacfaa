/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Many connections that share a slow line. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include <stdbool.h>

/* Prints how they share it; false if that is worse than it was. */
bool run_crowds(void);

/* The same of unreliable connections. */
bool run_unreliable_crowds(void);

#endif
