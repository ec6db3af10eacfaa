// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of effects on a device: what was asked for last is what remains.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "objects/device.h"
#include "objects/effects.h"

#define DOWN	BIT(0)
#define UP	SRDMA_EFFECT_UP
#define FATAL	BIT(SRDMA_NL_ACT_DEVICE_FATAL - SRDMA_NL_ACT_PORT_DOWN)

/* In its place runs nobody: so all that is caused waits together. */
static void do_nothing(struct work_struct *work)
{
}

static int effects_init(struct kunit *test)
{
	struct srdma_dev *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	spin_lock_init(&dev->effects.lock);
	INIT_WORK(&dev->effects.work, do_nothing);
	test->priv = dev;
	return 0;
}

static void effects_exit(struct kunit *test)
{
	struct srdma_dev *dev = test->priv;

	if (dev)
		cancel_work_sync(&dev->effects.work);
}

static void cause(struct kunit *test, u8 action, u64 time)
{
	struct srdma_order order = { .action = action, .time = time };

	KUNIT_EXPECT_TRUE(test,
			  srdma_effects_cause(test->priv, NULL, false, &order));
}

static void expect(struct kunit *test, unsigned long due, u64 down_for)
{
	struct srdma_dev *dev = test->priv;

	KUNIT_EXPECT_EQ(test, dev->effects.due, due);
	KUNIT_EXPECT_EQ(test, dev->effects.down_for, down_for);
}

static void effects__down_and_up(struct kunit *test)
{
	cause(test, SRDMA_NL_ACT_PORT_DOWN, 0);
	cause(test, SRDMA_NL_ACT_PORT_UP, 0);
	expect(test, DOWN | UP, 0);
}

static void effects__up_and_down(struct kunit *test)
{
	cause(test, SRDMA_NL_ACT_PORT_DOWN, 7);
	cause(test, SRDMA_NL_ACT_PORT_UP, 0);
	cause(test, SRDMA_NL_ACT_PORT_DOWN, 5);
	expect(test, DOWN, 5);
}

static void effects__up_and_fatal(struct kunit *test)
{
	cause(test, SRDMA_NL_ACT_PORT_UP, 0);
	cause(test, SRDMA_NL_ACT_DEVICE_FATAL, 0);
	expect(test, FATAL, 0);
	cause(test, SRDMA_NL_ACT_PORT_UP, 0);
	expect(test, FATAL | UP, 0);
}

/* What is fatal has no end of its own, unless the port is to go down again. */
static void effects__how_long(struct kunit *test)
{
	cause(test, SRDMA_NL_ACT_PORT_DOWN, 5);
	cause(test, SRDMA_NL_ACT_DEVICE_FATAL, 0);
	expect(test, DOWN | FATAL, 0);
	cause(test, SRDMA_NL_ACT_PORT_DOWN, 9);
	expect(test, DOWN | FATAL, 9);
}

static struct kunit_case effects_cases[] = {
	KUNIT_CASE(effects__down_and_up),
	KUNIT_CASE(effects__up_and_down),
	KUNIT_CASE(effects__up_and_fatal),
	KUNIT_CASE(effects__how_long),
	{}
};

static struct kunit_suite effects_suite = {
	.name = "srdma_effects",
	.init = effects_init,
	.exit = effects_exit,
	.test_cases = effects_cases,
};

kunit_test_suite(effects_suite);
