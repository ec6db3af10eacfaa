// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Threads that make, use and destroy at the same time, for some seconds. */
#include "fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "nldev.h"
#include "rtnl.h"
#include "uverbs.h"

#define RACE_MS	8000

/**
 * struct race - what the threads of one test share
 * @fd: a raw context
 * @offset: where the newest ring can be mapped; written by its maker
 * @size: and how large it is
 * @end_ms: when to stop
 * @rounds: completed rounds of the maker
 * @failed: what went wrong, NULL if nothing did
 */
struct race {
	int fd;
	volatile uint64_t offset;
	volatile uint32_t size;
	long end_ms;
	int rounds;
	const char * volatile failed;
};

static bool is_on(const struct race *race)
{
	return !race->failed && topo_now_ms() < race->end_ms;
}

static void *make_and_destroy_rings(void *arg)
{
	struct race *race = arg;
	struct uverbs_ring ring;
	int cq;

	for (; is_on(race); race->rounds++) {
		cq = uverbs_create_cq(race->fd, 500, &ring);
		if (cq < 0)
			race->failed = "create";
		race->size = ring.size;
		race->offset = ring.offset;
		if (uverbs_destroy_cq(race->fd, cq))
			race->failed = "destroy";
	}
	return NULL;
}

/* Offsets may be reused at once, so a mapping may succeed at any time. */
static void *map_rings(void *arg)
{
	struct race *race = arg;

	while (is_on(race)) {
		uint32_t size = race->size;
		volatile char *at;

		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  race->fd, race->offset);
		if (at == MAP_FAILED)
			continue;
		at[0] = 1;
		at[size - 1] = 1;
		if (munmap((void *)at, size))
			race->failed = "munmap";
	}
	return NULL;
}

TEST_F(dev, mmap_races_destroy)
{
	struct race race = { .size = 4096 };
	pthread_t maker, mapper;

	race.fd = uverbs_open(TOPO_LINK);
	ASSERT_LE(0, race.fd);
	ASSERT_EQ(0, uverbs_get_context(race.fd));
	race.end_ms = topo_now_ms() + RACE_MS;
	ASSERT_EQ(0, pthread_create(&maker, NULL, make_and_destroy_rings,
				    &race));
	ASSERT_EQ(0, pthread_create(&mapper, NULL, map_rings, &race));
	pthread_join(maker, NULL);
	pthread_join(mapper, NULL);
	EXPECT_EQ(NULL, race.failed) {
		TH_LOG("failed: %s", race.failed);
	}
	EXPECT_LT(20, race.rounds);
	close(race.fd);
}

/* One of everything in a shared context; NULL, or what failed. */
static const char *one_of_everything(struct verbs_set *set, char *buffer)
{
	struct ibv_srq_init_attr srq_init = { .attr = { 16, 1, 0 } };
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp_attr attr;
	struct verbs_set own = *set;
	const char *failed = "ibv_create_cq";
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;

	own.cq = ibv_create_cq(set->ctx, 20, NULL, NULL, 0);
	own.pd = ibv_alloc_pd(set->ctx);
	if (!own.cq || !own.pd)
		return failed;
	qp = verbs_qp(&own, IBV_QPT_RC);
	if (!qp)
		return "ibv_create_qp";
	if (verbs_qp_to(&own, qp, IBV_QPS_RTS, qp->qp_num))
		return "ibv_modify_qp";
	if (ibv_post_recv(qp, &wr, &bad))
		return "ibv_post_recv";
	srq = ibv_create_srq(own.pd, &srq_init);
	mr = ibv_reg_mr(own.pd, buffer, 8192, IBV_ACCESS_LOCAL_WRITE);
	mw = ibv_alloc_mw(own.pd, IBV_MW_TYPE_2);
	verbs_attr(&own, &attr, IBV_QPS_RTR, 0);
	ah = ibv_create_ah(own.pd, &attr.ah_attr);
	if (!srq || !mr || !mw || !ah)
		return "creation of SRQ, MR, MW or AH";
	if (ibv_resize_cq(own.cq, 100))
		return "ibv_resize_cq";
	if (ibv_destroy_ah(ah) || ibv_dealloc_mw(mw) || ibv_dereg_mr(mr) ||
	    ibv_destroy_srq(srq) || ibv_destroy_qp(qp) ||
	    ibv_destroy_cq(own.cq) || ibv_dealloc_pd(own.pd))
		return "destruction";
	return NULL;
}

/**
 * struct worker - a thread that goes round one_of_everything()
 * @set: shared by all
 * @end_ms: when to stop
 * @rounds: how often it went round
 * @failed: what failed, NULL if nothing did
 */
struct worker {
	struct verbs_set *set;
	long end_ms;
	int rounds;
	const char *failed;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	char buffer[8192];

	while (!worker->failed && topo_now_ms() < worker->end_ms) {
		worker->failed = one_of_everything(worker->set, buffer);
		worker->rounds++;
	}
	return NULL;
}

TEST_F(dev, two_threads_create_and_destroy_everything)
{
	struct worker workers[2] = {};
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		workers[i].set = &self->set;
		workers[i].end_ms = topo_now_ms() + RACE_MS;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work,
					    &workers[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(NULL, workers[i].failed) {
			TH_LOG("thread %d: %s", i, workers[i].failed);
		}
		EXPECT_LT(5, workers[i].rounds);
	}
}

/* States change under one thread while another looks and a third posts. */
static void *change_states(void *arg)
{
	struct worker *worker = arg;
	struct ibv_qp *qp = (void *)worker->failed;
	const char *failed = NULL;

	while (!failed && topo_now_ms() < worker->end_ms) {
		if (verbs_qp_to(worker->set, qp, IBV_QPS_RTS, qp->qp_num))
			failed = "modify";
		worker->rounds++;
	}
	worker->failed = failed;
	return NULL;
}

TEST_F(dev, post_and_query_race_modify)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct worker worker = {
		.set = &self->set,
		.failed = (void *)qp,
	};
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_wc wc;
	pthread_t thread;

	ASSERT_NE(NULL, qp);
	worker.end_ms = topo_now_ms() + RACE_MS / 2;
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_states, &worker));
	while (topo_now_ms() < worker.end_ms) {
		EXPECT_LE(0, verbs_qp_state(qp));
		ibv_post_recv(qp, &wr, &bad);
		ibv_poll_cq(self->set.cq, 1, &wc);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(NULL, worker.failed);
	EXPECT_LT(5, worker.rounds);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* The link comes and goes under processes that open it and make things. */
TEST_F_TIMEOUT(dev, link_del_races_use, 120)
{
	volatile bool *done;
	pid_t users[2];
	int i, status, rounds = 0;
	long end;

	done = mmap(NULL, 1, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)done);
	ASSERT_EQ(0, topo_ip("link add srtr0 type dummy\n"
			     "addr add 10.79.0.1/24 dev srtr0\n"
			     "link set srtr0 up"));
	for (i = 0; i < 2; i++) {
		users[i] = fork();
		ASSERT_LE(0, users[i]);
		if (users[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!*done) {
			struct ibv_context *ctx = verbs_open("srtr");
			struct ibv_pd *pd;

			if (!ctx)
				continue;
			pd = ibv_alloc_pd(ctx);
			ibv_create_cq(ctx, 100, NULL, NULL, 0);
			if (pd)
				ibv_dealloc_pd(pd);
			ibv_close_device(ctx);
		}
		_exit(0);
	}
	/* On a busy machine it takes longer to have seen as much. */
	end = topo_now_ms() + RACE_MS;
	while (topo_now_ms() < end || rounds <= 5) {
		EXPECT_EQ(0, topo_link_add("srtr", "srtr0"));
		EXPECT_EQ(0, nldev_link_del("srtr"));
		rounds++;
	}
	*done = true;
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(users[i], waitpid(users[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* Two ways at once to end a link: its netdev, and the command. */
TEST_F(dev, link_del_races_netdev_deletion)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, rtnl_add_dummy("srtr1"));
		ASSERT_EQ(0, topo_link_add("srtr", "srtr1"));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(rtnl_del("srtr1") ? 1 : 0);
		/* Who comes second finds nothing, which is fine. */
		nldev_link_del("srtr");
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, topo_wait_link("srtr", false, 5000));
	}
}

/* A process with a namespace of its own, until the pipe it reads is closed. */
static pid_t keep_namespace(int until[2])
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(until) || pipe(ready))
		return -1;
	pid = fork();
	if (pid) {
		close(until[0]);
		close(ready[1]);
		/* Nothing comes when it could not enter one. */
		if (read(ready[0], &c, 1) != 1)
			pid = -1;
		close(ready[0]);
		return pid;
	}
	close(until[1]);
	if (!topo_enter_netns() && write(ready[1], "", 1) == 1)
		_exit(read(until[0], &c, 1) != 0);
	_exit(1);
}

/* The near end has the link; what the far end sends, it receives. */
static int add_wire(void)
{
	static const char mac[] = "02:00:00:00:79:02";

	return rtnl_add_veth("srtr2", "srtr3", -1) ?:
	       rtnl_set_mac("srtr2", mac) ?: topo_set_up("srtr2", true) ?:
	       rtnl_add_address("srtr3", "10.79.2.1", 24) ?:
	       topo_set_up("srtr3", true) ?:
	       rtnl_add_neighbour("srtr3", "10.79.2.2", mac) ?:
	       topo_link_add("srtr", "srtr2");
}

/* In the namespace of a process, where it has moved to. */
static bool set_up_near_end(pid_t pid)
{
	pid_t child = fork();
	char path[64];
	int status;

	if (!child) {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
		_exit(setns(open(path, O_RDONLY), CLONE_NEWNET) ||
		      topo_set_up("srtr2", true));
	}
	return waitpid(child, &status, 0) == child && !status;
}

static bool send_to_near_end(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(9),
		.sin_addr.s_addr = htonl(0x0a4f0202),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool sent = sendto(fd, "", 1, 0, (void *)&to, sizeof(to)) == 1;

	close(fd);
	return sent;
}

/* Who leaves a hook behind at an interface that moves has it called later. */
TEST_F_TIMEOUT(dev, link_del_races_netdev_that_moves, 300)
{
	int i, status, until[2];
	pid_t keeper, deleter;

	keeper = keep_namespace(until);
	ASSERT_LT(0, keeper);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, add_wire());
		deleter = fork();
		ASSERT_LE(0, deleter);
		if (!deleter) {
			/* Who comes second finds nothing, which is fine. */
			nldev_link_del("srtr");
			_exit(0);
		}
		usleep(4000 * i);
		EXPECT_EQ(0, rtnl_move("srtr2", keeper));
		ASSERT_EQ(deleter, waitpid(deleter, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, topo_wait_link("srtr", false, 5000));
		EXPECT_TRUE(set_up_near_end(keeper));
		EXPECT_TRUE(send_to_near_end());
		EXPECT_EQ(0, rtnl_del("srtr3"));
	}
	close(until[1]);
	ASSERT_EQ(keeper, waitpid(keeper, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
