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

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scene.h"

#define ROUNDS		10

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
	s->mem = aligned_alloc(4096, SCENE_LENGTH);
	s->elsewhere = aligned_alloc(4096, SCENE_LENGTH);
	s->other_pd = ibv_alloc_pd(s->sets[1].ctx);
	ASSERT_NE(NULL, s->other_pd);
	s->peer.set = &s->sets[0];
	s->peer.opcode = variant->opcode;
	s->peer.random = self->random;
	ASSERT_TRUE(scene_get_pages(&s->peer));
	ASSERT_TRUE(scene_register_peer(&s->peer));
}

FIXTURE_TEARDOWN(revoke)
{
	struct scene *s = &self->s;

	EXPECT_EQ(0, ibv_dereg_mr(s->peer.mr));
	EXPECT_EQ(0, ibv_dealloc_pd(s->other_pd));
	EXPECT_EQ(0, twin_close(s->sets));
	munmap(s->peer.mem, SCENE_PEERS_LENGTH);
	free(s->elsewhere);
	free(s->mem);
}

/* One round up to where the key is taken away, and what is looked at then. */
static void take_away(struct __test_metadata *_metadata, struct scene *s,
		      uint32_t *random, int (*grant)(struct scene *s),
		      int (*revoke)(struct scene *s))
{
	ASSERT_EQ(0, scene_begin(s, grant));
	ASSERT_TRUE(scene_wait_done(&s->peer, 1 + twin_random(random) % 4));
	scene_dawdle(random);
	EXPECT_EQ(0, s->peer.status);
	ASSERT_EQ(0, revoke(s));
	memset(s->mem, SCENE_SECRET, SCENE_LENGTH);
}

/* What is in flight now comes before this returns. */
static void look_back(struct __test_metadata *_metadata, struct scene *s)
{
	while (!s->peer.ended && scene_all_are(s->mem, SCENE_SECRET))
		sched_yield();
	pthread_join(s->thread, NULL);
	ASSERT_FALSE(s->peer.stuck);
	usleep(1000);
	EXPECT_TRUE(scene_all_are(s->mem, SCENE_SECRET));
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
		ASSERT_EQ(0, scene_end(s));
	}
}

TEST_F_TIMEOUT(revoke, dereg_mr, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_region,
		  scene_by_dereg);
}

TEST_F_TIMEOUT(revoke, rereg_mr_access, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_region,
		  scene_by_rereg_access);
}

TEST_F_TIMEOUT(revoke, rereg_mr_pd, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_region,
		  scene_by_rereg_pd);
}

TEST_F_TIMEOUT(revoke, dealloc_mw_type_1, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_type_1,
		  scene_by_dealloc);
}

TEST_F_TIMEOUT(revoke, dealloc_mw_type_2, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_type_2,
		  scene_by_dealloc);
}

TEST_F_TIMEOUT(revoke, unbind_mw, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_type_1,
		  scene_by_unbind);
}

TEST_F_TIMEOUT(revoke, rebind_mw, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_type_1,
		  scene_by_rebind);
}

TEST_F_TIMEOUT(revoke, local_inv, 600)
{
	stop_peer(_metadata, &self->s, &self->random, scene_grant_type_2,
		  scene_by_local_inv);
}

TEST_F_TIMEOUT(revoke, send_with_inv, 600)
{
	stop_peer(_metadata, &self->s, &self->random,
		  scene_grant_type_2_and_receive, scene_by_send_with_inv);
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
		take_away(_metadata, s, &self->random, scene_grant_region,
			  scene_by_rereg_elsewhere);
		ASSERT_TRUE(scene_wait_done(&s->peer,
					    s->peer.done + 2 * SCENE_DEPTH));
		s->peer.stop = true;
		look_back(_metadata, s);
		if (!s->peer.status) {
			moved++;
			EXPECT_EQ(variant->opcode == IBV_WR_RDMA_READ,
				  scene_all_are(s->elsewhere, SCENE_BEFORE));
		} else {
			EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, s->peer.status);
		}
		ASSERT_EQ(0, scene_end(s));
	}
	TH_LOG("%d of %d times the peer noticed nothing", moved, rounds);
}

static size_t count_secrets(const uint8_t *mem, size_t size)
{
	size_t count = 0;

	while (size--)
		count += mem[size] == SCENE_SECRET;
	return count;
}

/*
 * Requests that are under way lose the memory of their own side. What they send
 * is then never what others put into the pages, and nothing is received.
 */
TEST_F_TIMEOUT(revoke, dereg_mr_of_the_requester, 600)
{
	bool is_write = variant->opcode == IBV_WR_RDMA_WRITE;
	int round, rounds = ROUNDS * twin_soak(), count;
	struct scene *s = &self->s;
	size_t secrets;

	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, scene_begin(s, scene_grant_region));
		count = 1 + twin_random(&self->random) % 4;
		ASSERT_TRUE(scene_wait_done(&s->peer, count));
		scene_dawdle(&self->random);
		EXPECT_EQ(0, s->peer.status);
		ASSERT_EQ(0, ibv_dereg_mr(s->peer.mr));
		if (is_write)
			ASSERT_TRUE(scene_get_pages(&s->peer));
		memset(s->peer.mem, SCENE_SECRET, SCENE_PEERS_LENGTH);
		pthread_join(s->thread, NULL);
		ASSERT_FALSE(s->peer.stuck);
		EXPECT_EQ(IBV_WC_LOC_PROT_ERR, s->peer.status);
		usleep(1000);
		secrets = is_write ? count_secrets(s->mem, SCENE_LENGTH) :
				     count_secrets(s->peer.mem,
						   SCENE_PEERS_LENGTH);
		EXPECT_EQ(is_write ? 0 : SCENE_PEERS_LENGTH, secrets);
		ASSERT_EQ(0, scene_end(s));
		ASSERT_TRUE(scene_register_peer(&s->peer));
	}
}

TEST_HARNESS_MAIN
