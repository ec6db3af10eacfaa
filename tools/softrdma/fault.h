/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * softrdma fault: rules by which things go wrong.
 */
#ifndef FAULT_H
#define FAULT_H

int fault_command(int argc, char **argv);
void fault_help(void);

#endif
