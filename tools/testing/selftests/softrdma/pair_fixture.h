/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program whose tests move data: each test runs
 * over every wire of pair.h.
 */
#ifndef SRT_PAIR_FIXTURE_H
#define SRT_PAIR_FIXTURE_H

#include "../kselftest_harness.h"

#include "pair.h"
#include "topo.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

static void __attribute__((constructor)) fixture_program_setup(void)
{
	int ret = pair_topology_setup();

	if (!ret)
		return;
	printf("Bail out! no links to test on: %s\n", strerror(-ret));
	exit(1);
}

/* Runs in the program only: its forked tests leave by _exit(). */
static void __attribute__((destructor)) fixture_program_teardown(void)
{
	pair_topology_teardown();
}

FIXTURE(pair)
{
	struct pair pair;
	struct pair_end *a;
	struct pair_end *b;
};

FIXTURE_VARIANT(pair)
{
	enum pair_wire wire;
};

FIXTURE_VARIANT_ADD(pair, loopback) { .wire = PAIR_LOOPBACK };

FIXTURE_VARIANT_ADD(pair, veth) { .wire = PAIR_VETH };

FIXTURE_SETUP(pair)
{
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	ASSERT_EQ(0, pair_open(&self->pair, variant->wire));
}

/* A test that frees all it made can close the rest; EBUSY would be a leak. */
FIXTURE_TEARDOWN(pair)
{
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	EXPECT_EQ(0, pair_close(&self->pair));
}

#endif
