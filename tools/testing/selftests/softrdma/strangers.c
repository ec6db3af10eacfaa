// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two users on one device who wish each other no good. One, the owner, sends
 * from its memory or lets the other access it, takes that back in some way, and
 * then puts secrets into the same pages. The other, the thief, keeps its own
 * queue pair from running meanwhile, in the hope that what has come before is
 * executed afterwards: no byte of a secret may reach it, and none of the owner's
 * may change any more.
 *
 *   owner (user 1001)    memory --- QP ===== QP --- memory    thief (user 1002)
 *                                  one device
 *
 * Without privileges a QP is kept from running by a thread of SCHED_IDLE that
 * modifies it, on a CPU that is kept busy: that takes two CPUs. On the debug
 * kernel a fault does it (Documentation/softrdma/guide/faults.rst).
 */
#define _GNU_SOURCE
#include "fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "knobs.h"
#include "nldev.h"
#include "stranger.h"
#include "uverbs.h"

#include <rdma/ib_user_verbs.h>

/* How long an attack is tried, and how often it is to succeed in stalling. */
#define TRY_MS		20000
#define STALLS		3
/* A request that has not completed by then waits for the thief. */
#define STALLED_US	3000

FIXTURE(strangers)
{
	struct table *table;
	uint8_t *mem;
	bool by_hold;
};

FIXTURE_VARIANT(strangers)
{
	enum deed deed;
	enum ending ending;
};

#define VARIANT(name, ...) \
	FIXTURE_VARIANT_ADD(strangers, name) { __VA_ARGS__ }

VARIANT(send_error, DEED_SEND, END_ERROR);
VARIANT(send_reset, DEED_SEND, END_RESET);
VARIANT(send_destroy, DEED_SEND, END_DESTROY);
VARIANT(send_dereg, DEED_SEND, END_DEREG);
VARIANT(send_rereg, DEED_SEND, END_REREG);
VARIANT(send_retries, DEED_SEND, END_RETRIES);
VARIANT(send_kill, DEED_SEND, END_KILL);
VARIANT(send_link_del, DEED_SEND, END_LINK);
VARIANT(write_error, DEED_WRITE, END_ERROR);
VARIANT(write_destroy, DEED_WRITE, END_DESTROY);
VARIANT(write_dereg, DEED_WRITE, END_DEREG);
VARIANT(write_rereg, DEED_WRITE, END_REREG);
VARIANT(write_kill, DEED_WRITE, END_KILL);
VARIANT(uc_send_destroy, DEED_UC_SEND, END_DESTROY);
VARIANT(uc_send_dereg, DEED_UC_SEND, END_DEREG);
VARIANT(read_error, DEED_READ, END_ERROR);
VARIANT(read_destroy, DEED_READ, END_DESTROY);
VARIANT(read_dereg, DEED_READ, END_DEREG);
VARIANT(read_rereg, DEED_READ, END_REREG);
VARIANT(read_local_inv, DEED_READ, END_LOCAL_INV);
VARIANT(read_send_inv, DEED_READ, END_SEND_INV);
VARIANT(read_unbind, DEED_READ, END_UNBIND);
VARIANT(read_kill, DEED_READ, END_KILL);
VARIANT(written_error, DEED_WRITTEN, END_ERROR);
VARIANT(written_destroy, DEED_WRITTEN, END_DESTROY);
VARIANT(written_dereg, DEED_WRITTEN, END_DEREG);
VARIANT(written_rereg, DEED_WRITTEN, END_REREG);
VARIANT(written_local_inv, DEED_WRITTEN, END_LOCAL_INV);
VARIANT(written_send_inv, DEED_WRITTEN, END_SEND_INV);
VARIANT(written_unbind, DEED_WRITTEN, END_UNBIND);
VARIANT(written_kill, DEED_WRITTEN, END_KILL);

/* ---- the owner ---- */

/* What comes, and that is the owner's, stays where it is. */
static bool hold_thief(int knob)
{
	return write(knob, "100", 3) == 3;
}

static bool release_thief(int knob)
{
	return write(knob, "0", 1) == 1;
}

static int await_wc(struct user *u, struct ibv_wc *wc, long us)
{
	struct timespec t;
	long now, end = 0;

	for (;;) {
		if (ibv_poll_cq(u->set.cq, 1, wc) == 1)
			return 0;
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = t.tv_sec * 1000000 + t.tv_nsec / 1000;
		end = end ?: now + us;
		if (now > end)
			return -ETIMEDOUT;
	}
}

/* Sends until the thief does not take it. Returns whether that came to be. */
static bool send_until_stalled(struct user *u, enum deed deed, int knob)
{
	struct table *table = u->table;
	struct ibv_sge sge = { (uintptr_t)u->mem, LENGTH, u->mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = deed == DEED_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = table->addr[THIEF],
		.wr.rdma.rkey = table->key[THIEF],
	};
	struct ibv_wc wc;
	int i;

	for (i = 0; i < DEPTH - 1; i++) {
		if (knob >= 0 && !MUST(table, hold_thief(knob)))
			return false;
		if (!MUST(table, !stranger_post(u, &wr)))
			return false;
		/* Unreliable, it completes whatever the thief does. */
		if (deed == DEED_UC_SEND)
			continue;
		if (await_wc(u, &wc, knob >= 0 ? 0 : STALLED_US))
			return true;
		/* So impatient that it is over already. */
		u->failed = wc.status;
		if (u->failed)
			return true;
	}
	return deed == DEED_UC_SEND;
}

static int modify(struct user *u, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(u->qp, &attr, IBV_QP_STATE);
}

static int rereg(struct user *u)
{
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = u->mr->handle,
		.flags = IBV_REREG_MR_CHANGE_ACCESS,
		.access_flags = IBV_ACCESS_LOCAL_WRITE,
		.pd_handle = u->set.pd->handle,
	};
	struct ib_uverbs_rereg_mr_resp resp;

	/* A sender keeps its key; it is the pages that are to be others. */
	if (is_owners_deed(u->table->done ? DEED_READ : DEED_SEND)) {
		cmd.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
		cmd.start = (uintptr_t)mmap(NULL, DEPTH * LENGTH, PROT_READ |
					    PROT_WRITE, MAP_PRIVATE |
					    MAP_ANONYMOUS, -1, 0);
		cmd.length = DEPTH * LENGTH;
		cmd.hca_va = (uintptr_t)u->mem;
	}
	return uverbs_write(u->set.ctx->cmd_fd, IB_USER_VERBS_CMD_REREG_MR,
			    &cmd, sizeof(cmd), &resp, sizeof(resp));
}

static int post_and_wait(struct user *u, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;

	wr->send_flags = IBV_SEND_SIGNALED;
	return stranger_post(u, wr) ?: await_wc(u, &wc, PATIENCE_MS * 1000) ?: wc.status;
}

static int bind_window(struct user *u, size_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = u->mr, .addr = (uintptr_t)u->mem,
			.length = length,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE,
		},
	};
	struct ibv_wc wc;

	return ibv_bind_mw(u->qp, u->mw, &bind) ?:
	       await_wc(u, &wc, PATIENCE_MS * 1000) ?: wc.status;
}

static int bind_type_2(struct user *u)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = u->mw,
			.rkey = ibv_inc_rkey(u->mw->rkey),
			.bind_info = {
				.mr = u->mr, .addr = (uintptr_t)u->mem,
				.length = DEPTH * LENGTH,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ |
						   IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	int ret = post_and_wait(u, &wr);

	if (!ret)
		u->mw->rkey = wr.bind_mw.rkey;
	return ret;
}

static bool expose(struct user *u, enum ending ending)
{
	struct ibv_recv_wr wr = {}, *bad;
	int ret = 0;

	u->mw = NULL;
	u->table->key[OWNER] = u->mr->rkey;
	u->table->addr[OWNER] = (uintptr_t)u->mem;
	if (ending < END_LOCAL_INV || ending > END_UNBIND)
		return true;
	u->mw = ibv_alloc_mw(u->set.pd, ending == END_UNBIND ?
			     IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	if (!MUST(u->table, u->mw))
		return false;
	ret = ending == END_UNBIND ? bind_window(u, DEPTH * LENGTH) :
				     bind_type_2(u);
	if (!ret && ending == END_SEND_INV)
		ret = ibv_post_recv(u->qp, &wr, &bad);
	u->table->key[OWNER] = u->mw->rkey;
	return MUST(u->table, !ret);
}

/* Returns 0 when the memory is the owner's alone. */
static int take_back(struct user *u, enum ending ending)
{
	struct ibv_send_wr inv = { .opcode = IBV_WR_LOCAL_INV };
	struct ibv_mr *mr = u->mr;
	struct ibv_wc wc;
	int ret = 0;

	switch (ending) {
	case END_ERROR:
		return modify(u, IBV_QPS_ERR);
	case END_RESET:
		return modify(u, IBV_QPS_RESET);
	case END_DESTROY:
		ret = ibv_destroy_qp(u->qp);
		u->qp = NULL;
		return ret;
	case END_DEREG:
		u->mr = NULL;
		return ibv_dereg_mr(mr);
	case END_REREG:
		return rereg(u);
	case END_LOCAL_INV:
		inv.invalidate_rkey = u->mw->rkey;
		return post_and_wait(u, &inv);
	case END_SEND_INV:
		return await_wc(u, &wc, PATIENCE_MS * 1000) ?: wc.status;
	case END_UNBIND:
		return bind_window(u, 0);
	case END_RETRIES:
		if (u->failed)
			return 0;
		ret = await_wc(u, &wc, PATIENCE_MS * 1000);
		return ret || wc.status ? ret : -EAGAIN;
	case END_KILL:
	case END_LINK:
		stranger_reach(u->table, STEP_STALLED);
		pause();
	}
	return -EINVAL;
}

/* For the next round as it was before the last one. */
static void restore(struct user *u, enum ending ending)
{
	if (u->qp)
		MUST(u->table, !ibv_destroy_qp(u->qp));
	u->qp = NULL;
	if (u->mw)
		MUST(u->table, !ibv_dealloc_mw(u->mw));
	if (ending == END_REREG) {
		MUST(u->table, !ibv_dereg_mr(u->mr));
		u->mr = NULL;
	}
	if (!u->mr)
		u->mr = ibv_reg_mr(u->set.pd, u->mem, DEPTH * LENGTH,
				   ACCESS_ALL);
	MUST(u->table, u->mr);
	stranger_drain_cq(u);
}

static bool await_accesses(struct user *u)
{
	long deadline = topo_now_ms() + PATIENCE_MS;

	while (u->table->done < DEPTH)
		if (!MUST(u->table, topo_now_ms() < deadline))
			return false;
	return true;
}

/* One round. Returns whether it went as it should. */
static bool tempt(struct user *u, enum deed deed, enum ending ending, int knob)
{
	struct table *table = u->table;
	int ret, round = table->at / STEPS + 1;
	bool stalled;

	memset(u->mem, PLAIN, DEPTH * LENGTH);
	u->failed = false;
	table->done = 0;
	table->qpn[OWNER] = 0;
	table->qpn[THIEF] = 0;
	table->at = round * STEPS + STEP_CONNECT;
	if (!stranger_meet(u, deed, ending) || !expose(u, ending))
		return false;
	if (!stranger_await(table, round, STEP_READY))
		return false;
	stranger_reach(table, STEP_GO);
	stalled = is_owners_deed(deed) ? send_until_stalled(u, deed, knob) :
					 await_accesses(u);
	table->stay = stalled;
	ret = stalled ? take_back(u, ending) : 0;
	/* In time after all. */
	if (ret == -EAGAIN)
		stalled = false;
	else
		MUST(table, !ret);
	if (stalled)
		memset(u->mem, SECRET, DEPTH * LENGTH);
	table->stay = false;
	if (knob >= 0)
		MUST(table, release_thief(knob));
	stranger_reach(table, STEP_TAKEN);
	if (!stranger_await(table, round, STEP_JUDGED))
		return false;
	if (stalled)
		table->spoilt += DEPTH * LENGTH - stranger_count(u->mem, SECRET);
	table->stalled += stalled;
	return true;
}

static void be_owner(struct table *table, uint8_t *mem, enum deed deed,
		     enum ending ending, int knob)
{
	long end = topo_now_ms() + TRY_MS;
	struct user u;

	stranger_become(OWNER_UID);
	stranger_pin(0);
	if (!stranger_open(&u, table, OWNER, mem))
		return;
	while (table->stalled < STALLS && topo_now_ms() < end) {
		if (!tempt(&u, deed, ending, knob))
			break;
		restore(&u, ending);
	}
	table->at = OVER;
}

/* ---- the administrator ---- */

FIXTURE_SETUP(strangers)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	self->table = mmap(NULL, sizeof(*self->table), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	self->mem = mmap(NULL, DEPTH * LENGTH, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->table);
	ASSERT_NE(MAP_FAILED, self->mem);
	/* The thief's QP has the other one. */
	stranger_pin(0);
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &unlimited));
	ASSERT_EQ(0, topo_run("chmod a+rw /dev/infiniband/uverbs*"));
	self->by_hold = knob_exists("hold");
}

FIXTURE_TEARDOWN(strangers)
{
	if (self->by_hold)
		EXPECT_EQ(0, knob_turn("hold", false));
	munmap(self->table, sizeof(*self->table));
	munmap(self->mem, DEPTH * LENGTH);
}

/* What the owner writes to without a right to: opened before it gave that up. */
static int open_knob(void)
{
	knob_turn("hold", false);
	return open(KNOBS "/hold/probability", O_WRONLY);
}

/* The owner goes, or its device; then its pages hold what somebody else has. */
static void end_owner(struct __test_metadata *_metadata, struct table *table,
		      uint8_t *mem, enum ending ending, int knob, pid_t owner)
{
	if (ending == END_KILL) {
		kill(owner, SIGKILL);
		waitpid(owner, NULL, 0);
	} else {
		ASSERT_EQ(0, nldev_link_del(TOPO_LINK));
	}
	memset(mem, SECRET, DEPTH * LENGTH);
	table->stay = false;
	if (knob >= 0)
		EXPECT_TRUE(release_thief(knob));
	table->stalled++;
	stranger_reach(table, STEP_TAKEN);
	EXPECT_TRUE(stranger_await(table, table->at / STEPS, STEP_JUDGED));
	table->spoilt += DEPTH * LENGTH - stranger_count(mem, SECRET);
	table->at = OVER;
	if (ending == END_LINK) {
		kill(owner, SIGKILL);
		waitpid(owner, NULL, 0);
		ASSERT_EQ(0, topo_link_add(TOPO_LINK, TOPO_NETDEV));
		topo_run("chmod a+rw /dev/infiniband/uverbs*");
	}
}

/* Returns whether the thief's QP was kept from running, once at least. */
static void attack(struct __test_metadata *_metadata, struct table *table,
		   uint8_t *mem, enum deed deed, enum ending ending, int knob)
{
	pid_t owner, thief, gone = 0;
	int left = 2;

	memset(table, 0, sizeof(*table));
	thief = fork();
	if (!thief) {
		stranger_be_thief(table, deed, ending, knob >= 0);
		_exit(0);
	}
	owner = fork();
	if (!owner) {
		be_owner(table, mem, deed, ending, knob);
		_exit(0);
	}
	ASSERT_LT(0, thief);
	ASSERT_LT(0, owner);
	while (left) {
		if (stranger_is_at(table, STEP_STALLED)) {
			end_owner(_metadata, table, mem, ending, knob, owner);
			left--;
		}
		gone = waitpid(-1, NULL, WNOHANG);
		if (gone > 0) {
			left--;
			/* Who has died lets the other one go. */
			table->at = OVER;
		}
		usleep(500);
	}
}

TEST_F_TIMEOUT(strangers, get_no_secrets, 300)
{
	bool dies = variant->ending == END_KILL || variant->ending == END_LINK;
	int rounds = dies ? STALLS : 1, stalled = 0, knob = -1;
	struct table *table = self->table;
	long leaked = 0, spoilt = 0;

	if (self->by_hold)
		knob = open_knob();
	else if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU, and no faults on demand");
	while (rounds--) {
		attack(_metadata, table, self->mem, variant->deed,
		       variant->ending, knob);
		EXPECT_EQ(0, table->wrong);
		leaked += table->leaked;
		spoilt += table->spoilt;
		stalled += table->stalled;
	}
	TH_LOG("%d times the memory was taken back", stalled);
	/* Else nothing was tried. */
	EXPECT_LT(0, stalled);
	EXPECT_EQ(0, leaked);
	EXPECT_EQ(0, spoilt);
}

TEST_HARNESS_MAIN
