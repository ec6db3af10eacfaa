// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that makes all the objects it can: as many as the attributes allow,
 * as large as they allow, or as many as its memory cgroup has room for. It is
 * refused with ENOMEM, nobody is killed, others can still work, and what it took
 * comes back.
 */
#include "fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MOST		(1 << 18)	/* objects of a test at most */
#define HUNGRY_MS	100000
#define RETURN_LOOKS	300		/* 100 ms apart, on a host that may stand still */
#define TOUCHED		(64 << 20)	/* of what others are left with */
#define OTHERS		64		/* MB: what else may come and go */
#define GROUP_BYTES	"4194304"

/* ---- kinds of objects ---- */

static void *make_qp(struct verbs_set *set, uint32_t send, uint32_t recv,
		     uint32_t sge)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { send, recv, sge, sge, 0 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(set->pd, &init);
}

static void *make_small_qp(struct verbs_set *set)
{
	return make_qp(set, 1, 1, 1);
}

static void *make_usual_qp(struct verbs_set *set)
{
	return make_qp(set, 128, 512, 1);
}

static void *make_huge_qp(struct verbs_set *set)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(set->ctx, &attr))
		return NULL;
	return make_qp(set, attr.max_qp_wr, attr.max_qp_wr, attr.max_sge);
}

static int drop_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void *make_usual_cq(struct verbs_set *set)
{
	return ibv_create_cq(set->ctx, 1000, NULL, NULL, 0);
}

static void *make_huge_cq(struct verbs_set *set)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(set->ctx, &attr))
		return NULL;
	return ibv_create_cq(set->ctx, attr.max_cqe, NULL, NULL, 0);
}

static int drop_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_srq(struct verbs_set *set, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};

	return ibv_create_srq(set->pd, &init);
}

static void *make_usual_srq(struct verbs_set *set)
{
	return make_srq(set, 500, 1);
}

static void *make_huge_srq(struct verbs_set *set)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(set->ctx, &attr))
		return NULL;
	return make_srq(set, attr.max_srq_wr, attr.max_srq_sge);
}

static int drop_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *make_mr(struct verbs_set *set)
{
	static char page[4096] __attribute__((aligned(4096)));

	return ibv_reg_mr(set->pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE);
}

static int drop_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_mw(struct verbs_set *set)
{
	return ibv_alloc_mw(set->pd, IBV_MW_TYPE_1);
}

static int drop_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static void *make_ah(struct verbs_set *set)
{
	struct ibv_qp_attr attr;

	verbs_attr(set, &attr, IBV_QPS_RTR, 0);
	return ibv_create_ah(set->pd, &attr.ah_attr);
}

static int drop_ah(void *object)
{
	return ibv_destroy_ah(object);
}

static void *make_pd(struct verbs_set *set)
{
	return ibv_alloc_pd(set->ctx);
}

static int drop_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

/* ---- what the machine says ---- */

/* A line "name value" or "name: value" of a file, or -1. */
static long number_of(const char *path, const char *name)
{
	size_t len = strlen(name);
	char line[200];
	long value = -1;
	FILE *file;

	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) &&
		    (line[len] == ' ' || line[len] == ':'))
			value = atol(line + len + 1);
	if (file)
		fclose(file);
	return value;
}

/* Processes that were killed for memory, on the machine or in a cgroup. */
static long killed(void)
{
	return number_of("/proc/vmstat", "oom_kill");
}

/*
 * What is free, or is as soon as somebody needs it. MemAvailable is less by watermarks,
 * which the kernel raises for a while when memory was scarce.
 */
static long available_mb(void)
{
	const char *meminfo = "/proc/meminfo";

	return (number_of(meminfo, "MemFree") + number_of(meminfo, "Cached") +
		number_of(meminfo, "SReclaimable")) / 1024;
}

/* ---- a process that takes all it can ---- */

/**
 * struct hungry - a process that makes objects until it is refused
 * @pid: it
 * @go: closing it lets the process give everything back and exit
 * @full: readable when it was refused, or has died
 * @said: what it found; shared with it
 */
struct hungry {
	pid_t pid;
	int go;
	int full;
	struct {
		long made;
		int err;
	} *said;
};

static void join_group(const char *group)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	if (topo_put(path, "0"))
		_exit(10);
}

static void eat(struct hungry *hungry, void *(*make)(struct verbs_set *),
		int (*drop)(void *), const char *group, int go, int full)
{
	static void *objects[MOST];
	struct verbs_set set;
	long i;
	char c;

	if (verbs_open_set(&set, TOPO_LINK))
		_exit(11);
	if (group)
		join_group(group);
	for (i = 0; i < MOST; i++) {
		errno = 0;
		objects[i] = make(&set);
		if (!objects[i])
			break;
	}
	hungry->said->err = errno;
	hungry->said->made = i;
	if (write(full, "f", 1) != 1)
		_exit(12);
	while (read(go, &c, 1) > 0)
		;
	while (i--)
		if (drop(objects[i]))
			_exit(13);
	_exit(verbs_close_set(&set) ? 14 : 0);
}

/* Returns when it has been refused; 0 or what was wrong. */
static int hungry_start(struct hungry *hungry,
			void *(*make)(struct verbs_set *), int (*drop)(void *),
			const char *group)
{
	struct pollfd poll_fd;
	int go[2], full[2];
	char c;

	hungry->said = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (hungry->said == MAP_FAILED || pipe(go) || pipe(full))
		return -errno;
	hungry->pid = fork();
	if (!hungry->pid) {
		close(go[1]);
		close(full[0]);
		eat(hungry, make, drop, group, go[0], full[1]);
	}
	close(go[0]);
	close(full[1]);
	hungry->go = go[1];
	hungry->full = full[0];
	poll_fd = (struct pollfd) { .fd = full[0], .events = POLLIN };
	if (poll(&poll_fd, 1, HUNGRY_MS) <= 0)
		return -ETIMEDOUT;
	return read(full[0], &c, 1) == 1 ? 0 : -ECHILD;
}

/* Its wait status once it has given everything back. */
static int hungry_finish(struct hungry *hungry)
{
	int status = -1;

	close(hungry->go);
	if (waitpid(hungry->pid, &status, 0) != hungry->pid)
		return -1;
	close(hungry->full);
	munmap(hungry->said, 4096);
	return status;
}

/* ---- others ---- */

/* The exit status of a process that needs memory. */
static int other_touches_memory(void)
{
	int status = -1;
	size_t i;
	char *p;
	pid_t pid;

	pid = fork();
	if (!pid) {
		p = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (i = 0; p != MAP_FAILED && i < TOUCHED; i += 4096)
			p[i] = 1;
		_exit(p == MAP_FAILED);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* And of one that needs a QP. */
static int other_makes_a_qp(void)
{
	struct verbs_set set;
	int status = -1;
	struct ibv_qp *qp;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (verbs_open_set(&set, TOPO_LINK))
			_exit(1);
		qp = make_usual_qp(&set);
		_exit(!qp || ibv_destroy_qp(qp) || verbs_close_set(&set));
	}
	waitpid(pid, &status, 0);
	return status;
}

static void show_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[200];

	while (file && fgets(line, sizeof(line), file))
		printf("# %s", line);
	if (file)
		fclose(file);
}

/* Is as much available again, give or take what others do? */
static bool memory_is_back(long before)
{
	int looks;

	for (looks = 0; looks < RETURN_LOOKS; looks++) {
		if (available_mb() >= before - OTHERS)
			return true;
		usleep(100000);
	}
	printf("# %ld MB of %ld are back\n", available_mb(), before);
	show_memory();
	return false;
}

/* ---- tests ---- */

FIXTURE(bounds)
{
	struct hungry hungry;
	long killed;
	long available;
};

FIXTURE_VARIANT(bounds)
{
	void *(*make)(struct verbs_set *set);
	int (*drop)(void *object);
	enum { QPS, CQS, SRQS, PDS } limit;
};

FIXTURE_SETUP(bounds)
{
	/* The first use of a device loads and allocates what stays. */
	ASSERT_EQ(0, other_makes_a_qp());
	self->killed = killed();
	ASSERT_LE(0, self->killed);
	self->available = available_mb();
	ASSERT_LT(0, self->available);
}

FIXTURE_TEARDOWN(bounds)
{
	EXPECT_EQ(self->killed, killed());
}

FIXTURE_VARIANT_ADD(bounds, usual_qps) { make_usual_qp, drop_qp, QPS };
FIXTURE_VARIANT_ADD(bounds, usual_cqs) { make_usual_cq, drop_cq, CQS };
FIXTURE_VARIANT_ADD(bounds, usual_srqs) { make_usual_srq, drop_srq, SRQS };
FIXTURE_VARIANT_ADD(bounds, pds) { make_pd, drop_pd, PDS };

/* So many one process can make beside what is open already. */
static long most(struct verbs_set *set, int limit)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(set->ctx, &attr))
		return -1;
	switch (limit) {
	case QPS:
		return attr.max_qp;
	case CQS:
		/* Its own, and ours. */
		return attr.max_cq - 2;
	case SRQS:
		return attr.max_srq;
	default:
		return attr.max_pd - 2;
	}
}

/* And one more is refused. */
TEST_F(bounds, as_many_as_the_attributes_allow)
{
	struct verbs_set set;
	long limit;

	ASSERT_EQ(0, verbs_open_set(&set, TOPO_LINK));
	limit = most(&set, variant->limit);
	ASSERT_EQ(0, hungry_start(&self->hungry, variant->make, variant->drop,
				  NULL));
	TH_LOG("%ld of %ld made, %ld MB of %ld left", self->hungry.said->made,
	       limit, available_mb(), self->available);
	EXPECT_EQ(ENOMEM, self->hungry.said->err);
	EXPECT_LE(limit - 16, self->hungry.said->made);
	EXPECT_GE(limit, self->hungry.said->made);
	EXPECT_EQ(0, other_touches_memory());
	EXPECT_EQ(0, verbs_close_set(&set));
	EXPECT_EQ(0, hungry_finish(&self->hungry));
	EXPECT_TRUE(memory_is_back(self->available));
	EXPECT_EQ(0, other_makes_a_qp());
}

FIXTURE(huge)
{
	struct hungry hungry;
	long killed;
	long available;
};

FIXTURE_VARIANT(huge)
{
	void *(*make)(struct verbs_set *set);
	int (*drop)(void *object);
};

FIXTURE_SETUP(huge)
{
	ASSERT_EQ(0, other_makes_a_qp());
	self->killed = killed();
	ASSERT_LE(0, self->killed);
	self->available = available_mb();
	ASSERT_LT(0, self->available);
}

FIXTURE_TEARDOWN(huge)
{
	EXPECT_EQ(self->killed, killed());
}

FIXTURE_VARIANT_ADD(huge, qps) { make_huge_qp, drop_qp };
FIXTURE_VARIANT_ADD(huge, cqs) { make_huge_cq, drop_cq };
FIXTURE_VARIANT_ADD(huge, srqs) { make_huge_srq, drop_srq };

/* As much memory as there is: others still have some, and one can be made. */
TEST_F(huge, memory_is_left_to_others)
{
	ASSERT_EQ(0, hungry_start(&self->hungry, variant->make, variant->drop,
				  NULL));
	TH_LOG("%ld made, %ld MB of %ld left", self->hungry.said->made,
	       available_mb(), self->available);
	EXPECT_EQ(ENOMEM, self->hungry.said->err);
	EXPECT_LT(0, self->hungry.said->made);
	EXPECT_EQ(0, other_touches_memory());
	EXPECT_EQ(0, hungry_finish(&self->hungry));
	EXPECT_TRUE(memory_is_back(self->available));
	EXPECT_EQ(0, other_makes_a_qp());
}

FIXTURE(group)
{
	struct hungry hungry;
	char root[40];
	char path[80];
	long killed;
};

FIXTURE_VARIANT(group)
{
	void *(*make)(struct verbs_set *set);
	int (*drop)(void *object);
};

static int put(const char *dir, const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return topo_put(path, text);
}

FIXTURE_SETUP(group)
{
	strcpy(self->root, "/tmp/srt-group-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->root));
	ASSERT_EQ(0, mount("cgroup2", self->root, "cgroup2", 0, NULL));
	ASSERT_EQ(0, put(self->root, "cgroup.subtree_control", "+memory"));
	snprintf(self->path, sizeof(self->path), "%s/srt-bounds", self->root);
	ASSERT_EQ(0, mkdir(self->path, 0755));
	ASSERT_EQ(0, put(self->path, "memory.max", GROUP_BYTES));
	ASSERT_EQ(0, other_makes_a_qp());
	self->killed = killed();
	ASSERT_LE(0, self->killed);
}

FIXTURE_TEARDOWN(group)
{
	EXPECT_EQ(0, rmdir(self->path));
	EXPECT_EQ(0, umount2(self->root, MNT_DETACH));
	EXPECT_EQ(0, rmdir(self->root));
	EXPECT_EQ(self->killed, killed());
}

FIXTURE_VARIANT_ADD(group, small_qps) { make_small_qp, drop_qp };
FIXTURE_VARIANT_ADD(group, usual_qps) { make_usual_qp, drop_qp };
FIXTURE_VARIANT_ADD(group, huge_qps) { make_huge_qp, drop_qp };
FIXTURE_VARIANT_ADD(group, usual_cqs) { make_usual_cq, drop_cq };
FIXTURE_VARIANT_ADD(group, huge_cqs) { make_huge_cq, drop_cq };
FIXTURE_VARIANT_ADD(group, usual_srqs) { make_usual_srq, drop_srq };
FIXTURE_VARIANT_ADD(group, huge_srqs) { make_huge_srq, drop_srq };
FIXTURE_VARIANT_ADD(group, mrs) { make_mr, drop_mr };
FIXTURE_VARIANT_ADD(group, mws) { make_mw, drop_mw };
FIXTURE_VARIANT_ADD(group, ahs) { make_ah, drop_ah };

TEST_F(group, a_full_cgroup_refuses)
{
	char events[120];

	snprintf(events, sizeof(events), "%s/memory.events", self->path);
	ASSERT_EQ(0, hungry_start(&self->hungry, variant->make, variant->drop,
				  self->path));
	TH_LOG("%ld made", self->hungry.said->made);
	EXPECT_EQ(ENOMEM, self->hungry.said->err);
	EXPECT_EQ(0, number_of(events, "oom_kill"));
	EXPECT_EQ(0, other_makes_a_qp());
	EXPECT_EQ(0, hungry_finish(&self->hungry));
	EXPECT_EQ(0, number_of(events, "oom_kill"));
}

TEST_HARNESS_MAIN
