// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of RDMA devices whose tests are run from user space, by
 * /dev/srt_consumer:
 *
 *	read		the names of the tests, one a line
 *	write		"TEST DEVICE DEVICE" runs one; succeeds if it passed, and
 *			else fails with EBADE, after which
 *	read		the reason
 *
 * During the tests called "removed__" the second device is to be removed.
 * "keep_rtnl MS -" takes the RTNL, and somebody keeps it, for so long at most and until
 * "keep_rtnl 0 -": others queue up for it. "keep_coming MS -" likewise keeps devices
 * from being registered to the end.
 *
 * One at a time; who opened it holds it.
 */
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "consumer.h"

static const struct test *const tables[] = {
	transfer_tests,
	frwr_tests,
	readwrite_tests,
	drain_tests,
	context_tests,
	event_tests,
	datagram_tests,
	/* The last, since the devices are gone then. */
	removal_tests,
};

/* Bit 0: somebody has it open; not a lock, its task may change. */
static unsigned long is_open;

/* What the next read gives. */
static char *answer;
#define ANSWER_BYTES	PAGE_SIZE

/**
 * struct seat - a device that we know of
 * @entry: in @seats
 * @dev: device
 * @is_going: it is to be let go of
 * @users: tests that use it, and one for being there
 * @unused: @users is 0
 */
struct seat {
	struct list_head entry;
	struct ib_device *dev;
	bool is_going;
	refcount_t users;
	struct completion unused;
};

static LIST_HEAD(seats);
static DEFINE_SPINLOCK(seats_lock);
static struct ib_client client;

/* How long a device that comes has to wait. */
static unsigned int coming_ms;
static DECLARE_WAIT_QUEUE_HEAD(coming);

static void seat_put(struct seat *seat)
{
	if (refcount_dec_and_test(&seat->users))
		complete(&seat->unused);
}

static struct seat *seat_get(const char *name)
{
	struct seat *seat, *found = NULL;

	spin_lock(&seats_lock);
	list_for_each_entry(seat, &seats, entry) {
		if (!strcmp(dev_name(&seat->dev->dev), name) &&
		    refcount_inc_not_zero(&seat->users)) {
			found = seat;
			break;
		}
	}
	spin_unlock(&seats_lock);
	return found;
}

static int device_came(struct ib_device *dev)
{
	struct seat *seat = kzalloc(sizeof(*seat), GFP_KERNEL);
	unsigned int ms = READ_ONCE(coming_ms);

	if (!seat)
		return -ENOMEM;
	if (ms)
		wait_event_timeout(coming, !READ_ONCE(coming_ms),
				   msecs_to_jiffies(ms));
	seat->dev = dev;
	refcount_set(&seat->users, 1);
	init_completion(&seat->unused);
	ib_set_client_data(dev, &client, seat);
	spin_lock(&seats_lock);
	list_add(&seat->entry, &seats);
	spin_unlock(&seats_lock);
	return 0;
}

static void device_goes(struct ib_device *dev, void *data)
{
	struct seat *seat = data;

	spin_lock(&seats_lock);
	list_del(&seat->entry);
	spin_unlock(&seats_lock);
	WRITE_ONCE(seat->is_going, true);
	seat_put(seat);
	wait_for_completion(&seat->unused);
	kfree(seat);
}

static struct ib_client client = {
	.name = "srt_consumer",
	.add = device_came,
	.remove = device_goes,
};

static const struct test *find_test(const char *name)
{
	const struct test *test;
	int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (test = tables[i]; test->name; test++)
			if (!strcmp(test->name, name))
				return test;
	return NULL;
}

static int run_on(const struct test *test, struct seat *a, struct seat *b)
{
	struct world *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int err;

	if (!w)
		return -ENOMEM;
	w->test = test;
	w->a.is_going = &a->is_going;
	w->b.is_going = &b->is_going;
	err = world_open(w, a->dev, b->dev) ?: test->run(w);
	world_close(w);
	/* The end of the world may have complained, too. */
	if (!err && w->why[0])
		err = -EBADE;
	strscpy(answer, w->why, ANSWER_BYTES);
	kfree(w);
	return err;
}

/* How long the RTNL is kept. */
static unsigned int rtnl_ms;
static DECLARE_WAIT_QUEUE_HEAD(rtnl_wanted);
static DECLARE_COMPLETION(rtnl_is_kept);

static void rtnl_keeper(struct work_struct *work)
{
	unsigned int ms = READ_ONCE(rtnl_ms);

	rtnl_lock();
	complete(&rtnl_is_kept);
	wait_event_timeout(rtnl_wanted, !READ_ONCE(rtnl_ms),
			   msecs_to_jiffies(ms));
	rtnl_unlock();
}

static DECLARE_WORK(rtnl_work, rtnl_keeper);

static int keep_rtnl(unsigned int ms)
{
	WRITE_ONCE(rtnl_ms, 0);
	wake_up_all(&rtnl_wanted);
	flush_work(&rtnl_work);
	if (!ms)
		return 0;
	WRITE_ONCE(rtnl_ms, ms);
	reinit_completion(&rtnl_is_kept);
	schedule_work(&rtnl_work);
	wait_for_completion(&rtnl_is_kept);
	return 0;
}

static int keep_coming(unsigned int ms)
{
	WRITE_ONCE(coming_ms, ms);
	wake_up_all(&coming);
	return 0;
}

/* Of commands that keep something: how long. */
static int keep(int (*what)(unsigned int ms), const char *time)
{
	unsigned int ms;

	if (kstrtouint(time, 10, &ms) || ms > 30000)
		return -EINVAL;
	return what(ms);
}

static int run_test(const char *name, const char *a_name, const char *b_name)
{
	const struct test *test = find_test(name);
	struct seat *a, *b;
	int err = -ENODEV;

	if (!strcmp(name, "keep_rtnl"))
		return keep(keep_rtnl, a_name);
	if (!strcmp(name, "keep_coming"))
		return keep(keep_coming, a_name);
	if (!test)
		return -ENOENT;
	a = seat_get(a_name);
	b = seat_get(b_name);
	if (a && b)
		err = run_on(test, a, b);
	if (a)
		seat_put(a);
	if (b)
		seat_put(b);
	return err;
}

static void list_tests(void)
{
	const struct test *test;
	size_t at = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (test = tables[i]; test->name; test++)
			at += scnprintf(answer + at, ANSWER_BYTES - at, "%s\n",
					test->name);
}

static int consumer_open(struct inode *inode, struct file *file)
{
	if (test_and_set_bit(0, &is_open))
		return -EBUSY;
	list_tests();
	return 0;
}

static int consumer_release(struct inode *inode, struct file *file)
{
	clear_bit(0, &is_open);
	return 0;
}

static ssize_t consumer_read(struct file *file, char __user *to, size_t len,
			     loff_t *pos)
{
	return simple_read_from_buffer(to, len, pos, answer, strlen(answer));
}

static ssize_t consumer_write(struct file *file, const char __user *from,
			      size_t len, loff_t *pos)
{
	char text[160], name[64], a[32], b[32];
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = '\0';
	if (sscanf(text, "%63s %31s %31s", name, a, b) != 3)
		return -EINVAL;
	answer[0] = '\0';
	err = run_test(name, a, b);
	*pos = 0;
	return err ?: len;
}

static const struct file_operations consumer_fops = {
	.owner = THIS_MODULE,
	.open = consumer_open,
	.release = consumer_release,
	.read = consumer_read,
	.write = consumer_write,
};

static struct miscdevice consumer_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "srt_consumer",
	.fops = &consumer_fops,
	.mode = 0600,
};

static int __init consumer_init(void)
{
	int err;

	answer = kzalloc(ANSWER_BYTES, GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	err = ib_register_client(&client);
	if (err)
		goto err_answer;
	err = misc_register(&consumer_dev);
	if (err)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&client);
err_answer:
	kfree(answer);
	return err;
}

static void __exit consumer_exit(void)
{
	misc_deregister(&consumer_dev);
	flush_work(&rtnl_work);
	ib_unregister_client(&client);
	kfree(answer);
}

module_init(consumer_init);
module_exit(consumer_exit);

MODULE_DESCRIPTION("Kernel consumer of RDMA devices, for tests");
MODULE_LICENSE("Dual BSD/GPL");
