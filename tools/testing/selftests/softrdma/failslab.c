// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every allocation and every copy from or to user space fails once, in every
 * creation. /proc/thread-self/fail-nth lets the n-th of the next call fail;
 * walking n upwards until a call has no n-th any more reaches each of its error
 * paths. The answer must be the injected error or success (not every allocation
 * is vital), and what it left behind is for kmemleak, KASAN and rmmod to find.
 */
#include "fixture.h"

#include <fcntl.h>
#include <sys/mount.h>

#include "kmsg.h"
#include "nldev.h"
#include "uverbs.h"

#define NTH_BOUND 200000

/* Allocations that may sleep fail too, silently, and pages of any order. */
static int configure(void)
{
	/* Our own /sys (see topo_enter_netns()) comes without it. */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	topo_put("/sys/kernel/debug/failslab/verbose", "0");
	topo_put("/sys/kernel/debug/failslab/reject-start", "0");
	topo_put("/sys/kernel/debug/failslab/reject-end", "0");
	topo_put("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	topo_put("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	topo_put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	topo_put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	return topo_put("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
}

/* No failures while this module is on the stack. 0 or -errno. */
static int spare_module(const char *module)
{
	unsigned long start, size;
	char line[512], name[64];
	int ret = -ENOENT;
	FILE *modules;

	modules = fopen("/proc/modules", "r");
	while (modules && ret && fgets(line, sizeof(line), modules)) {
		if (sscanf(line, "%63s %lu %*s %*s %*s %lx", name, &size,
			   &start) != 3 || strcmp(name, module))
			continue;
		sprintf(line, "%#lx", start);
		ret = topo_put("/sys/kernel/debug/failslab/reject-start", line);
		sprintf(line, "%#lx", start + size);
		ret = ret ?: topo_put("/sys/kernel/debug/failslab/reject-end", line);
	}
	if (modules)
		fclose(modules);
	return ret;
}

/**
 * struct walk - the way through one call's allocations
 * @fd: /proc/thread-self/fail-nth
 * @nth: which allocation or copy fails next
 * @failed: how many calls were answered with an error
 */
struct walk {
	int fd;
	int nth;
	int failed;
};

static void arm(struct walk *walk, bool is_coarse)
{
	char text[16];

	walk->nth += 1 + (is_coarse ? walk->nth / 20 : 0);
	snprintf(text, sizeof(text), "%d", walk->nth);
	if (pwrite(walk->fd, text, strlen(text), 0) < 0)
		_exit(99);
}

/*
 * Disarm; did the call get as far as the n-th? Asking copies to user space, and
 * so does disarming: if one of those fails the call did not, and it is disarmed.
 */
static bool was_hit(struct walk *walk)
{
	char text[16] = {};
	bool hit;

	hit = pread(walk->fd, text, sizeof(text) - 1, 0) > 0 &&
	      atoi(text) == 0;
	if (!hit)
		pwrite(walk->fd, "0", 1, 0);
	return hit;
}

/*
 * What a failed allocation or user copy comes out as. Sockets, which link_add
 * opens, turn theirs into ENFILE and ENOBUFS.
 */
static bool is_injected(int error)
{
	return error == ENOMEM || error == EFAULT || error == ENFILE ||
	       error == ENOBUFS;
}

/*
 * WALK(call, what undoes it): @call evaluates to 0 or an errno. The errno is
 * kept before anything else runs.
 */
#define WALK(call, undo)	WALK_BY(false, call, undo)

/* The same in growing steps, for what has very many of them. */
#define WALK_BY(is_coarse, call, undo)					\
do {									\
	struct walk walk = { .fd = self->nth };				\
	bool hit = true;						\
									\
	if (walk.fd < 0)						\
		SKIP(hit = false, "no fault injection in this kernel");	\
	while (hit) {							\
		int ret;						\
									\
		ASSERT_GT(NTH_BOUND, walk.nth);				\
		arm(&walk, is_coarse);					\
		ret = call;						\
		hit = was_hit(&walk);					\
		if (!ret) {						\
			undo;						\
			continue;					\
		}							\
		walk.failed++;						\
		EXPECT_TRUE(hit && is_injected(ret)) {			\
			TH_LOG("allocation %d: %s", walk.nth,		\
			       strerror(ret));				\
		}							\
	}								\
	if (walk.fd >= 0) {						\
		TH_LOG("%d allocations and copies, %d vital", walk.nth - 1,	\
		       walk.failed);					\
		EXPECT_LT(0, walk.failed);				\
	}								\
} while (0)

/* The object, or NULL and errno, as 0 or errno. */
#define MADE(object, call)	((object = call) ? 0 : errno)

FIXTURE(fail)
{
	struct verbs_set set;
	int nth;
};

FIXTURE_SETUP(fail)
{
	self->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (configure())
		self->nth = -1;
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(fail)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* Without the library, which looks for many files before it comes to this. */
TEST_F(fail, get_context)
{
	int fd = uverbs_open(TOPO_LINK);

	ASSERT_LE(0, fd);
	WALK(-uverbs_get_context(fd),
	     (close(fd), fd = uverbs_open(TOPO_LINK)));
	close(fd);
}

TEST_F(fail, alloc_pd)
{
	struct ibv_pd *pd;

	WALK(MADE(pd, ibv_alloc_pd(self->set.ctx)), ibv_dealloc_pd(pd));
}

TEST_F(fail, create_cq)
{
	struct ibv_cq *cq;

	WALK(MADE(cq, ibv_create_cq(self->set.ctx, 100, NULL, NULL, 0)),
	     ibv_destroy_cq(cq));
}

TEST_F(fail, resize_cq)
{
	struct ibv_cq *cq = ibv_create_cq(self->set.ctx, 10, NULL, NULL, 0);

	ASSERT_NE(NULL, cq);
	WALK(ibv_resize_cq(cq, cq->cqe > 500 ? 100 : 1000), (void)0);
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_F(fail, create_srq)
{
	struct ibv_srq_init_attr init = { .attr = { 50, 2, 0 } };
	struct ibv_srq *srq;

	WALK(MADE(srq, ibv_create_srq(self->set.pd, &init)),
	     ibv_destroy_srq(srq));
}

TEST_F(fail, resize_srq)
{
	struct ibv_srq_init_attr init = { .attr = { 50, 2, 0 } };
	struct ibv_srq_attr attr = { .max_wr = 400 };
	struct ibv_srq *srq = ibv_create_srq(self->set.pd, &init);

	ASSERT_NE(NULL, srq);
	WALK(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), attr.max_wr ^= 0x180);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(fail, reg_mr)
{
	static char buffer[1 << 20];
	struct ibv_mr *mr;

	WALK(MADE(mr, ibv_reg_mr(self->set.pd, buffer, sizeof(buffer),
				 IBV_ACCESS_LOCAL_WRITE)), ibv_dereg_mr(mr));
}

TEST_F(fail, alloc_mw)
{
	struct ibv_mw *mw;

	WALK(MADE(mw, ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_2)),
	     ibv_dealloc_mw(mw));
}

TEST_F(fail, create_ah)
{
	struct ibv_qp_attr attr;
	struct ibv_ah *ah;

	verbs_attr(&self->set, &attr, IBV_QPS_RTR, 0);
	WALK(MADE(ah, ibv_create_ah(self->set.pd, &attr.ah_attr)),
	     ibv_destroy_ah(ah));
}

TEST_F(fail, create_qp_rc)
{
	struct ibv_qp *qp;

	WALK(MADE(qp, verbs_qp(&self->set, IBV_QPT_RC)), ibv_destroy_qp(qp));
}

TEST_F(fail, create_qp_ud)
{
	struct ibv_qp *qp;

	WALK(MADE(qp, verbs_qp(&self->set, IBV_QPT_UD)), ibv_destroy_qp(qp));
}

TEST_F(fail, modify_qp)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	WALK(verbs_qp_to(&self->set, qp, IBV_QPS_RTS, qp->qp_num), (void)0);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(fail, attach_mcast)
{
	static const union ibv_gid group = {
		.raw = { [10] = 0xff, [11] = 0xff, 239, 77, 9, 9 },
	};
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_UD);

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0));
	WALK(ibv_attach_mcast(qp, &group, 0),
	     ibv_detach_mcast(qp, &group, 0));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/*
 * Registration is long, in the core for most of it; ours is both ends. ib_uverbs
 * is spared: where uverbs_alloc_api() fails, 7.2 leaks nodes of its own tree.
 */
TEST_F_TIMEOUT(fail, link_add, 600)
{
	int log;

	if (self->nth >= 0)
		ASSERT_EQ(0, spare_module("ib_uverbs"));
	ASSERT_EQ(0, topo_ip("link add srtf0 type dummy\n"
			     "addr add 10.80.0.1/24 dev srtf0\n"
			     "link set srtf0 up"));
	log = kmsg_mark();
	WALK_BY(true, -nldev_link_add("srtf", topo_type(), "srtf0", NULL, 0),
		nldev_link_del("srtf"));
	if (self->nth >= 0)
		EXPECT_TRUE(kmsg_has(log, "softrdma: srtf: no memory for a link on "
				     "srtf0: free some, and try again", NULL));
	close(log);
}

TEST_HARNESS_MAIN
