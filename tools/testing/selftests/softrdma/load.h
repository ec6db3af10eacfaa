/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A process that holds one of everything on a device, and what it sees. */
#ifndef SRT_LOAD_H
#define SRT_LOAD_H

#include <sys/types.h>

/**
 * struct load - a child process holding a device open
 * @pid: the child
 * @ready: reads a byte when it has one of everything
 * @go: a byte written here sends it on from waiting to its last acts
 */
struct load {
	pid_t pid;
	int ready;
	int go;
};

/* What a child does once it holds everything; its exit status tells. */
enum load_act {
	/* Wait for IBV_EVENT_DEVICE_FATAL, see verbs fail, destroy, exit 0. */
	LOAD_AWAIT_FATAL,
	/* The same, but leave everything to exit(). */
	LOAD_AWAIT_FATAL_AND_EXIT,
	/* Hold on until told to go, touch the rings, exit. */
	LOAD_HOLD,
};

/* Start it and wait until it holds everything. 0 or -errno. */
int load_start(struct load *load, const char *device, enum load_act act);

/* Send it on (LOAD_HOLD), wait for its end; its exit status, or -ETIMEDOUT. */
int load_finish(struct load *load, int timeout_ms);

#endif
