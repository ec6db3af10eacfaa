/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program that wants the two links of twin.h for the
 * whole of its life: made before the first test, removed after the last.
 */
#ifndef SRT_TWIN_FIXTURE_H
#define SRT_TWIN_FIXTURE_H

#include "../kselftest_harness.h"

#include "twin.h"

static void __attribute__((constructor)) twin_program_setup(void)
{
	int ret = twin_setup();

	if (!ret)
		return;
	printf("Bail out! no links to test on: %s\n", strerror(-ret));
	exit(1);
}

/* Runs in the program only: its forked tests leave by _exit(). */
static void __attribute__((destructor)) twin_program_teardown(void)
{
	twin_teardown();
}

#endif
