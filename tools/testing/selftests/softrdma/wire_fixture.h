/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program that speaks in frames: the link on a tap, for
 * the whole of its life.
 *
 *	test program				softrdma
 *	frames <--> tap descriptor | srtw0 (tap) <-- srt0
 *	10.77.0.2, fd77::2		10.77.0.1, fd77::1
 *
 * A program whose tap shall be another one defines WIRE_SETUP before.
 */
#ifndef SRT_WIRE_FIXTURE_H
#define SRT_WIRE_FIXTURE_H

#include "../kselftest_harness.h"

#include "counters.h"
#include "topo.h"
#include "verbs.h"
#include "wire.h"

#ifndef WIRE_SETUP
#define WIRE_SETUP wire_setup
#endif

/* The harness kills a test after 30 s, which an emulated machine may need. */
#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

static void __attribute__((constructor)) wire_program_setup(void)
{
	int ret = WIRE_SETUP();

	if (!ret)
		return;
	printf("Bail out! no link to test on: %s\n", strerror(-ret));
	exit(1);
}

/* Runs in the program only: its forked tests leave by _exit(). */
static void __attribute__((destructor)) wire_program_teardown(void)
{
	wire_teardown();
}

#endif
