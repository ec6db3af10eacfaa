// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How the debug kernel's engines are made to stall (debug-kernel.rst). */
#include "knobs.h"
#include "topo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

bool knob_exists(const char *knob)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), KNOBS "/%s", knob);
	if (stat(path, &st))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	return !stat(path, &st);
}

static int set(const char *knob, const char *file, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), KNOBS "/%s/%s", knob, file);
	return topo_put(path, value);
}

int knob_turn(const char *knob, bool on)
{
	return set(knob, "verbose", "0") ?: set(knob, "times", "-1") ?:
	       set(knob, "probability", on ? "100" : "0");
}
