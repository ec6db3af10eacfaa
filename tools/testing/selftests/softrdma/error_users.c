// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who is told what has failed: a user of his own, an administrator of all, and a peer
 * what the wire says; how long it is kept, and in which form it is had.
 */
#include "errors_fixture.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "stranger.h"

#define UP()	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set))

/* A WRITE by a key that nothing has, which the peer refuses. */
#define REFUSED(rkey, words)						\
	do {								\
		ASSERT_EQ(0, duo_write(self->tx, self->rx, 5, 64, rkey)); \
		EXPECT_TRUE(errlog_completes(self->tx->send_cq,		\
					     IBV_WC_REM_ACCESS_ERR,	\
					     SRDMA_ERR_NAK_ACCESS));	\
		EXPECT_TRUE(errlog_says(TOPO_LINK, self->tx->qp->qp_num, \
					SRDMA_ERR_NAK_ACCESS, words));	\
	} while (0)

/* ---- two users ---- */

enum side { ASKS, ASKED, SIDES };

#define UID_OF(side)	(4001 + (side))

/**
 * struct known - what the two users know of each other
 * @qpn: numbers of their QPs
 * @va: memory of the one who is asked
 * @rkey: and its key, which lets nobody write
 * @step: so far each of them is
 */
struct known {
	volatile uint32_t qpn[SIDES];
	volatile uint64_t va;
	volatile uint32_t rkey;
	volatile int step[SIDES];
};

static bool meet(struct known *known, enum side side, int step)
{
	long deadline = topo_now_ms() + DUO_WAIT_MS;

	known->step[side] = step;
	while (known->step[!side] < step && topo_now_ms() < deadline)
		usleep(1000);
	return known->step[!side] >= step;
}

/**
 * struct party - one of them
 * @set: device, protection domain, CQ
 * @qp: connected to that of the other one
 * @mr: of some memory
 * @memory: that
 */
struct party {
	struct verbs_set set;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char memory[64];
};

static bool party_open(struct party *u, struct known *known, enum side side)
{
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;

	stranger_become(UID_OF(side));
	if (verbs_open_set(&u->set, TOPO_LINK))
		return false;
	u->qp = verbs_qp(&u->set, IBV_QPT_RC);
	u->mr = ibv_reg_mr(u->set.pd, u->memory, sizeof(u->memory),
			   IBV_ACCESS_REMOTE_READ);
	if (!u->qp || !u->mr)
		return false;
	known->qpn[side] = u->qp->qp_num;
	if (side == ASKED) {
		known->va = (uintptr_t)u->memory;
		known->rkey = u->mr->rkey;
	}
	if (!meet(known, side, 1))
		return false;
	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		verbs_attr(&u->set, &attr, state, known->qpn[!side]);
		attr.sq_psn = attr.rq_psn;
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
		if (ibv_modify_qp(u->qp, &attr, verbs_mask(IBV_QPT_RC, state - 1,
							   state)))
			return false;
	}
	return meet(known, side, 2);
}

static bool party_write(struct party *u, const struct known *known)
{
	struct ibv_sge sge = { (uintptr_t)u->memory, 64, u->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { known->va, known->rkey },
	};

	return !ibv_post_send(u->qp, &wr, &bad) &&
	       errlog_completes(u->set.cq, IBV_WC_REM_ACCESS_ERR,
				SRDMA_ERR_NAK_ACCESS);
}

/* Of the whole log that a user sees. */
static bool is_told(const char *words)
{
	char said[65536];

	return rules_tool(said, sizeof(said), "errors %s", TOPO_LINK) ||
	       strstr(said, words);
}

/* The one who asks knows that he was refused. */
static bool ask(struct party *u, struct known *known)
{
	char other[32];

	snprintf(other, sizeof(other), TOPO_LINK " qp %u ", known->qpn[ASKED]);
	return party_write(u, known) && meet(known, ASKS, 3) &&
	       errlog_says(TOPO_LINK, u->qp->qp_num, SRDMA_ERR_NAK_ACCESS,
			   "the peer answered \"remote access error\" (") &&
	       !is_told(other) && !is_told("REMOTE_READ");
}

/* The one who was asked knows why. */
static bool be_asked(struct party *u, struct known *known)
{
	char other[32];

	snprintf(other, sizeof(other), TOPO_LINK " qp %u ", known->qpn[ASKS]);
	return meet(known, ASKED, 3) &&
	       errlog_says(TOPO_LINK, u->qp->qp_num, SRDMA_ERR_RKEY_ACCESS,
			   "has REMOTE_READ and not REMOTE_WRITE") &&
	       !is_told(other);
}

static pid_t start(struct known *known, enum side side)
{
	static struct party u;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!party_open(&u, known, side))
		_exit(1);
	if (!(side == ASKS ? ask : be_asked)(&u, known))
		_exit(2);
	_exit(0);
}

TEST_F(errors, each_of_two_is_told_his_own_and_an_administrator_all)
{
	struct known *known = mmap(NULL, sizeof(*known), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, i;

	ASSERT_NE(MAP_FAILED, known);
	ASSERT_EQ(0, topo_run("chmod a+rw /dev/infiniband/uverbs*"));
	ASSERT_LT(0, start(known, ASKS));
	ASSERT_LT(0, start(known, ASKED));
	for (i = 0; i < SIDES; i++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	EXPECT_TRUE(errlog_says(TOPO_LINK, known->qpn[ASKED],
				SRDMA_ERR_RKEY_ACCESS, "was refused"));
	/* Both logs together. */
	EXPECT_TRUE(errlog_says(TOPO_LINK, 0, SRDMA_ERR_NAK_ACCESS,
				"its log says: the region of rkey"));
	munmap(known, sizeof(*known));
}

/* ---- others ---- */

/* What somebody else hears, who has no rights: 0, if that is not among it. */
static int nobody_hears(const char *words)
{
	int status;

	if (!fork()) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		_exit(is_told(words));
	}
	if (wait(&status) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(errors, others_see_nothing_of_it)
{
	UP();
	REFUSED(0xfffff700, "0xfffff700");
	EXPECT_EQ(0, nobody_hears("0xfffff700"));
	EXPECT_EQ(0, nobody_hears("qp"));
}

TEST_F(errors, other_namespaces_see_nothing_of_it)
{
	char said[65536];
	int status;

	UP();
	REFUSED(0xfffff800, "0xfffff800");
	if (!fork()) {
		if (unshare(CLONE_NEWNET))
			_exit(1);
		if (rules_tool(said, sizeof(said), "errors") || *said)
			_exit(2);
		_exit(rules_tool(said, sizeof(said), "errors %s", TOPO_LINK) ==
		      1 ? 0 : 3);
	}
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
}

/* It stays when the process has gone. */
TEST_F(errors, the_log_outlives_the_process)
{
	char words[64];
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		struct duo duo = {};

		if (verbs_open_set(&self->set, TOPO_LINK) ||
		    duo_up(&duo, &self->set, &self->set) ||
		    duo_write(&duo.end[0], &duo.end[1], 1, 64, 0xfffff900) ||
		    !errlog_completes(duo.end[0].send_cq, IBV_WC_REM_ACCESS_ERR,
				      SRDMA_ERR_NAK_ACCESS))
			_exit(1);
		_exit(0);
	}
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
	snprintf(words, sizeof(words), "pid %d (error_users)", pid);
	EXPECT_TRUE(errlog_says(TOPO_LINK, 0, SRDMA_ERR_NAK_ACCESS, words));
	EXPECT_TRUE(errlog_says(TOPO_LINK, 0, SRDMA_ERR_NAK_ACCESS,
				"rkey 0xfffff900"));
}

/* What happens again and again is one record, and others stay. */
TEST_F(errors, repetitions_do_not_push_others_out)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int i;

	UP();
	REFUSED(0xfffffa00, "0xfffffa00");
	ASSERT_EQ(0, duo_state(self->tx, IBV_QPS_RESET));
	for (i = 0; i < 200; i++)
		ibv_post_send(self->tx->qp, &wr, &bad);
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->tx->qp->qp_num,
				SRDMA_ERR_NAK_ACCESS, "0xfffffa00"));
}

TEST_F(errors, json_has_it_in_numbers)
{
	char said[65536], words[64];

	UP();
	REFUSED(0xfffffb00, "0xfffffb00");
	EXPECT_EQ(0, rules_tool(said, sizeof(said), "-j errors %s qp %u",
				TOPO_LINK, self->tx->qp->qp_num));
	EXPECT_EQ('[', said[0]);
	snprintf(words, sizeof(words), "\"qpn\":%u", self->tx->qp->qp_num);
	EXPECT_NE(NULL, strstr(said, words));
	EXPECT_NE(NULL, strstr(said, "\"vendor_err\":49,\"cause\":\"nak_access\""));
	EXPECT_NE(NULL, strstr(said, "\"status\":10"));
	snprintf(words, sizeof(words), "\"rkey\":%u", 0xfffffb00);
	EXPECT_NE(NULL, strstr(said, words));
}

TEST_F(errors, a_code_is_explained_by_number_or_name)
{
	char said[1024];

	EXPECT_EQ(0, rules_tool(said, sizeof(said), "errors code %u",
				SRDMA_ERR_RNR));
	EXPECT_NE(NULL, strstr(said, "51 rnr: the peer has no receive"));
	EXPECT_NE(NULL, strstr(said, "helps: post receives"));
	EXPECT_EQ(0, rules_tool(said, sizeof(said),
				"errors code never_answered"));
	EXPECT_NE(NULL, strstr(said, "54 never_answered: "));
	EXPECT_EQ(1, rules_tool(said, sizeof(said), "errors code 9999"));
	EXPECT_NE(NULL, strstr(said, "no cause has the number or the name"));
}

TEST_HARNESS_MAIN
