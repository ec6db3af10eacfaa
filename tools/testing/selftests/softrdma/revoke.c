// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that is taken from a peer in the middle of its accesses: by the end of
 * its region or window, by a change of the region, by invalidation. When the
 * call returns, or the request has completed, no byte is written any more, and
 * none that is written later is read. And memory that a requester takes from its
 * own requests.
 *
 * SRT_SEED repeats a run, SRT_SOAK=1 makes it twenty times as long.
 */
#include "twin_fixture.h"

#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "topo.h"
#include "uverbs.h"

#define ROUNDS		10
#define DEPTH		4
#define LENGTH		(1 << 20)
#define UNIT		(64 << 10)
#define PEERS_LENGTH	(DEPTH * LENGTH)
#define PATIENCE_MS	20000

/* What the owner's memory holds before, what the peer writes there. */
#define BEFORE		0x11
#define PEERS		0x77
/* What it holds afterwards, which the peer must neither change nor see. */
#define SECRET		0xee

#define ACCESS_ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define ACCESS_WINDOW	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC)

/**
 * struct peer - who accesses the owner's memory, in a thread
 * @set: its device
 * @qp: its QP
 * @mem: its memory, a piece of LENGTH for each request outstanding
 * @mr: region of it
 * @lkey: key of that, also when it is gone
 * @opcode: what it does
 * @random: state of its generator
 * @addr: where the owner's memory begins
 * @key: key of that
 * @inv_key: not 0: a SEND shall invalidate this key, once
 * @done: accesses complete; written by the thread
 * @stop: begin no more accesses
 * @ended: it has begun no more, and all are complete unless it is @stuck
 * @stuck: some request has never completed, or could not be posted
 * @status: of the first request that failed
 * @saw_secret: one that succeeded read what it must not; or, once @ended,
 *	one that failed
 */
struct peer {
	struct verbs_set *set;
	struct ibv_qp *qp;
	uint8_t *mem;
	struct ibv_mr *mr;
	uint32_t lkey;
	enum ibv_wr_opcode opcode;
	uint32_t random;
	uint64_t addr;
	uint32_t key;
	atomic_uint inv_key;
	atomic_int done;
	atomic_bool stop;
	atomic_bool ended;
	bool stuck;
	enum ibv_wc_status status;
	bool saw_secret;
};

/**
 * struct scene - the owner and its peer
 * @sets: of the peer, and of the owner
 * @peer: the peer
 * @thread: its thread
 * @qp: the owner's QP
 * @mem: the owner's memory
 * @elsewhere: as much, where accesses do no harm
 * @mr: region of @mem, or NULL
 * @mw: window on it, or NULL
 * @other_pd: another protection domain of the owner
 */
struct scene {
	struct verbs_set sets[2];
	struct peer peer;
	pthread_t thread;
	struct ibv_qp *qp;
	uint8_t *mem;
	uint8_t *elsewhere;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_pd *other_pd;
};

/* ---- the peer ---- */

static uint8_t *piece(const struct peer *peer, uint64_t slot)
{
	return peer->mem + slot * LENGTH;
}

static int post_access(struct peer *peer, int slot)
{
	uint32_t units = twin_random(&peer->random) % 8 ?
			 1 + twin_random(&peer->random) % 3 : LENGTH / UNIT;
	bool is_atomic = peer->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge = {
		(uintptr_t)piece(peer, slot), is_atomic ? 8 : units * UNIT,
		peer->lkey
	};
	uint64_t offset = twin_random(&peer->random) % (LENGTH / UNIT + 1 -
							units) * UNIT;
	struct ibv_send_wr *bad, wr = {
		.wr_id = slot,
		.opcode = peer->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (is_atomic) {
		wr.wr.atomic.remote_addr = peer->addr + offset;
		wr.wr.atomic.rkey = peer->key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = peer->addr + offset;
		wr.wr.rdma.rkey = peer->key;
	}
	return ibv_post_send(peer->qp, &wr, &bad);
}

static int post_invalidation(struct peer *peer, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = key,
	};

	return ibv_post_send(peer->qp, &wr, &bad);
}

static bool holds_secret(const struct peer *peer, int slot)
{
	return peer->opcode == IBV_WR_RDMA_READ &&
	       memchr(piece(peer, slot), SECRET, LENGTH);
}

static void note(struct peer *peer, const struct ibv_wc *wc)
{
	if (wc->status) {
		if (!peer->status)
			peer->status = wc->status;
		peer->stop = true;
		return;
	}
	if (holds_secret(peer, wc->wr_id))
		peer->saw_secret = true;
	peer->done++;
}

/* Slots are used in turn, and requests complete in order. */
static void *access_memory(void *arg)
{
	long deadline = topo_now_ms() + PATIENCE_MS;
	uint32_t head = 0, tail = 0, key;
	struct peer *peer = arg;
	struct ibv_wc wc;
	int slot;

	while ((!peer->stop || tail != head) && topo_now_ms() < deadline) {
		key = atomic_exchange(&peer->inv_key, 0);
		if (key && post_invalidation(peer, key))
			peer->stop = peer->stuck = true;
		for (; !peer->stop && head - tail < DEPTH; head++)
			if (post_access(peer, head % DEPTH))
				peer->stop = peer->stuck = true;
		while (ibv_poll_cq(peer->set->cq, 1, &wc) > 0) {
			/* Unsignaled, the invalidation tells only of failure. */
			if (wc.opcode != IBV_WC_SEND)
				tail++;
			note(peer, &wc);
		}
		sched_yield();
	}
	/* What failed may have come in part. */
	for (slot = 0; slot < DEPTH; slot++)
		if (holds_secret(peer, slot))
			peer->saw_secret = true;
	peer->stuck |= tail != head;
	peer->ended = true;
	return NULL;
}

static bool wait_done(const struct peer *peer, int count)
{
	long deadline = topo_now_ms() + PATIENCE_MS;

	while (peer->done < count && !peer->ended) {
		if (topo_now_ms() > deadline)
			return false;
		sched_yield();
	}
	return true;
}

/* ---- the owner ---- */

static struct ibv_qp *make_qp(struct verbs_set *set)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { .max_send_wr = 2 * DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(set->pd, &init);
}

/* The status of the owner's next completion, or -ETIMEDOUT. */
static int wait_owner(struct scene *s)
{
	long deadline = topo_now_ms() + PATIENCE_MS;
	struct ibv_wc wc;

	while (ibv_poll_cq(s->sets[1].cq, 1, &wc) != 1) {
		if (topo_now_ms() > deadline)
			return -ETIMEDOUT;
		sched_yield();
	}
	return wc.status;
}

static int post_owner(struct scene *s, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(s->qp, wr, &bad) ?: wait_owner(s);
}

static struct ibv_mw_bind_info range(struct scene *s, size_t start,
				     size_t length)
{
	return (struct ibv_mw_bind_info) {
		.mr = s->mr,
		.addr = (uintptr_t)s->mem + start,
		.length = length,
		.mw_access_flags = ACCESS_WINDOW,
	};
}

static int bind_type_1(struct scene *s, size_t start, size_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = range(s, start, length),
	};

	return ibv_bind_mw(s->qp, s->mw, &bind) ?: wait_owner(s);
}

static int bind_type_2(struct scene *s)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = s->mw,
			.rkey = ibv_inc_rkey(s->mw->rkey),
			.bind_info = range(s, 0, LENGTH),
		},
	};
	int ret = post_owner(s, &wr);

	if (!ret)
		s->mw->rkey = wr.bind_mw.rkey;
	return ret;
}

static int grant_region(struct scene *s)
{
	s->peer.key = s->mr->rkey;
	return 0;
}

static int grant_type_1(struct scene *s)
{
	int ret;

	s->mw = ibv_alloc_mw(s->sets[1].pd, IBV_MW_TYPE_1);
	ret = s->mw ? bind_type_1(s, 0, LENGTH) : ENOMEM;
	if (!ret)
		s->peer.key = s->mw->rkey;
	return ret;
}

static int grant_type_2(struct scene *s)
{
	int ret;

	s->mw = ibv_alloc_mw(s->sets[1].pd, IBV_MW_TYPE_2);
	ret = s->mw ? bind_type_2(s) : ENOMEM;
	if (!ret)
		s->peer.key = s->mw->rkey;
	return ret;
}

/* With a receive for the invalidation to come. */
static int grant_type_2_and_receive(struct scene *s)
{
	struct ibv_recv_wr wr = {}, *bad;

	return grant_type_2(s) ?: ibv_post_recv(s->qp, &wr, &bad);
}

static int by_dereg(struct scene *s)
{
	int ret = ibv_dereg_mr(s->mr);

	s->mr = NULL;
	return ret;
}

/*
 * ibv_rereg_mr() ends in the library, which does not know that this driver can
 * do it.
 */
static int rereg(struct scene *s, uint32_t flags, void *start,
		 struct ibv_pd *pd, uint32_t access)
{
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = s->mr->handle,
		.flags = flags,
		.start = (uintptr_t)start,
		.length = LENGTH,
		.hca_va = (uintptr_t)s->mem,
		.pd_handle = pd->handle,
		.access_flags = access,
	};
	struct ib_uverbs_rereg_mr_resp resp;
	int ret = uverbs_write(s->sets[1].ctx->cmd_fd,
			       IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd),
			       &resp, sizeof(resp));

	return ret ?: resp.rkey != s->mr->rkey;
}

/* Other pages behind the same addresses. */
static int by_rereg_elsewhere(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_TRANSLATION, s->elsewhere,
		     s->sets[1].pd, 0);
}

static int by_rereg_access(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_ACCESS, s->mem, s->sets[1].pd,
		     IBV_ACCESS_LOCAL_WRITE);
}

static int by_rereg_pd(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_PD, s->mem, s->other_pd, 0);
}

static int by_dealloc(struct scene *s)
{
	int ret = ibv_dealloc_mw(s->mw);

	s->mw = NULL;
	return ret;
}

static int by_unbind(struct scene *s)
{
	return bind_type_1(s, 0, 0);
}

static int by_rebind(struct scene *s)
{
	return bind_type_1(s, LENGTH - UNIT, UNIT);
}

static int by_local_inv(struct scene *s)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = s->mw->rkey,
	};

	return post_owner(s, &wr);
}

static int by_send_with_inv(struct scene *s)
{
	s->peer.inv_key = s->mw->rkey;
	return wait_owner(s);
}

/* ---- rounds ---- */

static bool all_are(const uint8_t *mem, uint8_t byte)
{
	return mem[0] == byte && !memcmp(mem, mem + 1, LENGTH - 1);
}

/* New pages, which may be any that were given back by then. */
static bool get_pages(struct peer *peer)
{
	void *at = mmap(peer->mem, PEERS_LENGTH, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS |
			(peer->mem ? MAP_FIXED : 0), -1, 0);

	if (at == MAP_FAILED)
		return false;
	peer->mem = at;
	return true;
}

static bool register_peer(struct peer *peer)
{
	peer->mr = ibv_reg_mr(peer->set->pd, peer->mem, PEERS_LENGTH,
			      IBV_ACCESS_LOCAL_WRITE);
	if (peer->mr)
		peer->lkey = peer->mr->lkey;
	return peer->mr;
}

static int connect_round(struct scene *s)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;

	/* New ones, so that nothing of an earlier round is for them. */
	s->peer.qp = make_qp(&s->sets[0]);
	s->qp = make_qp(&s->sets[1]);
	if (!s->peer.qp || !s->qp)
		return ENOMEM;
	attr.mtu = IBV_MTU_4096;
	return twin_connect(s->sets, s->peer.qp, s->qp, &attr);
}

static int begin_round(struct scene *s, int (*grant)(struct scene *s))
{
	struct peer *peer = &s->peer;
	int ret;

	memset(s->mem, BEFORE, LENGTH);
	memset(s->elsewhere, BEFORE, LENGTH);
	memset(peer->mem, PEERS, PEERS_LENGTH);
	peer->done = 0;
	peer->inv_key = 0;
	peer->stop = false;
	peer->ended = false;
	peer->stuck = false;
	peer->status = IBV_WC_SUCCESS;
	peer->saw_secret = false;
	s->mr = ibv_reg_mr(s->sets[1].pd, s->mem, LENGTH,
			   ACCESS_ALL | IBV_ACCESS_MW_BIND);
	if (!s->mr)
		return ENOMEM;
	peer->addr = (uintptr_t)s->mem;
	ret = connect_round(s) ?: grant(s);
	return ret ?: pthread_create(&s->thread, NULL, access_memory, peer);
}

static int end_round(struct scene *s)
{
	struct ibv_wc wc;
	int ret;

	ret = ibv_destroy_qp(s->peer.qp) ?: ibv_destroy_qp(s->qp);
	if (!ret && s->mw)
		ret = ibv_dealloc_mw(s->mw);
	if (!ret && s->mr)
		ret = ibv_dereg_mr(s->mr);
	s->mw = NULL;
	s->mr = NULL;
	while (ibv_poll_cq(s->sets[0].cq, 1, &wc) > 0 ||
	       ibv_poll_cq(s->sets[1].cq, 1, &wc) > 0)
		;
	return ret;
}

/* Some microseconds, in which the peer goes on. */
static void dawdle(uint32_t *random)
{
	uint32_t turns = twin_random(random) % 2000;

	while (turns--)
		atomic_signal_fence(memory_order_seq_cst);
}

FIXTURE(revoke)
{
	struct scene s;
	uint32_t random;
};

FIXTURE_VARIANT(revoke)
{
	enum twin_kind kind;
	enum ibv_wr_opcode opcode;
};

#define VARIANT(name, ...) \
	FIXTURE_VARIANT_ADD(revoke, name) { __VA_ARGS__ }

VARIANT(loopback_write, TWIN_LOOPBACK, IBV_WR_RDMA_WRITE);
VARIANT(loopback_read, TWIN_LOOPBACK, IBV_WR_RDMA_READ);
VARIANT(loopback_atomic, TWIN_LOOPBACK, IBV_WR_ATOMIC_FETCH_AND_ADD);
VARIANT(veth_write, TWIN_VETH, IBV_WR_RDMA_WRITE);
VARIANT(veth_read, TWIN_VETH, IBV_WR_RDMA_READ);
VARIANT(veth_atomic, TWIN_VETH, IBV_WR_ATOMIC_FETCH_AND_ADD);

FIXTURE_SETUP(revoke)
{
	struct scene *s = &self->s;

	memset(s, 0, sizeof(*s));
	self->random = twin_seed();
	TH_LOG("seed %u", self->random);
	ASSERT_EQ(0, twin_open(s->sets, variant->kind));
	s->mem = aligned_alloc(4096, LENGTH);
	s->elsewhere = aligned_alloc(4096, LENGTH);
	s->other_pd = ibv_alloc_pd(s->sets[1].ctx);
	ASSERT_NE(NULL, s->other_pd);
	s->peer.set = &s->sets[0];
	s->peer.opcode = variant->opcode;
	s->peer.random = self->random;
	ASSERT_TRUE(get_pages(&s->peer));
	ASSERT_TRUE(register_peer(&s->peer));
}

FIXTURE_TEARDOWN(revoke)
{
	struct scene *s = &self->s;

	EXPECT_EQ(0, ibv_dereg_mr(s->peer.mr));
	EXPECT_EQ(0, ibv_dealloc_pd(s->other_pd));
	EXPECT_EQ(0, twin_close(s->sets));
	munmap(s->peer.mem, PEERS_LENGTH);
	free(s->elsewhere);
	free(s->mem);
}

/* One round up to where the key is taken away, and what is looked at then. */
static void take_away(struct __test_metadata *_metadata, struct scene *s,
		      uint32_t *random, int (*grant)(struct scene *s),
		      int (*revoke)(struct scene *s))
{
	ASSERT_EQ(0, begin_round(s, grant));
	ASSERT_TRUE(wait_done(&s->peer, 1 + twin_random(random) % 4));
	dawdle(random);
	EXPECT_EQ(0, s->peer.status);
	ASSERT_EQ(0, revoke(s));
	memset(s->mem, SECRET, LENGTH);
}

/* What is in flight now comes before this returns. */
static void look_back(struct __test_metadata *_metadata, struct scene *s)
{
	while (!s->peer.ended && all_are(s->mem, SECRET))
		sched_yield();
	pthread_join(s->thread, NULL);
	ASSERT_FALSE(s->peer.stuck);
	usleep(1000);
	EXPECT_TRUE(all_are(s->mem, SECRET));
	EXPECT_FALSE(s->peer.saw_secret);
}

/* The peer is stopped by that alone, and told why. */
static void stop_peer(struct __test_metadata *_metadata, struct scene *s,
		      uint32_t *random, int (*grant)(struct scene *s),
		      int (*revoke)(struct scene *s))
{
	int round, rounds = ROUNDS * twin_soak();

	for (round = 0; round < rounds; round++) {
		take_away(_metadata, s, random, grant, revoke);
		look_back(_metadata, s);
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, s->peer.status);
		ASSERT_EQ(0, end_round(s));
	}
}

TEST_F_TIMEOUT(revoke, dereg_mr, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_region, by_dereg);
}

TEST_F_TIMEOUT(revoke, rereg_mr_access, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_region,
		  by_rereg_access);
}

TEST_F_TIMEOUT(revoke, rereg_mr_pd, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_region,
		  by_rereg_pd);
}

TEST_F_TIMEOUT(revoke, dealloc_mw_type_1, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_1, by_dealloc);
}

TEST_F_TIMEOUT(revoke, dealloc_mw_type_2, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_2, by_dealloc);
}

TEST_F_TIMEOUT(revoke, unbind_mw, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_1, by_unbind);
}

TEST_F_TIMEOUT(revoke, rebind_mw, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_1, by_rebind);
}

TEST_F_TIMEOUT(revoke, local_inv, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_2,
		  by_local_inv);
}

TEST_F_TIMEOUT(revoke, send_with_inv, 600)
{
	stop_peer(_metadata, &self->s, &self->random, grant_type_2_and_receive,
		  by_send_with_inv);
}

/*
 * A region that moves names nothing for a moment: re-registration does what
 * deregistration and registration would (11.2.8.3), so the peer may be refused.
 * If it is not, it goes on in the new place.
 */
TEST_F_TIMEOUT(revoke, rereg_mr_translation, 600)
{
	int round, rounds = ROUNDS * twin_soak(), moved = 0;
	struct scene *s = &self->s;

	for (round = 0; round < rounds; round++) {
		take_away(_metadata, s, &self->random, grant_region,
			  by_rereg_elsewhere);
		ASSERT_TRUE(wait_done(&s->peer, s->peer.done + 2 * DEPTH));
		s->peer.stop = true;
		look_back(_metadata, s);
		if (!s->peer.status) {
			moved++;
			EXPECT_EQ(variant->opcode == IBV_WR_RDMA_READ,
				  all_are(s->elsewhere, BEFORE));
		} else {
			EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, s->peer.status);
		}
		ASSERT_EQ(0, end_round(s));
	}
	TH_LOG("%d of %d times the peer noticed nothing", moved, rounds);
}

static size_t count_secrets(const uint8_t *mem, size_t size)
{
	size_t count = 0;

	while (size--)
		count += mem[size] == SECRET;
	return count;
}

/*
 * Requests that are under way lose the memory of their own side. What they send
 * is then never what others put into the pages, and nothing is received.
 */
TEST_F_TIMEOUT(revoke, dereg_mr_of_the_requester, 600)
{
	bool is_write = variant->opcode == IBV_WR_RDMA_WRITE;
	int round, rounds = ROUNDS * twin_soak();
	struct scene *s = &self->s;
	size_t secrets;

	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, begin_round(s, grant_region));
		ASSERT_TRUE(wait_done(&s->peer,
				      1 + twin_random(&self->random) % 4));
		dawdle(&self->random);
		EXPECT_EQ(0, s->peer.status);
		ASSERT_EQ(0, ibv_dereg_mr(s->peer.mr));
		if (is_write)
			ASSERT_TRUE(get_pages(&s->peer));
		memset(s->peer.mem, SECRET, PEERS_LENGTH);
		pthread_join(s->thread, NULL);
		ASSERT_FALSE(s->peer.stuck);
		EXPECT_EQ(IBV_WC_LOC_PROT_ERR, s->peer.status);
		usleep(1000);
		secrets = is_write ? count_secrets(s->mem, LENGTH) :
				     count_secrets(s->peer.mem, PEERS_LENGTH);
		EXPECT_EQ(is_write ? 0 : PEERS_LENGTH, secrets);
		ASSERT_EQ(0, end_round(s));
		ASSERT_TRUE(register_peer(&s->peer));
	}
}

TEST_HARNESS_MAIN
