// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of the device: the tests are in a module of their own
 * (tools/testing/kernel), which tells their names and runs them on devices.
 *
 *	loopback	srtk0 on srtkd0 (dummy, 10.78.0.1)
 *	veth		srtk1 on srtkv1 (10.78.1.1)	[namespace of a process]
 *			srtk2 on srtkv2 (10.78.1.2)	[of another]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest.h"

#include <rdma/softrdma-errors.h>

#include "errlog.h"
#include "nldev.h"
#include "rules.h"
#include "topo.h"

#define DEVICE	TOPO_CONSUMER

/* The test in which registrations are refused. */
#define REFUSED	"frwr__bad_registrations"

/* The test in which a rule looks at address handles, and leaves them alone. */
#define WITH_RULE	"ah_made_irqs_disabled__rule"
#define RULE		"verb create_ah nth 1000000 errno ENOMEM"

/* A process that holds a network namespace, and does things in there. */
struct keeper {
	pid_t pid;
	int to;
	int from;
};

enum errand {
	ENTER,
	MAKE_DUMMY,
	MAKE_VETH,
	USE_VETH,
	LINK_VETH,
	SAY_WHY,
	ADD_RULE,
	DROP_RULE,
};

/* @link: of rules */
struct order {
	enum errand errand;
	pid_t peer;
	char link[16];
};

/* What the log says of registrations that were refused. */
static bool says_why(void)
{
	return errlog_says("srtk0", 0, SRDMA_ERR_REG,
			   "(kernel): REG_MR of 0 bytes") &&
	       errlog_says("srtk0", 0, SRDMA_ERR_INV_KEY, "LOCAL_INV has taken it away");
}

static int add_rule(const char *link, int *id)
{
	*id = rules_add(link, RULE);
	return *id > 0 ? 0 : -EINVAL;
}

/* It must have seen the verb. */
static int drop_rule(const char *link, int id)
{
	bool seen = rules_seen(link, id) > 0;

	return rules_flush(link) ? -EINVAL : seen ? 0 : -ENOENT;
}

static int run_errand(const struct order *order)
{
	static int id;

	switch (order->errand) {
	case ENTER:
		return topo_enter_netns();
	case MAKE_DUMMY:
		return topo_ip("link add srtkd0 type dummy\n"
			       "addr add 10.78.0.1/24 dev srtkd0\n"
			       "link set srtkd0 up") ?:
		       topo_link_add("srtk0", "srtkd0");
	case MAKE_VETH:
		return topo_ip("link add srtkv1 type veth peer srtkv2 netns %d\n"
			       "addr add 10.78.1.1/24 dev srtkv1\n"
			       "link set srtkv1 up", (int)order->peer);
	case USE_VETH:
		return topo_ip("addr add 10.78.1.2/24 dev srtkv2\n"
			       "link set srtkv2 up") ?:
		       topo_link_add("srtk2", "srtkv2");
	case LINK_VETH:
		return topo_link_add("srtk1", "srtkv1");
	case SAY_WHY:
		return says_why() ? 0 : -ENOENT;
	case ADD_RULE:
		return add_rule(order->link, &id);
	case DROP_RULE:
		return drop_rule(order->link, id);
	}
	return -EINVAL;
}

/* Until nobody is there to give orders. */
static void keep(int in, int out)
{
	struct order order;
	int ret;

	while (read(in, &order, sizeof(order)) == sizeof(order)) {
		ret = run_errand(&order);
		if (write(out, &ret, sizeof(ret)) != sizeof(ret))
			break;
	}
	_exit(0);
}

static int keeper_order(struct keeper *k, const struct order *order)
{
	int ret = -EPIPE;

	if (write(k->to, order, sizeof(*order)) != sizeof(*order) ||
	    read(k->from, &ret, sizeof(ret)) != sizeof(ret))
		return -EPIPE;
	if (ret)
		ksft_print_msg("errand %d: %d\n", order->errand, ret);
	return ret;
}

static int keeper_do(struct keeper *k, enum errand what, pid_t peer)
{
	struct order order = { .errand = what, .peer = peer };

	return keeper_order(k, &order);
}

static int keeper_rule(struct keeper *k, enum errand what, const char *link)
{
	struct order order = { .errand = what };

	snprintf(order.link, sizeof(order.link), "%s", link);
	return keeper_order(k, &order);
}

static int keeper_start(struct keeper *k)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		return -errno;
	fflush(stdout);
	k->pid = fork();
	if (k->pid < 0)
		return -errno;
	if (!k->pid) {
		close(to[1]);
		close(from[0]);
		keep(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	k->to = to[1];
	k->from = from[0];
	return keeper_do(k, ENTER, 0);
}

static void keeper_stop(struct keeper *k)
{
	close(k->to);
	close(k->from);
	waitpid(k->pid, NULL, 0);
}

static void drop_links(void)
{
	nldev_link_del("srtk0");
	nldev_link_del("srtk1");
	nldev_link_del("srtk2");
}

struct command {
	int fd;
	char text[256];
	size_t len;
	int err;
};

static void *give(void *arg)
{
	struct command *command = arg;

	if (write(command->fd, command->text, command->len) != command->len)
		command->err = errno;
	return NULL;
}

/* Some want the device to be removed while they run. */
static int give_and_remove(struct command *command, const char *device)
{
	pthread_t thread;
	int ret;

	if (pthread_create(&thread, NULL, give, command))
		return -1;
	usleep(300000);
	ret = nldev_link_del(device);
	pthread_join(thread, NULL);
	if (ret)
		ksft_print_msg("removing %s: %d\n", device, ret);
	return ret ?: topo_link_exists(device) ? -EEXIST : command->err;
}

/* @k: holds the namespace of device @a */
static void run(int fd, struct keeper *k, const char *where, const char *name,
		const char *a, const char *b)
{
	bool with_rule = !strcmp(name, WITH_RULE);
	struct command command = { .fd = fd };
	long begun = topo_now_ms(), took;
	char why[512];
	ssize_t len;
	int err;

	command.len = snprintf(command.text, sizeof(command.text), "%s %s %s",
			       name, a, b);
	if (with_rule && keeper_rule(k, ADD_RULE, a)) {
		err = ENOENT;
	} else if (!strncmp(name, "removed__", strlen("removed__"))) {
		err = give_and_remove(&command, b);
	} else {
		give(&command);
		err = command.err;
	}
	if (with_rule && keeper_rule(k, DROP_RULE, a))
		err = err ?: ENOENT;
	if (err) {
		lseek(fd, 0, SEEK_SET);
		len = read(fd, why, sizeof(why) - 1);
		why[len > 0 ? len : 0] = '\0';
		ksft_print_msg("%s: %s (%d)\n", name, why, err);
	}
	took = topo_now_ms() - begun;
	if (took > 2000)
		ksft_print_msg("%s: %ld ms\n", name, took);
	ksft_test_result(!err, "%s.%s\n", where, name);
}

static int read_names(int fd, char *text, size_t size, char **names, int max)
{
	ssize_t len = read(fd, text, size - 1);
	char *name, *rest = text;
	int n = 0;

	if (len <= 0)
		return 0;
	text[len] = '\0';
	while (n < max && (name = strsep(&rest, "\n")))
		if (*name)
			names[n++] = name;
	return n;
}

/* Some names on the command line run these alone. */
static bool is_wanted(int argc, char **argv, const char *name)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	struct keeper alone, left, right;
	static char text[4096];
	char *names[128];
	int fd, i, n, wanted = 0;

	ksft_print_header();
	drop_links();
	if (topo_load_consumer())
		ksft_exit_fail_msg("the module srt_consumer does not load\n");
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		ksft_exit_fail_msg(DEVICE ": %s\n", strerror(errno));
	if (keeper_start(&alone) || keeper_start(&left) ||
	    keeper_start(&right) || keeper_do(&alone, MAKE_DUMMY, 0) ||
	    keeper_do(&left, MAKE_VETH, right.pid) ||
	    keeper_do(&right, USE_VETH, 0) || keeper_do(&left, LINK_VETH, 0)) {
		drop_links();
		ksft_exit_fail_msg("no links\n");
	}

	n = read_names(fd, text, sizeof(text), names, 128);
	for (i = 0; i < n; i++)
		wanted += is_wanted(argc, argv, names[i]);
	/* And one about the log. */
	ksft_set_plan(2 * wanted + is_wanted(argc, argv, REFUSED));
	for (i = 0; i < n; i++) {
		if (!is_wanted(argc, argv, names[i]))
			continue;
		run(fd, &alone, "loopback", names[i], "srtk0", "srtk0");
		if (!strcmp(names[i], REFUSED))
			ksft_test_result(!keeper_do(&alone, SAY_WHY, 0),
					 "log.says_why_it_was_refused\n");
	}
	for (i = 0; i < n; i++)
		if (is_wanted(argc, argv, names[i]))
			run(fd, &left, "veth", names[i], "srtk1", "srtk2");

	drop_links();
	close(fd);
	/* Those that were started later hold the earlier ones' pipes. */
	keeper_stop(&right);
	keeper_stop(&left);
	keeper_stop(&alone);
	if (topo_run("rmmod srt_consumer"))
		ksft_exit_fail_msg("the module cannot be removed\n");
	ksft_finished();
}
