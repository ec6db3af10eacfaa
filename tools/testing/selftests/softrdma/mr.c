// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions and memory windows. */
#include "fixture.h"

#include <sys/mman.h>

#define LENGTH 16384

static void *map(size_t length, int prot)
{
	void *at = mmap(NULL, length, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

TEST_F(dev, every_access_is_granted_with_local_write)
{
	static const int extra[] = {
		0, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_MW_BIND,
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND,
	};
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(extra); i++) {
		mr = ibv_reg_mr(self->set.pd, at, LENGTH,
				IBV_ACCESS_LOCAL_WRITE | extra[i]);
		ASSERT_NE(NULL, mr);
		EXPECT_NE(0, mr->lkey);
		EXPECT_EQ(0, ibv_dereg_mr(mr));
	}
}

TEST_F(dev, remote_write_needs_local_write)
{
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);

	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, LENGTH,
				   IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, LENGTH,
				   IBV_ACCESS_REMOTE_ATOMIC));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, unknown_access_flags_are_refused)
{
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);

	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, LENGTH,
				   IBV_ACCESS_LOCAL_WRITE | (1 << 18)));
	EXPECT_NE(0, errno);
}

TEST_F(dev, on_demand_paging_is_refused)
{
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);

	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, LENGTH,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_ON_DEMAND));
	EXPECT_NE(0, errno);
}

TEST_F(dev, relaxed_ordering_is_an_optional_flag)
{
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->set.pd, at, LENGTH, IBV_ACCESS_LOCAL_WRITE |
						  IBV_ACCESS_RELAXED_ORDERING);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, unmapped_memory_is_refused)
{
	char *at = map(3 * LENGTH, PROT_READ | PROT_WRITE);

	ASSERT_EQ(0, munmap(at + LENGTH, LENGTH));
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at + LENGTH, LENGTH, 0));
	EXPECT_EQ(EFAULT, errno);
	/* The hole in the middle spoils the whole. */
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, 3 * LENGTH, 0));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(dev, read_only_memory_is_not_writable_by_registration)
{
	void *at = map(LENGTH, PROT_READ);
	struct ibv_mr *mr;

	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, LENGTH,
				   IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(EFAULT, errno);
	mr = ibv_reg_mr(self->set.pd, at, LENGTH, IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, wrapping_length_is_refused)
{
	void *at = map(LENGTH, PROT_READ | PROT_WRITE);
	size_t length = SIZE_MAX - (uintptr_t)at + 1;

	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, length, 0));
	EXPECT_NE(0, errno);
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, SIZE_MAX, 0));
	EXPECT_NE(0, errno);
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, at, SIZE_MAX / 2, 0));
	EXPECT_NE(0, errno);
}

TEST_F(dev, iova_differs_from_the_address)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	mr = ibv_reg_mr_iova(self->set.pd, at + 64, LENGTH - 64,
			     0x1000000000040ull, IBV_ACCESS_LOCAL_WRITE |
						 IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, iova_that_wraps_is_refused)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);

	EXPECT_EQ(NULL, ibv_reg_mr_iova(self->set.pd, at, LENGTH,
					0xfffffffffffff000ull,
					IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(EINVAL, errno);
}

/* What their keys are good for: liberal.region_of_no_length_has_no_byte. */
TEST_F(dev, zero_length_is_a_length)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->set.pd, at, 0, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, mr->length);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	mr = ibv_reg_mr(self->set.pd, NULL, 0, 0);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, keys_of_live_regions_differ)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr[128];
	int i, j;

	for (i = 0; i < 128; i++) {
		mr[i] = ibv_reg_mr(self->set.pd, at, 4096,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_READ);
		ASSERT_NE(NULL, mr[i]);
		for (j = 0; j < i; j++) {
			EXPECT_NE(mr[j]->lkey, mr[i]->lkey);
			EXPECT_NE(mr[j]->rkey, mr[i]->rkey);
		}
	}
	for (i = 0; i < 128; i++)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
}

/* A key that was just freed must not be handed out at once: stale users. */
TEST_F(dev, key_is_not_reused_at_once)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;
	uint32_t before;

	mr = ibv_reg_mr(self->set.pd, at, 4096, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	before = mr->lkey;
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	mr = ibv_reg_mr(self->set.pd, at, 4096, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	EXPECT_NE(before, mr->lkey);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, memory_may_go_before_the_registration)
{
	char *at = map(LENGTH, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->set.pd, at, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, munmap(at, LENGTH));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, large_unaligned_region)
{
	size_t length = 64 << 20;
	char *at = map(length, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->set.pd, at + 13, length - 77,
			IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, windows_of_both_types)
{
	struct ibv_mw *one, *two;

	one = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_1);
	ASSERT_NE(NULL, one);
	two = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, two);
	EXPECT_NE(one->rkey, two->rkey);
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(self->set.pd));
	EXPECT_EQ(0, ibv_dealloc_mw(one));
	EXPECT_EQ(0, ibv_dealloc_mw(two));
}

TEST_F(dev, window_of_unknown_type_is_refused)
{
	EXPECT_EQ(NULL, ibv_alloc_mw(self->set.pd, (enum ibv_mw_type)3));
	EXPECT_EQ(NULL, ibv_alloc_mw(self->set.pd, (enum ibv_mw_type)0));
}

TEST_HARNESS_MAIN
