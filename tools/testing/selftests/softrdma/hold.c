// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What waits for engines that nobody runs is memory of no process and no
 * cgroup. However many QPs a user has, it stays within what
 * Documentation/softrdma/internals/security-network.rst says, others find room, and all
 * is given back.
 *
 *	hog, uid 61001		48 QPs that are sent datagrams and get none
 *	other, uid 61002	one such QP, and a connection at work
 *
 * The debug kernel has the engines not run ("hold", faults.rst).
 */
#include "twin_fixture.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "counters.h"
#include "duo.h"
#include "knobs.h"
#include "topo.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 300)

#define QPS		48
#define LEN		4096
#define DEPTH		15

/* As security-network.rst has it. */
#define POOL_SHARE	64
#define POOL_MIN	(4l << 20)
#define POOL_MAX	(1l << 30)
#define OWN		(64l << 10)
#define INBOX		(8l << 20)
#define PINS_MOST	4

/* An skb of the longest there are, as it is charged. */
#define SKB_MOST	(160l << 10)

/* ---- the kernel's side ---- */

static long meminfo(const char *what)
{
	FILE *file = fopen("/proc/meminfo", "r");
	size_t len = strlen(what);
	char line[128];
	long kb = -1;

	while (file && kb < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, what, len) && line[len] == ':')
			kb = atol(line + len + 1);
	if (file)
		fclose(file);
	return kb * 1024;
}

/* What one user's inboxes may be charged beyond what each has for itself. */
static long share(void)
{
	long pool = meminfo("MemTotal") / POOL_SHARE;

	pool = pool < POOL_MIN ? POOL_MIN : pool > POOL_MAX ? POOL_MAX : pool;
	return pool / 2;
}

/* ---- users ---- */

/**
 * struct user - a process of a user
 * @pid: itself
 * @say: a byte written here sends it on
 * @hear: it writes a byte when it has come so far
 */
struct user {
	pid_t pid;
	int say;
	int hear;
};

/**
 * struct stage - where the user is, in its own process
 * @say: the other end of @hear of struct user
 * @hear: likewise
 */
struct stage {
	int say;
	int hear;
};

static void reach(const struct stage *stage)
{
	char byte = 0;

	if (write(stage->say, &byte, 1) != 1 ||
	    read(stage->hear, &byte, 1) != 1)
		_exit(99);
}

static int start(struct user *user, uid_t uid,
		 int (*live)(const struct stage *stage, enum twin_kind kind),
		 enum twin_kind kind)
{
	int to[2], from[2];
	struct stage stage;

	if (pipe(to) || pipe(from))
		return errno;
	user->pid = fork();
	if (user->pid < 0)
		return errno;
	if (!user->pid) {
		close(to[1]);
		close(from[0]);
		stage = (struct stage) { .say = from[1], .hear = to[0] };
		if (setgid(uid) || setuid(uid))
			_exit(98);
		_exit(live(&stage, kind));
	}
	close(to[0]);
	close(from[1]);
	user->say = to[1];
	user->hear = from[0];
	return 0;
}

/* It has come to its next stage. */
static bool has_reached(struct user *user)
{
	char byte;

	return read(user->hear, &byte, 1) == 1;
}

static bool send_on(struct user *user)
{
	char byte = 0;

	return write(user->say, &byte, 1) == 1;
}

static int end_of(struct user *user)
{
	int status;

	close(user->say);
	close(user->hear);
	waitpid(user->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* ---- datagrams that wait ---- */

/**
 * struct sender - what sends datagrams
 * @set: its device
 * @qp: itself
 * @ah: where to
 * @buf: LEN bytes
 * @mr: their region
 */
struct sender {
	struct verbs_set *set;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	void *buf;
	struct ibv_mr *mr;
};

static int sender_open(struct sender *s, struct verbs_set *set,
		       const struct verbs_set *to)
{
	struct ibv_qp_attr attr;

	s->set = set;
	s->qp = verbs_qp(set, IBV_QPT_UD);
	s->buf = aligned_alloc(4096, LEN);
	s->mr = s->buf ? ibv_reg_mr(set->pd, s->buf, LEN, 0) : NULL;
	verbs_attr(set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = to->gid;
	s->ah = ibv_create_ah(set->pd, &attr.ah_attr);
	if (!s->qp || !s->mr || !s->ah)
		return errno;
	memset(s->buf, 0x5a, LEN);
	return verbs_qp_to(set, s->qp, IBV_QPS_RTS, 0);
}

static int send_some(struct sender *s, uint32_t qpn, int count)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, LEN, s->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.wr.ud = { s->ah, qpn, VERBS_QKEY },
	};
	struct ibv_wc wc;
	int ret;

	while (count--) {
		wr.send_flags = count ? 0 : IBV_SEND_SIGNALED;
		ret = ibv_post_send(s->qp, &wr, &bad);
		if (ret)
			return ret;
	}
	return duo_poll(s->set->cq, &wc, 1) == 1 ? wc.status : -1;
}

static int send_bytes(struct sender *s, uint32_t qpn, long bytes)
{
	int ret = 0;

	for (; bytes > 0 && !ret; bytes -= DEPTH * LEN)
		ret = send_some(s, qpn, DEPTH);
	return ret;
}

static int hog(const struct stage *stage, enum twin_kind kind)
{
	struct verbs_set sets[2];
	struct ibv_qp *qp[QPS];
	struct sender sender;
	int i;

	if (twin_open(sets, kind) || sender_open(&sender, &sets[0], &sets[1]))
		return 1;
	for (i = 0; i < QPS; i++) {
		qp[i] = verbs_qp(&sets[1], IBV_QPT_UD);
		if (!qp[i] || verbs_qp_to(&sets[1], qp[i], IBV_QPS_RTR, 0))
			return 2;
	}
	reach(stage);
	/* More than any inbox holds, if each byte were charged only once. */
	for (i = 0; i < QPS; i++)
		if (send_bytes(&sender, qp[i]->qp_num, INBOX + INBOX / 8))
			return 3;
	reach(stage);
	/* They are there, and get what comes once they are run again. */
	for (i = 0; i < QPS; i++)
		if (send_some(&sender, qp[i]->qp_num, 1))
			return 4;
	reach(stage);
	return 0;
}

/* Messages each way, checked. */
static int exchange(struct verbs_set *sets)
{
	struct duo duo = {};
	struct ibv_wc wc;
	int i, ret;

	ret = duo_up(&duo, &sets[0], &sets[1]);
	for (i = 0; i < 100 && !ret; i++) {
		struct duo_end *from = &duo.end[i & 1];
		struct duo_end *to = &duo.end[!(i & 1)];

		memset(from->buf, i, 65536);
		ret = duo_recv(to, i, 65536, 65536) ?:
		      duo_send(from, i, 0, 65536, 0);
		if (ret || duo_poll(to->recv_cq, &wc, 1) != 1 || wc.status ||
		    duo_poll(from->send_cq, &wc, 1) != 1 || wc.status ||
		    memcmp(from->buf, to->buf + 65536, 65536))
			return 1;
	}
	return ret ?: duo_close(&duo);
}

static int other(const struct stage *stage, enum twin_kind kind)
{
	struct verbs_set sets[2];
	struct sender sender;
	struct ibv_qp *qp;

	if (twin_open(sets, kind) || sender_open(&sender, &sets[0], &sets[1]))
		return 1;
	qp = verbs_qp(&sets[1], IBV_QPT_UD);
	if (!qp || verbs_qp_to(&sets[1], qp, IBV_QPS_RTR, 0))
		return 2;
	reach(stage);
	if (send_bytes(&sender, qp->qp_num, 4 * OWN))
		return 3;
	reach(stage);
	if (exchange(sets))
		return 4;
	reach(stage);
	return 0;
}

/* ---- tests ---- */

FIXTURE(hold)
{
	bool possible;
};

FIXTURE_VARIANT(hold)
{
	enum twin_kind kind;
};

FIXTURE_VARIANT_ADD(hold, loopback) { .kind = TWIN_LOOPBACK };
FIXTURE_VARIANT_ADD(hold, veth) { .kind = TWIN_VETH };

FIXTURE_SETUP(hold)
{
	self->possible = knob_exists("hold");
	counters_use(variant->kind == TWIN_VETH ? TWIN_LINK_B : TWIN_LINK_A);
}

FIXTURE_TEARDOWN(hold)
{
	if (self->possible)
		EXPECT_EQ(0, knob_turn("hold", false));
}

static int64_t dropped(enum twin_kind kind)
{
	int64_t value;

	if (twin_enter(kind == TWIN_VETH ? TWIN_B : TWIN_A))
		return -1;
	value = counters_get("rx_drop_inbox_full");
	return twin_enter(TWIN_A) ? -1 : value;
}

/* How many datagrams the hog sends, and how many wait; -1: it failed. */
static int64_t fill(struct user *user, enum twin_kind kind)
{
	int64_t sent = (int64_t)QPS * DEPTH *
		       ((INBOX + INBOX / 8 + DEPTH * LEN - 1) / (DEPTH * LEN));
	int64_t before = dropped(kind);

	if (!send_on(user) || !has_reached(user) || before < 0)
		return -1;
	return sent - (dropped(kind) - before);
}

TEST_F(hold, memory_is_bounded_and_shared)
{
	long most = PINS_MOST * (share() + QPS * (OWN + SKB_MOST)), held;
	struct user user, second;
	int64_t waiting, again;
	int64_t before;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	ASSERT_EQ(0, start(&user, 61001, hog, variant->kind));
	ASSERT_EQ(0, start(&second, 61002, other, variant->kind));
	ASSERT_TRUE(has_reached(&user));
	ASSERT_TRUE(has_reached(&second));

	/* All that the hog can have waiting: within its share. */
	held = meminfo("MemAvailable");
	ASSERT_EQ(0, knob_turn("hold", true));
	waiting = fill(&user, variant->kind);
	held -= meminfo("MemAvailable");
	TH_LOG("%lld datagrams wait, in %ld KB of %ld", (long long)waiting,
	       held >> 10, most >> 10);
	EXPECT_LE(held, most);
	EXPECT_LE(waiting * LEN, share() + QPS * (OWN + SKB_MOST));
	/* Each QP has its own, and one has drawn. */
	EXPECT_GE(waiting * LEN * PINS_MOST, share());

	/* The other one finds more than his own. */
	before = dropped(variant->kind);
	ASSERT_TRUE(send_on(&second));
	ASSERT_TRUE(has_reached(&second));
	EXPECT_EQ(before, dropped(variant->kind));

	/* And works, while the hog's are stopped. */
	ASSERT_EQ(0, knob_turn("hold", false));
	ASSERT_TRUE(send_on(&second));
	ASSERT_TRUE(has_reached(&second));
	ASSERT_TRUE(send_on(&second));
	EXPECT_EQ(0, end_of(&second));

	/* Those that are run give all back, */
	ASSERT_TRUE(send_on(&user));
	ASSERT_TRUE(has_reached(&user));
	ASSERT_TRUE(send_on(&user));
	EXPECT_EQ(0, end_of(&user));

	/* and so do those that are destroyed as they are. */
	ASSERT_EQ(0, start(&user, 61003, hog, variant->kind));
	ASSERT_TRUE(has_reached(&user));
	ASSERT_EQ(0, knob_turn("hold", true));
	again = fill(&user, variant->kind);
	EXPECT_GE(again, waiting - waiting / 8);
	kill(user.pid, SIGKILL);
	end_of(&user);
	ASSERT_EQ(0, knob_turn("hold", false));
	ASSERT_EQ(0, start(&user, 61001, hog, variant->kind));
	ASSERT_TRUE(has_reached(&user));
	ASSERT_EQ(0, knob_turn("hold", true));
	again = fill(&user, variant->kind);
	EXPECT_GE(again, waiting - waiting / 8);
	kill(user.pid, SIGKILL);
	end_of(&user);
}

TEST_HARNESS_MAIN
