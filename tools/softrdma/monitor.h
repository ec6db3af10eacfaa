/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * softrdma monitor: what happens, as it happens.
 */
#ifndef MONITOR_H
#define MONITOR_H

int monitor_command(int argc, char **argv);
void monitor_help(void);

#endif
