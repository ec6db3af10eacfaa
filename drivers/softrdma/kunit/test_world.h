/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Setup for the KUnit tests of memory: a device that is not registered, some
 * memory, and short forms of work requests and peers' accesses.
 */
#ifndef SRDMA_TEST_WORLD_H
#define SRDMA_TEST_WORLD_H

#include <kunit/test.h>
#include <linux/hrtimer.h>

#include "memory/access.h"
#include "memory/region.h"
#include "memory/window.h"
#include "objects/device.h"

/* Pages of the memory that regions are made of. */
#define PAGES_ORDER	5
#define PAGES		(1U << PAGES_ORDER)
#define BYTES		(PAGES * PAGE_SIZE)

#define ALL_REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct srdma_test_world - what each test finds
 * @dev: device with a table of keys and nothing else
 * @uobject: makes @pd one of user space
 * @pd: protection domain of most things
 * @alien: another one
 * @kernel: protection domain of a kernel consumer
 * @set: windows of the QP
 * @other_set: windows of another QP
 * @who: the QP
 * @base: contiguous memory
 * @visit: ends the access under way
 * @visited: key that is being accessed
 * @seat: of that access, or NULL
 * @visiting: the access is under way
 */
struct srdma_test_world {
	struct srdma_dev *dev;
	struct ib_uobject uobject;
	struct ib_pd pd;
	struct ib_pd alien;
	struct ib_pd kernel;
	struct srdma_mw_set set;
	struct srdma_mw_set other_set;
	struct srdma_mem_who who;
	u8 *base;

	struct hrtimer visit;
	struct srdma_key *visited;
	struct srdma_key_seat *seat;
	bool visiting;
};

int srdma_test_init(struct kunit *test);
void srdma_test_exit(struct kunit *test);

struct srdma_mr *srdma_test_alloc_region(struct kunit *test, struct ib_pd *pd);
struct srdma_mr *srdma_test_make_region(struct kunit *test, struct ib_pd *pd,
					u64 iova, u32 access);
void srdma_test_end_region(struct kunit *test, struct srdma_mr *mr);
u8 *srdma_test_byte_of(const struct srdma_test_world *w, u64 offset);
void srdma_test_fill(struct srdma_test_world *w);

enum srdma_mem_why srdma_test_reg(struct srdma_test_world *w,
				  struct srdma_mr *mr, u64 iova, u32 access);
enum srdma_mem_why srdma_test_invalidate(const struct srdma_mem_who *who,
					 u32 key, bool by_peer);
enum srdma_mem_why srdma_test_remote(const struct srdma_mem_who *who, u32 rkey,
				     u64 va, u64 len, u32 access);
enum srdma_mem_why srdma_test_local(const struct srdma_mem_who *who, u32 lkey,
				    u64 addr, u32 len, u32 access);

void srdma_test_visit(struct kunit *test, struct srdma_key *key);
bool srdma_test_visit_over(const struct srdma_test_world *w);

#endif
