// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * planted: one bug of each kind that the debug kernel is there to find, so that
 * a test can see whether it finds them. Loading it does what the parameter says
 * and refuses to load, so that it can be loaded again.
 */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

/* As tools/testing/uml/run expects. */
#define LEAKED	400

/* Objects among these that a stale pointer refers to. */
#define STALE	20

static char *what = "";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "name of a bug");

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);
static DEFINE_SPINLOCK(spin);
static int __rcu *guarded;
static int table[8];

/* What is only ever stored here the compiler must really compute. */
static volatile int sink;

static void plant_none(void)
{
}

static void plant_leak(void)
{
	int i;

	for (i = 0; i < LEAKED; i++)
		sink = !kmalloc(100, GFP_KERNEL);
}

/*
 * The same behind the back of a cache whose objects had been there before: it
 * remembers where they were, if it keeps arrays of free objects. It stays, for
 * that: load this once.
 */
static void plant_leak_in_recycled_pages(void)
{
	static void *objects[2 * LEAKED];
	struct kmem_cache *cache;
	int i;

	cache = kmem_cache_create("planted", 128, 0, SLAB_NO_MERGE, NULL);
	if (!cache)
		return;
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		if (objects[i])
			kmem_cache_free(cache, objects[i]);
	}
	memset(objects, 0, sizeof(objects));
	kmem_cache_shrink(cache);
	plant_leak();
}

/*
 * The same between objects to which stale pointers refer: what these hold, of when
 * they were free, must not hide their neighbours.
 */
static void plant_leak_behind_stale_pointers(void)
{
	void **stale = kcalloc(STALE, sizeof(*stale), GFP_KERNEL);
	int i, leaked = 0;

	if (!stale)
		return;
	kmemleak_not_leak(stale);
	for (i = 0; i < STALE; i++) {
		stale[i] = kmalloc(100, GFP_KERNEL);
		for (; leaked < LEAKED * (i + 1) / STALE; leaked++)
			sink = !kmalloc(100, GFP_KERNEL);
	}
}

static void plant_use_after_free(void)
{
	int *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	sink = *(volatile int *)p;
}

static void plant_vmalloc_overrun(void)
{
	char *p = vmalloc(PAGE_SIZE - 16);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	sink = *(volatile char *)(p + PAGE_SIZE - 16);
	vfree(p);
}

static void plant_bad_index(void)
{
	unsigned int i = ARRAY_SIZE(table);

	OPTIMIZER_HIDE_VAR(i);
	sink = table[i];
}

static void plant_bad_shift(void)
{
	unsigned int by = 40;

	OPTIMIZER_HIDE_VAR(by);
	sink = 1 << by;
}

static void plant_lock_inversion(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);

	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static void plant_sleep_in_atomic(void)
{
	spin_lock(&spin);
	kfree(kmalloc(64, GFP_KERNEL));
	spin_unlock(&spin);
}

static void plant_rcu_misuse(void)
{
	sink = !rcu_dereference(guarded);
}

static void no_timeout(struct timer_list *timer)
{
}

static void plant_free_active_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, no_timeout, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static const struct {
	const char *name;
	void (*plant)(void);
} bugs[] = {
	{ "none", plant_none },
	{ "leak", plant_leak },
	{ "leak_in_recycled_pages", plant_leak_in_recycled_pages },
	{ "leak_behind_stale_pointers", plant_leak_behind_stale_pointers },
	{ "use_after_free", plant_use_after_free },
	{ "vmalloc_overrun", plant_vmalloc_overrun },
	{ "bad_index", plant_bad_index },
	{ "bad_shift", plant_bad_shift },
	{ "lock_inversion", plant_lock_inversion },
	{ "sleep_in_atomic", plant_sleep_in_atomic },
	{ "rcu_misuse", plant_rcu_misuse },
	{ "free_active_timer", plant_free_active_timer },
};

static int __init planted_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (strcmp(what, bugs[i].name))
			continue;
		pr_info("planted: %s\n", what);
		bugs[i].plant();
		return -ECANCELED;
	}
	return -EINVAL;
}
module_init(planted_init);

MODULE_DESCRIPTION("Bugs on request");
MODULE_LICENSE("Dual BSD/GPL");
