/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The command "errors".
 */
#ifndef ERRORS_H
#define ERRORS_H

void errors_help(void);
int errors_codes(int argc, char **argv);
int errors_command(int argc, char **argv);

#endif
