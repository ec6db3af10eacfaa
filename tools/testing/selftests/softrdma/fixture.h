/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program that wants TOPO_LINK for the whole of its
 * life: made before the first test, removed after the last. Tests are forked
 * children of the program; each opens the device anew (fixture "dev").
 */
#ifndef SRT_FIXTURE_H
#define SRT_FIXTURE_H

#include "../kselftest_harness.h"

#include "topo.h"
#include "verbs.h"

/* The harness kills a test after 30 s, which an emulated machine may need. */
#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

static void __attribute__((constructor)) fixture_program_setup(void)
{
	int ret = topo_setup();

	if (!ret)
		return;
	printf("Bail out! no link to test on: %s\n", strerror(-ret));
	exit(1);
}

/* Runs in the program only: its forked tests leave by _exit(). */
static void __attribute__((destructor)) fixture_program_teardown(void)
{
	topo_teardown();
}

FIXTURE(dev)
{
	struct verbs_set set;
};

FIXTURE_SETUP(dev)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

/* A test that frees all it made can close the rest; EBUSY would be a leak. */
FIXTURE_TEARDOWN(dev)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

#endif
