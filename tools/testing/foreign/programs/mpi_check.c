// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_check: messages, collectives and one-sided access of MPI, in which every
 * byte that arrives is looked at, and every byte beside it that must not change.
 *
 * usage: mpirun -n N mpi_check [MAX_BYTES [two-sided]]	(default 8388608)
 *
 * With "two-sided" without one-sided access. Of no use with fewer than two ranks.
 * Any byte that is wrong ends the job with status 1 and is told; otherwise rank 0
 * says how many bytes and values all ranks have looked at.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes behind each buffer that nothing may write to. */
#define GUARD		64
#define GUARD_BYTE	0xa5

#define PAGE		4096L

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int rank, ranks;
static long max_bytes = 8 << 20;
static unsigned long long looked_at;

/* Around what MPIs send inline, eagerly, in several packets, by rendezvous. */
static const long sizes[] = {
	0, 1, 7, 8, 9, 64, 255, 1023, 1024, 1025, 4096, 4097, 8191, 8192, 16385,
	65535, 65537, 262144, 1048576, 1048577, 8388608,
};

static void die(const char *what, long where, long got, long wanted)
{
	fprintf(stderr, "mpi_check: rank %d: %s: at %ld is %ld, not %ld\n",
		rank, what, where, got, wanted);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void same(const char *what, long where, long got, long wanted)
{
	if (got != wanted)
		die(what, where, got, wanted);
	looked_at++;
}

/* Byte i of what rank from sends under this tag: neighbours differ, and so do
 * messages of other tags and ranks.
 */
static uint8_t byte_of(int from, int tag, long i)
{
	uint32_t x = (uint32_t)i * 2654435761u + from * 40503u + tag * 9176u;

	return (x >> 13) ^ (x >> 24);
}

static uint8_t *buffer(long size)
{
	uint8_t *p = malloc(size + GUARD);

	if (!p)
		die("malloc", size, 0, size);
	memset(p, GUARD_BYTE, size + GUARD);
	return p;
}

static void fill(uint8_t *p, long size, int from, int tag)
{
	long i;

	for (i = 0; i < size; i++)
		p[i] = byte_of(from, tag, i);
}

static void check(const char *what, const uint8_t *p, long size, int from,
		  int tag)
{
	long i;

	for (i = 0; i < size; i++)
		if (p[i] != byte_of(from, tag, i))
			die(what, i, p[i], byte_of(from, tag, i));
	looked_at += size;
}

static void check_guard(const char *what, const uint8_t *p, long size)
{
	long i;

	for (i = size; i < size + GUARD; i++)
		if (p[i] != GUARD_BYTE)
			die(what, i, p[i], GUARD_BYTE);
}

static void check_status(const char *what, MPI_Status *st, long size, int from,
			 int tag)
{
	int count;

	MPI_Get_count(st, MPI_BYTE, &count);
	same(what, -1, count, size);
	same(what, -2, st->MPI_SOURCE, from);
	same(what, -3, st->MPI_TAG, tag);
}

/* MPI_Waitall() with no statuses is a warning with MPICH's prototype. */
static void wait_all(int n, MPI_Request *requests)
{
	while (n--)
		MPI_Wait(&requests[n], MPI_STATUS_IGNORE);
}

/* Each to the next, all at once. */
static void ring(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	uint8_t *out, *in;
	MPI_Status st;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] <= max_bytes; i++) {
		out = buffer(sizes[i]);
		in = buffer(sizes[i]);
		fill(out, sizes[i], rank, i);
		MPI_Sendrecv(out, sizes[i], MPI_BYTE, next, i, in, sizes[i],
			     MPI_BYTE, last, i, MPI_COMM_WORLD, &st);
		check_status("ring", &st, sizes[i], last, i);
		check("ring", in, sizes[i], last, i);
		check_guard("ring", in, sizes[i]);
		free(in);
		free(out);
	}
}

/* Long before they are received, and in another order than that. */
static void unexpected(void)
{
	static const long lengths[] = { 0, 3, 900, 5000, 70000, 300000 };
	enum { EACH = 18, KINDS = ARRAY_SIZE(lengths) };
	MPI_Request *requests = calloc(ranks * EACH, sizeof(*requests));
	uint8_t **out = calloc(ranks * EACH, sizeof(*out));
	int to, from, tag, n = 0;
	MPI_Status st;
	uint8_t *in;
	long size;

	for (tag = 0; tag < EACH; tag++) {
		size = lengths[tag % KINDS];
		for (to = 0; to < ranks; to++, n++) {
			out[n] = buffer(size);
			fill(out[n], size, rank, 100 + tag);
			MPI_Isend(out[n], size, MPI_BYTE, to, 100 + tag,
				  MPI_COMM_WORLD, &requests[n]);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (tag = EACH - 1; tag >= 0; tag--) {
		size = lengths[tag % KINDS];
		for (from = ranks - 1; from >= 0; from--) {
			MPI_Probe(from, 100 + tag, MPI_COMM_WORLD, &st);
			check_status("probe", &st, size, from, 100 + tag);
			in = buffer(size);
			MPI_Recv(in, size, MPI_BYTE, from, 100 + tag,
				 MPI_COMM_WORLD, &st);
			check_status("unexpected", &st, size, from, 100 + tag);
			check("unexpected", in, size, from, 100 + tag);
			check_guard("unexpected", in, size);
			free(in);
		}
	}
	wait_all(n, requests);
	while (n--)
		free(out[n]);
	free(out);
	free(requests);
}

/* From whoever comes first; of one sender in order. */
static void any_source(void)
{
	enum { EACH = 50 };
	int *next = calloc(ranks, sizeof(*next));
	MPI_Status st;
	int i, to, n;
	int in[2];

	for (i = 0; i < EACH; i++)
		for (to = 0; to < ranks; to++) {
			int out[2] = { rank, i };

			if (to != rank)
				MPI_Send(out, 2, MPI_INT, to, 5,
					 MPI_COMM_WORLD);
		}
	for (n = 0; n < EACH * (ranks - 1); n++) {
		MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &st);
		same("any_source", n, in[0], st.MPI_SOURCE);
		same("any_source_order", n, in[1], next[st.MPI_SOURCE]++);
	}
	free(next);
}

/* Everybody with everybody, both ways, many at a time, pieces with gaps. */
static void strided(void)
{
	enum { BLOCKS = 300, BLOCK = 11, STRIDE = 17, SIZE = BLOCKS * STRIDE };
	MPI_Request *requests = calloc(2 * ranks, sizeof(*requests));
	uint8_t **in = calloc(ranks, sizeof(*in));
	uint8_t *out = buffer(SIZE);
	MPI_Datatype pieces;
	int r;
	long i;

	MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_BYTE, &pieces);
	MPI_Type_commit(&pieces);
	fill(out, SIZE, rank, 7);
	for (r = 0; r < ranks; r++) {
		in[r] = buffer(SIZE);
		MPI_Irecv(in[r], 1, pieces, r, 7, MPI_COMM_WORLD,
			  &requests[2 * r]);
	}
	for (r = 0; r < ranks; r++)
		MPI_Isend(out, 1, pieces, r, 7, MPI_COMM_WORLD,
			  &requests[2 * r + 1]);
	wait_all(2 * ranks, requests);
	for (r = 0; r < ranks; r++) {
		for (i = 0; i < SIZE; i++)
			same("strided", i, in[r][i], i % STRIDE < BLOCK ?
			     byte_of(r, 7, i) : GUARD_BYTE);
		free(in[r]);
	}
	MPI_Type_free(&pieces);
	free(out);
	free(in);
	free(requests);
}

static void bcast(long size)
{
	uint8_t *p;
	int root;

	for (root = 0; root < ranks; root++) {
		p = buffer(size);
		if (rank == root)
			fill(p, size, root, 20);
		MPI_Bcast(p, size, MPI_BYTE, root, MPI_COMM_WORLD);
		check("bcast", p, size, root, 20);
		check_guard("bcast", p, size);
		free(p);
	}
}

/* Of size bytes for each rank. */
static void all_to_all(long size)
{
	uint8_t *out = buffer(size * ranks), *in = buffer(size * ranks);
	int r;

	for (r = 0; r < ranks; r++)
		fill(out + r * size, size, rank, 30 + r);
	MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	for (r = 0; r < ranks; r++)
		check("alltoall", in + r * size, size, r, 30 + rank);
	check_guard("alltoall", in, size * ranks);

	memset(in, GUARD_BYTE, size * ranks);
	MPI_Allgather(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	for (r = 0; r < ranks; r++)
		check("allgather", in + r * size, size, r, 30);

	memset(in, GUARD_BYTE, size * ranks);
	MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (r = 0; r < ranks && !rank; r++)
		check("gather", in + r * size, size, r, 30);

	memset(in, GUARD_BYTE, size * ranks);
	MPI_Scatter(out, size, MPI_BYTE, in, size, MPI_BYTE, ranks - 1,
		    MPI_COMM_WORLD);
	check("scatter", in, size, ranks - 1, 30 + rank);
	free(in);
	free(out);
}

/* Rank r has i + r at i, so that what becomes of them is known. */
static void reductions(long count)
{
	long long ramp = (long long)ranks * (ranks - 1) / 2;
	long long *out = calloc(count, sizeof(*out));
	long long *in = calloc(count, sizeof(*in));
	long i;

	for (i = 0; i < count; i++)
		out[i] = i + rank;
	MPI_Allreduce(out, in, count, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		same("allreduce", i, in[i], i * ranks + ramp);
	MPI_Allreduce(out, in, count, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		same("max", i, in[i], i + ranks - 1);
	MPI_Reduce(out, in, count, MPI_LONG_LONG, MPI_SUM, ranks - 1,
		   MPI_COMM_WORLD);
	for (i = 0; i < count && rank == ranks - 1; i++)
		same("reduce", i, in[i], i * ranks + ramp);
	MPI_Scan(out, in, count, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		same("scan", i, in[i], i * (rank + 1) +
		     (long long)rank * (rank + 1) / 2);
	free(in);
	free(out);
}

static void collectives(void)
{
	static const long lengths[] = { 1, 1000, 20000, 1 << 20 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths) && lengths[i] <= max_bytes; i++) {
		bcast(lengths[i]);
		all_to_all(lengths[i] / 4 + 1);
		reductions(lengths[i] / 16 + 1);
	}
}

/* A window of which each rank writes and reads a part at each other's. Whole pages:
 * MPICH 4.0.2 puts to the wrong place in what the ranks of a host share when it
 * has allocated other sizes (4 bytes, say), whatever devices the host has.
 */
static void put_and_get(long size)
{
	long room = (size * ranks + GUARD + PAGE - 1) & -PAGE;
	uint8_t *base, *out = buffer(size), *in;
	MPI_Win win;
	int r;

	MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, GUARD_BYTE, room);
	fill(out, size, rank, 40);
	MPI_Win_fence(0, win);
	for (r = 0; r < ranks; r++)
		MPI_Put(out, size, MPI_BYTE, r, rank * size, size, MPI_BYTE,
			win);
	MPI_Win_fence(0, win);
	for (r = 0; r < ranks; r++)
		check("put", base + r * size, size, r, 40);
	check_guard("put", base, size * ranks);

	in = buffer(size * ranks);
	for (r = 0; r < ranks; r++)
		MPI_Get(in + r * size, size, MPI_BYTE, r,
			((rank + r) % ranks) * size, size, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	for (r = 0; r < ranks; r++)
		check("get", in + r * size, size, (rank + r) % ranks, 40);
	check_guard("get", in, size * ranks);
	MPI_Win_free(&win);
	free(in);
	free(out);
}

/* Under a lock, nobody else's help; each at all others. */
static void accumulate(int count)
{
	long long *base = calloc(count, sizeof(*base));
	long long *out = calloc(count, sizeof(*out));
	long long *in = calloc(count, sizeof(*in));
	MPI_Win win;
	int r, i;

	for (i = 0; i < count; i++) {
		base[i] = i;
		out[i] = (rank + 1) * 1000LL + i;
	}
	MPI_Win_create(base, count * sizeof(*base), sizeof(*base),
		       MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (r = 0; r < ranks; r++) {
		MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
		MPI_Accumulate(out, count, MPI_LONG_LONG, r, 0, count,
			       MPI_LONG_LONG, MPI_SUM, win);
		MPI_Win_unlock(r, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % ranks, 0, win);
	MPI_Get_accumulate(out, count, MPI_LONG_LONG, in, count, MPI_LONG_LONG,
			   (rank + 1) % ranks, 0, count, MPI_LONG_LONG,
			   MPI_NO_OP, win);
	MPI_Win_unlock((rank + 1) % ranks, win);
	for (i = 0; i < count; i++)
		same("accumulate", i, in[i], i + (long long)ranks * i +
		     1000LL * ranks * (ranks + 1) / 2);
	MPI_Win_free(&win);
	free(in);
	free(out);
	free(base);
}

/* Numbers drawn from rank 0: each exactly once. */
static void tickets(MPI_Win win)
{
	enum { EACH = 40 };
	int *mine = calloc(EACH, sizeof(*mine));
	int *all = calloc(EACH * ranks, sizeof(*all));
	char *seen = calloc(EACH * ranks, 1);
	long long one = 1, got, last = -1;
	int i;

	MPI_Win_lock_all(0, win);
	for (i = 0; i < EACH; i++) {
		MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		if (got <= last || got >= EACH * ranks)
			die("fetch_and_op", i, got, last);
		last = got;
		mine[i] = got;
	}
	MPI_Win_unlock_all(win);
	MPI_Allgather(mine, EACH, MPI_INT, all, EACH, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < EACH * ranks; i++)
		same("fetch_and_op", i, seen[all[i]]++, 0);
	free(seen);
	free(all);
	free(mine);
}

/* A lock of compare-and-swap at the last rank, and what it guards beside it. */
static void swaps(MPI_Win win)
{
	enum { EACH = 10 };
	long long none = 0, me = rank + 1, got;
	int at = ranks - 1;
	int i;

	MPI_Win_lock_all(0, win);
	for (i = 0; i < EACH; i++) {
		do {
			MPI_Compare_and_swap(&me, &none, &got, MPI_LONG_LONG,
					     at, 1, win);
			MPI_Win_flush(at, win);
		} while (got);
		MPI_Get(&got, 1, MPI_LONG_LONG, at, 2, 1, MPI_LONG_LONG, win);
		MPI_Win_flush(at, win);
		got++;
		MPI_Put(&got, 1, MPI_LONG_LONG, at, 2, 1, MPI_LONG_LONG, win);
		MPI_Win_flush(at, win);
		MPI_Compare_and_swap(&none, &me, &got, MPI_LONG_LONG, at, 1,
				     win);
		MPI_Win_flush(at, win);
		same("compare_and_swap", i, got, me);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, at, 0, win);
	MPI_Get(&got, 1, MPI_LONG_LONG, at, 2, 1, MPI_LONG_LONG, win);
	MPI_Win_unlock(at, win);
	same("guarded by compare_and_swap", 0, got, EACH * ranks);
}

static void atomics(void)
{
	long long *base;
	MPI_Win win;

	MPI_Win_allocate(PAGE, sizeof(*base), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &base, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	memset(base, 0, 3 * sizeof(*base));
	MPI_Win_unlock(rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
	tickets(win);
	swaps(win);
	MPI_Win_free(&win);
}

static void one_sided(void)
{
	static const long lengths[] = { 1, 9, 4099, 70001, 1 << 20 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths) && lengths[i] <= max_bytes; i++)
		put_and_get(lengths[i]);
	accumulate(1);
	accumulate(3000);
	atomics();
}

static void step(const char *name, void (*run)(void))
{
	double begun = MPI_Wtime();

	run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank) {
		printf("%s: %.1f s\n", name, MPI_Wtime() - begun);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	unsigned long long all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		max_bytes = atol(argv[1]);
	if (ranks < 2 || max_bytes <= 0)
		die("two ranks and a size are needed", 0, ranks, 2);
	step("ring", ring);
	step("unexpected", unexpected);
	step("any_source", any_source);
	step("strided", strided);
	step("collectives", collectives);
	if (argc < 3 || strcmp(argv[2], "two-sided"))
		step("one_sided", one_sided);
	MPI_Reduce(&looked_at, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0,
		   MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_check: %d ranks, %llu bytes and values right\n",
		       ranks, all);
	MPI_Finalize();
	return 0;
}
