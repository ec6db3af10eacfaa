/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The counters of a link, as "rdma statistic" shows them. */
#ifndef SRT_COUNTERS_H
#define SRT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS_MAX 256

/**
 * struct counters - all counters at one moment
 * @count: how many there are
 * @name: their names
 * @value: their values
 */
struct counters {
	int count;
	char name[COUNTERS_MAX][64];
	uint64_t value[COUNTERS_MAX];
};

/* From now on, those of this link. It is TOPO_LINK otherwise. */
void counters_use(const char *link);

/*
 * By netlink: what sysfs shows is up to some ticks old. 0 or -errno.
 */
int counters_read(struct counters *counters);

/* The value now, or -errno. */
int64_t counters_get(const char *name);

/*
 * Those that adapters have as well: the folder ports/1/counters of sysfs, of a link whose
 * interface is in the caller's namespace. A descriptor or -errno.
 */
int counters_open_folder(const char *link);

/* What a file in it says, or -errno. */
int64_t counters_get_file(int folder, const char *name);

/* Does it get to this value, within 20 s, and no further? */
bool counters_reach(const char *name, int64_t value);

#endif
