// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * provoke: misbehave on request, so that a test can see whether it is noticed.
 * Loading it does what the parameter says; a module that did nothing bad
 * refuses to load, so that it can be loaded again.
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

static char *what = "";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "warn, oops or blocked");

static int __init provoke_init(void)
{
	int *nowhere = NULL;

	if (!strcmp(what, "warn")) {
		WARN(1, "provoked\n");
	} else if (!strcmp(what, "oops")) {
		/* Else the compiler sees it coming and leaves it out. */
		OPTIMIZER_HIDE_VAR(nowhere);
		*nowhere = 1;
	} else if (!strcmp(what, "blocked")) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_timeout(8 * HZ);
	}
	return -ECANCELED;
}
module_init(provoke_init);

MODULE_DESCRIPTION("Misbehaves on request");
MODULE_LICENSE("Dual BSD/GPL");
