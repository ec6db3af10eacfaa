// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_user.h"
#include "topo.h"

/* How long a phase may be; two users attack in turn, roughly. */
#define PHASE_MS	3000

/* Memory is looked at all the time, as a whole so often. */
#define CHECK_EVERY	48

/* An imp that is served last is long in a verb; one that never gets out is not. */
#define IMP_MS		20000

void fuzz_fail(struct fuzz_user *u, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(u->told->failed, sizeof(u->told->failed), fmt, args);
	va_end(args);
	_exit(FUZZ_FAILED);
}

bool fuzz_lost_device(struct fuzz_user *u)
{
	return verbs_port_state(u->set.ctx) == IBV_PORT_NOP;
}

void fuzz_begin(struct fuzz_user *u, const char *what)
{
	u->told->busy = what;
	u->told->busy_ms = topo_now_ms();
}

void fuzz_end(struct fuzz_user *u, uint32_t arg, int ret)
{
	struct fuzz_told *told = u->told;

	told->log[told->logged % FUZZ_LOG] = (struct fuzz_logged) {
		told->busy_ms, told->busy, arg, ret
	};
	told->logged++;
	told->busy_ms = 0;
	told->ops++;
}

/* ---- memory ---- */

static void *guard_of(const struct fuzz_user *u, int slot)
{
	return u->slot[slot].at + FUZZ_SLOT;
}

/* Guards keep one secret for good. */
static int make_memory(struct fuzz_user *u)
{
	size_t stride = FUZZ_SLOT + FUZZ_GUARD;
	uint8_t *at;
	int i;

	at = mmap(NULL, FUZZ_SLOTS * stride, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return errno;
	for (i = 0; i < FUZZ_SLOTS; i++) {
		u->slot[i].at = at + i * stride;
		u->slot[i].epoch = ++u->epoch;
		paint_secret(u->slot[i].at, FUZZ_SLOT, u->id, u->epoch);
		paint_secret(guard_of(u, i), FUZZ_GUARD, u->id, 0);
	}
	return 0;
}

static void check_for_secrets(struct fuzz_user *u, const void *at, size_t len,
			      const char *where, int number)
{
	struct paint_found found;

	if (paint_find(at, len, &found))
		fuzz_fail(u, "user %d: %s %d has at %zu %zu bytes of secret %u of user %d",
			  u->id, where, number, found.offset, found.bytes,
			  found.epoch, found.user);
}

void fuzz_check_slot(struct fuzz_user *u, int i)
{
	const struct fuzz_slot *slot = &u->slot[i];
	long bad;

	bad = paint_spoilt(guard_of(u, i), FUZZ_GUARD, u->id, 0);
	if (bad >= 0)
		fuzz_fail(u, "user %d: the guard of slot %d was changed at %ld",
			  u->id, i, bad);
	if (slot->is_open) {
		check_for_secrets(u, slot->at, FUZZ_SLOT, "slot", i);
		return;
	}
	bad = paint_spoilt(slot->at, FUZZ_SLOT, u->id, slot->epoch);
	if (bad >= 0)
		fuzz_fail(u, "user %d: secret %u in slot %d was changed at %ld: %016llx",
			  u->id, slot->epoch, i, bad,
			  *(unsigned long long *)(slot->at + bad));
}

void fuzz_check(struct fuzz_user *u)
{
	int i;

	for (i = 0; i < FUZZ_SLOTS; i++)
		fuzz_check_slot(u, i);
	fuzz_rings_lock(u);
	for (i = 0; i < u->rings; i++)
		check_for_secrets(u, (void *)u->ring[i].words,
				  u->ring[i].count * 4, "ring", i);
	fuzz_rings_unlock(u);
}

void fuzz_open_slot(struct fuzz_user *u, int i)
{
	fuzz_check_slot(u, i);
	u->slot[i].is_open = true;
	u->slot[i].epoch = ++u->epoch;
	paint_open(u->slot[i].at, FUZZ_SLOT, u->id, u->epoch);
}

void fuzz_hide_slot(struct fuzz_user *u, int i)
{
	fuzz_check_slot(u, i);
	u->slot[i].is_open = false;
	u->slot[i].epoch = ++u->epoch;
	paint_secret(u->slot[i].at, FUZZ_SLOT, u->id, u->epoch);
}

/* ---- rings ---- */

static bool is_spared(const struct fuzz_user *u, volatile uint32_t *words)
{
	int i;

	for (i = 0; i < u->spareds; i++)
		if (u->spared[i] == words)
			return true;
	return false;
}

static bool is_known(const struct fuzz_user *u, volatile uint32_t *words)
{
	int i;

	for (i = 0; i < u->rings; i++)
		if (u->ring[i].words == words)
			return true;
	return is_spared(u, words);
}

/* Rings are known by the file that they are mapped from. */
static int list_rings(struct fuzz_ring list[FUZZ_RINGS])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];
	int count = 0;

	while (maps && count < FUZZ_RINGS && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		list[count++] = (struct fuzz_ring) {
			(void *)from, (to - from) / 4
		};
	}
	if (maps)
		fclose(maps);
	return count;
}

void fuzz_rings_lock(struct fuzz_user *u)
{
	pthread_mutex_lock(&u->lock);
}

void fuzz_rings_spare(struct fuzz_user *u)
{
	struct fuzz_ring list[FUZZ_RINGS];
	int i, count = list_rings(list);

	for (i = 0; i < count; i++)
		if (!is_known(u, list[i].words) && u->spareds < FUZZ_SPARED)
			u->spared[u->spareds++] = list[i].words;
}

void fuzz_rings_spare_only(struct fuzz_user *u, int count)
{
	u->spareds = count;
}

void fuzz_rings_unlock(struct fuzz_user *u)
{
	struct fuzz_ring list[FUZZ_RINGS];
	int i, count = list_rings(list);

	u->rings = 0;
	for (i = 0; i < count; i++)
		if (!is_spared(u, list[i].words))
			u->ring[u->rings++] = list[i];
	pthread_mutex_unlock(&u->lock);
}

/* ---- queue pairs ---- */

struct ibv_qp *fuzz_make_qp(struct fuzz_user *u, int at,
			    struct ibv_qp_init_attr *init)
{
	struct ibv_qp *qp;

	fuzz_rings_lock(u);
	qp = ibv_create_qp(u->set.pd, init);
	fuzz_rings_unlock(u);
	if (qp)
		u->handle[at] = qp->handle;
	return qp;
}

static int try_to_drop(struct fuzz_user *u, struct ibv_qp *qp)
{
	int ret;

	fuzz_rings_lock(u);
	ret = ibv_destroy_qp(qp);
	fuzz_rings_unlock(u);
	return ret;
}

/*
 * An imp may have read the handle, and modify what goes: whoever is the second
 * finds it busy, and an imp is in no hurry. A QP in a multicast group is busy
 * as long as it is there.
 */
int fuzz_drop_qp(struct fuzz_user *u, int at, struct ibv_qp *qp)
{
	bool joined = at < FUZZ_QPS && u->joined[at];
	long end = topo_now_ms() + IMP_MS;
	int ret = try_to_drop(u, qp);

	u->handle[at] = ~0u;
	while (ret == EBUSY && !joined && topo_now_ms() < end) {
		usleep(1000);
		ret = try_to_drop(u, qp);
	}
	if (ret)
		u->handle[at] = qp->handle;
	return ret;
}

/* Retries that do not last: who waits for them does nothing else. */
static int step(struct fuzz_user *u, struct ibv_qp *qp, enum ibv_qp_state to,
		uint32_t qpn, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attr;

	verbs_attr(&u->set, &attr, to, qpn);
	attr.ah_attr.grh.dgid = u->peer_gid;
	attr.sq_psn = attr.rq_psn;
	attr.path_mtu = mtu;
	attr.timeout = 9 + fuzz_random(u, 3);
	attr.retry_cnt = 1 + fuzz_random(u, 2);
	attr.rnr_retry = fuzz_chance(u, 4) ? fuzz_random(u, 8) : 7;
	attr.min_rnr_timer = 1 + fuzz_random(u, 12);
	if (qp->qp_type == IBV_QPT_RC)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	if (qp->qp_type == IBV_QPT_UC)
		attr.qp_access_flags &= ~IBV_ACCESS_REMOTE_READ;
	return ibv_modify_qp(qp, &attr, verbs_mask(qp->qp_type, to - 1, to));
}

int fuzz_connect(struct fuzz_user *u, struct ibv_qp *qp, uint32_t qpn,
		 enum ibv_mtu mtu)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	return ibv_modify_qp(qp, &reset, IBV_QP_STATE) ?:
	       step(u, qp, IBV_QPS_INIT, qpn, mtu) ?:
	       step(u, qp, IBV_QPS_RTR, qpn, mtu) ?:
	       step(u, qp, IBV_QPS_RTS, qpn, mtu);
}

/* ---- life ---- */

static const char *address_of(int id, enum twin_kind wire)
{
	return wire == TWIN_VETH && id ? TWIN_IPV4_B : TWIN_IPV4_A;
}

static int open_device(struct fuzz_user *u, enum twin_kind wire)
{
	bool far = wire == TWIN_VETH && u->id;
	const char *own = address_of(u->id, wire);
	struct ibv_gid_entry entry;

	u->set.ctx = verbs_open(far ? TWIN_LINK_B : TWIN_LINK_A);
	if (!u->set.ctx || verbs_wait_gid(u->set.ctx, own, true, 5000))
		return ENODEV;
	u->set.gid_index = verbs_gid_index(u->set.ctx, own, &u->set.gid);
	if (ibv_query_gid_ex(u->set.ctx, VERBS_PORT, u->set.gid_index, &entry,
			     0))
		return ENODEV;
	u->peer_gid = u->set.gid;
	/* The addresses of the two differ in the last byte. */
	if (wire == TWIN_VETH)
		u->peer_gid.raw[15] = u->id ? 1 : 2;
	fcntl(u->set.ctx->async_fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * Attack in turn, mostly. Imps that attack are on the last CPU (fuzz_imp.c),
 * and the users then on the first, where they are not starved with the engine.
 */
static void think_of_a_phase(struct fuzz_user *u)
{
	long now = topo_now_ms();

	if (now < u->phase_ms)
		return;
	u->phase_ms = now + PHASE_MS / 4 + fuzz_random(u, PHASE_MS);
	u->told->attack = fuzz_chance(u, 4) ? fuzz_chance(u, 2) :
			  (now / PHASE_MS & 1) == u->id;
	pin(fuzz_chance(u, 6) ? u->cpus - 1 : 0);
}

/*
 * Who is attacked sends: an engine is kept waiting once in some seconds, and
 * somebody must just be sending to it. Who attacks leaves the CPU to that.
 */
static bool is_time_for_a_flow(struct fuzz_user *u)
{
	if (topo_now_ms() < u->pause_ms)
		return false;
	if (u->told->attack)
		return fuzz_chance(u, 64);
	return u->peer->attack ? !fuzz_chance(u, 8) : fuzz_chance(u, 4);
}

void fuzz_user_run(struct fuzz_shared *shared, int id, enum twin_kind wire,
		   uint32_t seed)
{
	static struct fuzz_user user;
	struct fuzz_user *u = &user;
	uint32_t round;

	u->id = id;
	u->shared = shared;
	u->told = &shared->told[id];
	u->peer = &shared->told[!id];
	u->random = seed | 1;
	u->epoch = seed << 8;
	u->seen_gen = u->peer->flow_gen;
	u->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_mutex_init(&u->lock, NULL);
	fuzz_begin(u, "open");
	if (make_memory(u) || open_device(u, wire) || fuzz_verbs_init(u))
		_exit(FUZZ_NO_DEVICE);
	fuzz_end(u, wire, 0);
	if (fuzz_imps_start(u))
		_exit(FUZZ_NO_DEVICE);

	for (round = 0; !u->told->stop; round++) {
		think_of_a_phase(u);
		fuzz_flow_serve(u);
		if (is_time_for_a_flow(u))
			fuzz_flow(u);
		else if (u->told->attack && !fuzz_chance(u, 8))
			usleep(1000);
		else
			fuzz_verbs_any(u);
		if (round % CHECK_EVERY == 0)
			fuzz_check(u);
	}
	fuzz_check(u);
	/* Half of the time the kernel is left to clear up. */
	if (fuzz_chance(u, 2))
		fuzz_verbs_close(u);
	fuzz_check(u);
	_exit(FUZZ_DONE);
}
