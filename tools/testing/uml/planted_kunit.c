// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* planted_kunit: a KUnit test that fails. Such tests run as a module is loaded. */
#include <kunit/test.h>
#include <linux/module.h>

static void planted__fails(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(planted__fails),
	{},
};

static struct kunit_suite suite = {
	.name = "planted",
	.test_cases = cases,
};
kunit_test_suite(suite);

MODULE_DESCRIPTION("A test that fails");
MODULE_LICENSE("Dual BSD/GPL");
