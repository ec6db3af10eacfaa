/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Running what program.h has set up.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim.h"

/* Runs it to its end and checks what must hold then. */
void run_all(struct sim *s);

#endif
