// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups: who may attach, and what the network sees of it. */
#include "fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Is a line with this text, of our netdev, in a file of /proc/net? */
static bool proc_has(const char *path, const char *text)
{
	char line[256];
	bool ours = false, found = false;
	FILE *file = fopen(path, "r");

	while (file && !found && fgets(line, sizeof(line), file)) {
		/* igmp: a line per netdev, then its groups, indented by tabs;
		 * igmp6: a line per group that names the netdev.
		 */
		if (line[0] != '\t')
			ours = strstr(line, TOPO_NETDEV);
		found = ours && strcasestr(line, text);
	}
	if (file)
		fclose(file);
	return found;
}

static bool proc_wait(const char *path, const char *text, bool there)
{
	long end = topo_now_ms() + 5000;

	while (proc_has(path, text) != there) {
		if (topo_now_ms() > end)
			return false;
		usleep(2000);
	}
	return true;
}

/* 239.77.1.2 as a GID, and as /proc/net/igmp writes it. */
static const union ibv_gid group4 = {
	.raw = { [10] = 0xff, [11] = 0xff, 239, 77, 1, 2 },
};

static const union ibv_gid group6 = {
	.raw = { 0xff, 0x0e, [12] = 0x77, 0x01, 0x02, 0x03 },
};

#define GROUP4_TEXT "02014DEF"
#define GROUP6_TEXT "ff0e0000000000000000000077010203"

static struct ibv_qp *ud_qp(struct verbs_set *set)
{
	struct ibv_qp *qp = verbs_qp(set, IBV_QPT_UD);

	if (qp && verbs_qp_to(set, qp, IBV_QPS_RTS, 0)) {
		ibv_destroy_qp(qp);
		return NULL;
	}
	return qp;
}

TEST_F(dev, ipv4_group_is_joined_and_left)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	EXPECT_FALSE(proc_has("/proc/net/igmp", GROUP4_TEXT));
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group4, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp", GROUP4_TEXT, true));
	EXPECT_EQ(0, ibv_detach_mcast(qp, &group4, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp", GROUP4_TEXT, false));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, ipv6_group_is_joined_and_left)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	EXPECT_FALSE(proc_has("/proc/net/igmp6", GROUP6_TEXT));
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group6, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp6", GROUP6_TEXT, true));
	EXPECT_EQ(0, ibv_detach_mcast(qp, &group6, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp6", GROUP6_TEXT, false));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* IPv6 leaves an interface that cannot carry 1280 bytes, and all groups with it. */
TEST_F(dev, group_is_joined_again_when_ip_comes_back)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group4, 0));
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group6, 0));
	ASSERT_EQ(0, topo_set_mtu(TOPO_NETDEV, 1000));
	EXPECT_TRUE(proc_wait("/proc/net/igmp6", GROUP6_TEXT, false));
	EXPECT_TRUE(proc_has("/proc/net/igmp", GROUP4_TEXT));
	ASSERT_EQ(0, topo_set_mtu(TOPO_NETDEV, 1500));
	EXPECT_TRUE(proc_wait("/proc/net/igmp6", GROUP6_TEXT, true));
	EXPECT_EQ(0, ibv_detach_mcast(qp, &group6, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp6", GROUP6_TEXT, false));
	EXPECT_EQ(0, ibv_detach_mcast(qp, &group4, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp", GROUP4_TEXT, false));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, group_is_left_with_its_last_qp)
{
	struct ibv_qp *one = ud_qp(&self->set), *two = ud_qp(&self->set);

	ASSERT_NE(NULL, one);
	ASSERT_NE(NULL, two);
	ASSERT_EQ(0, ibv_attach_mcast(one, &group4, 0));
	ASSERT_EQ(0, ibv_attach_mcast(two, &group4, 0));
	EXPECT_EQ(0, ibv_detach_mcast(one, &group4, 0));
	EXPECT_TRUE(proc_has("/proc/net/igmp", GROUP4_TEXT));
	EXPECT_EQ(0, ibv_detach_mcast(two, &group4, 0));
	EXPECT_TRUE(proc_wait("/proc/net/igmp", GROUP4_TEXT, false));
	EXPECT_EQ(0, ibv_destroy_qp(one));
	EXPECT_EQ(0, ibv_destroy_qp(two));
}

TEST_F(dev, killed_process_leaves_the_group)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		struct verbs_set set;
		struct ibv_qp *qp;

		if (verbs_open_set(&set, TOPO_LINK))
			_exit(1);
		qp = ud_qp(&set);
		if (!qp || ibv_attach_mcast(qp, &group4, 0) ||
		    !proc_wait("/proc/net/igmp", GROUP4_TEXT, true))
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(proc_wait("/proc/net/igmp", GROUP4_TEXT, false));
}

TEST_F(dev, attached_qp_is_destroyed_after_detach)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group4, 0));
	EXPECT_EQ(EBUSY, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_detach_mcast(qp, &group4, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, only_ud_attaches)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EINVAL, ibv_attach_mcast(qp, &group4, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	qp = verbs_qp(&self->set, IBV_QPT_UC);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EINVAL, ibv_attach_mcast(qp, &group4, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, unicast_address_is_no_group)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EINVAL, ibv_attach_mcast(qp, &self->set.gid, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, detaching_what_was_not_attached_is_refused)
{
	struct ibv_qp *qp = ud_qp(&self->set);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EINVAL, ibv_detach_mcast(qp, &group4, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, many_groups_on_one_qp)
{
	struct ibv_qp *qp = ud_qp(&self->set);
	struct ibv_device_attr attr;
	union ibv_gid group = group4;
	int i, count;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	count = attr.max_mcast_grp < 18 ? attr.max_mcast_grp : 18;
	for (i = 0; i < count; i++) {
		group.raw[15] = 100 + i;
		ASSERT_EQ(0, ibv_attach_mcast(qp, &group, 0));
	}
	for (i = 0; i < count; i++) {
		group.raw[15] = 100 + i;
		EXPECT_EQ(0, ibv_detach_mcast(qp, &group, 0));
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* ---- users ---- */

/**
 * struct taker - a process that attaches a QP to groups of its own
 * @uid: its user
 * @owner: user who made the namespace that it is in; 0: it is in none
 * @most: groups that it wants
 * @pid: it
 * @talk: our end of a socket
 */
struct taker {
	uid_t uid;
	uid_t owner;
	int most;
	pid_t pid;
	int talk;
};

/* Whom the parent maps to be root there, when told. */
static bool become(const struct taker *t, int talk)
{
	uid_t uid = t->owner ?: t->uid;
	char c = 0;

	if (setresuid(uid, uid, uid))
		return false;
	prctl(PR_SET_DUMPABLE, 1);
	if (!t->owner)
		return true;
	return !unshare(CLONE_NEWUSER) && write(talk, &c, 1) == 1 &&
	       read(talk, &c, 1) == 1 && !setresuid(0, 0, 0);
}

static int take_groups(const struct taker *t)
{
	union ibv_gid group = group4;
	struct verbs_set set;
	struct ibv_qp *qp;
	int count = 0;

	if (verbs_open_set(&set, TOPO_LINK))
		return -1;
	qp = ud_qp(&set);
	if (!qp)
		return -1;
	group.raw[13] = t->uid;
	for (; count < t->most; count++) {
		group.raw[14] = count >> 8;
		group.raw[15] = count;
		if (ibv_attach_mcast(qp, &group, 0))
			break;
	}
	return count;
}

static void map_user(const struct taker *t)
{
	char path[40], c;
	int fd;

	if (read(t->talk, &c, 1) != 1)
		return;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", t->pid);
	fd = open(path, O_WRONLY);
	dprintf(fd, "0 %d 1", t->uid);
	close(fd);
	if (write(t->talk, &c, 1) != 1)
		return;
}

/* Returns how many groups it has got, and keeps; -1: it could not ask. */
static int start_taker(struct taker *t)
{
	int pair[2], count = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -1;
	t->pid = fork();
	if (!t->pid) {
		close(pair[0]);
		if (become(t, pair[1]))
			count = take_groups(t);
		if (write(pair[1], &count, sizeof(count)) > 0)
			pause();
		_exit(0);
	}
	close(pair[1]);
	t->talk = pair[0];
	if (t->owner)
		map_user(t);
	if (read(t->talk, &count, sizeof(count)) != sizeof(count))
		return -1;
	return count;
}

static void stop_taker(struct taker *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->talk);
}

TEST_F(dev, no_user_has_all_groups)
{
	struct taker greedy = { .uid = 101, .most = INT_MAX };
	struct taker other = { .uid = 102, .most = 3 };
	/* One of the many that the first one may have. */
	struct taker within = { .uid = 103, .owner = 101, .most = 3 };
	struct ibv_device_attr attr;
	int share;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	ASSERT_EQ(0, topo_run("chmod a+rw /dev/infiniband/uverbs*"));
	share = attr.max_mcast_grp / 16;
	EXPECT_EQ(share < 64 ? 64 : share, start_taker(&greedy));
	EXPECT_EQ(0, start_taker(&within));
	EXPECT_EQ(3, start_taker(&other));
	stop_taker(&within);
	stop_taker(&other);
	stop_taker(&greedy);
	EXPECT_EQ(3, start_taker(&within));
	stop_taker(&within);
}

TEST_HARNESS_MAIN
