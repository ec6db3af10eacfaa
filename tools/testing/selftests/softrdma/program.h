/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Programs, started without a shell where none is needed: on an emulated machine it
 * takes about as long to start as what it starts.
 */
#ifndef SRT_PROGRAM_H
#define SRT_PROGRAM_H

#include <sys/types.h>

/*
 * Starts a program with words that have blanks between them; or a shell, if there is
 * anything in them that only a shell understands. @in is its standard input; @out, its
 * output and what it complains about. -1: those of the caller. Returns the process, or
 * -1.
 */
pid_t program_start(const char *command, int in, int out);

/* Waits for its end: its exit status, or 255. */
int program_wait(pid_t pid);

/* Runs it, and keeps what it says, as far as there is room. Its exit status, or 255. */
int program_says(char *said, int room, const char *command);

#endif
