// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Mapping the rings: what can be mapped, by whom, and for how long. */
#include "fixture.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "uverbs.h"

FIXTURE(ring)
{
	int fd;
	int cq;
	struct uverbs_ring at;
};

/* Small ones are contiguous pages, large ones are allocated page by page. */
FIXTURE_VARIANT(ring)
{
	unsigned int entries;
	unsigned int charged_entries, charged_rings;
};

FIXTURE_VARIANT_ADD(ring, small)
{
	.entries = 200, .charged_entries = 200, .charged_rings = 300,
};

FIXTURE_VARIANT_ADD(ring, large)
{
	.entries = 2000, .charged_entries = 30000, .charged_rings = 1,
};

FIXTURE_SETUP(ring)
{
	self->fd = uverbs_open(TOPO_LINK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, uverbs_get_context(self->fd));
	self->cq = uverbs_create_cq(self->fd, variant->entries, &self->at);
	ASSERT_LE(0, self->cq);
}

FIXTURE_TEARDOWN(ring)
{
	close(self->fd);
}

static void *map(int fd, size_t size, uint64_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			offset);

	return at == MAP_FAILED ? NULL : at;
}

/* Header words, as the library reads them. */
static uint32_t word(void *ring, size_t offset)
{
	return *(volatile uint32_t *)((char *)ring + offset);
}

TEST_F(ring, header_describes_the_ring)
{
	void *ring = map(self->fd, self->at.size, self->at.offset);
	uint32_t slots;

	ASSERT_NE(NULL, ring);
	EXPECT_EQ(6, word(ring, 0));
	slots = word(ring, 4) + 1;
	EXPECT_EQ(0, slots & (slots - 1));
	EXPECT_LE(variant->entries + 1, slots);
	EXPECT_LE(384 + slots * 64, self->at.size);
	EXPECT_EQ(0, word(ring, 128));
	EXPECT_EQ(0, word(ring, 256));
	EXPECT_EQ(0, munmap(ring, self->at.size));
}

TEST_F(ring, may_be_mapped_shorter)
{
	void *ring = map(self->fd, 4096, self->at.offset);

	ASSERT_NE(NULL, ring);
	EXPECT_EQ(6, word(ring, 0));
	EXPECT_EQ(0, munmap(ring, 4096));
}

TEST_F(ring, may_be_mapped_again)
{
	void *one = map(self->fd, self->at.size, self->at.offset);
	void *two = map(self->fd, self->at.size, self->at.offset);

	ASSERT_NE(NULL, one);
	ASSERT_NE(NULL, two);
	EXPECT_EQ(0, munmap(one, self->at.size));
	EXPECT_EQ(6, word(two, 0));
	EXPECT_EQ(0, munmap(two, self->at.size));
}

TEST_F(ring, mapping_beyond_the_end_is_refused)
{
	size_t pages = (self->at.size + 4095) / 4096;

	EXPECT_EQ(NULL, map(self->fd, (pages + 1) * 4096, self->at.offset));
	EXPECT_EQ(NULL, map(self->fd, 1ul << 30, self->at.offset));
}

/* Rings of one page each, which are likely to lie one behind the other. */
TEST_F(ring, neighbour_of_a_ring_is_not_mapped)
{
	struct uverbs_ring at[64];
	int i;

	for (i = 0; i < 64; i++) {
		ASSERT_LE(0, uverbs_create_cq(self->fd, 16, &at[i]));
		ASSERT_EQ(4096, at[i].size);
	}
	for (i = 0; i < 64; i++)
		EXPECT_EQ(NULL, map(self->fd, 2 * 4096, at[i].offset));
}

/* Memory that others have used comes to them empty. */
TEST_F(ring, is_empty_but_for_its_header)
{
	static const size_t dirty = 64 << 20;
	struct uverbs_ring at;
	uint64_t *ring, *mem;
	size_t i;
	int n;

	mem = mmap(NULL, dirty, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	memset(mem, 0xa5, dirty);
	ASSERT_EQ(0, munmap(mem, dirty));
	for (n = 0; n < 16; n++) {
		ASSERT_LE(0, uverbs_create_cq(self->fd, variant->entries,
					      &at));
		ring = map(self->fd, at.size, at.offset);
		ASSERT_NE(NULL, ring);
		/* Element size, mask. */
		for (i = 1; i < at.size / sizeof(*ring) && !ring[i]; i++)
			;
		EXPECT_EQ(at.size / sizeof(*ring), i);
		EXPECT_EQ(0, munmap(ring, at.size));
	}
}

TEST_F(ring, wrong_offsets_are_refused)
{
	static const uint64_t offsets[] = {
		0x7ffffffff000ull, 0x100000ull, 0x7fffffffffff000ull,
		1ull << 40,
	};
	unsigned int i;

	EXPECT_EQ(NULL, map(self->fd, 4096, self->at.offset + 4096));
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		if (offsets[i] != self->at.offset)
			EXPECT_EQ(NULL, map(self->fd, 4096, offsets[i]));
	EXPECT_EQ(NULL, map(self->fd, 4096, self->at.offset + (1ull << 32)));
}

TEST_F(ring, another_context_cannot_map_it)
{
	int other = uverbs_open(TOPO_LINK);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, uverbs_get_context(other));
	EXPECT_EQ(NULL, map(other, 4096, self->at.offset));
	close(other);
}

TEST_F(ring, is_readable_after_destroy_until_unmapped)
{
	void *ring = map(self->fd, self->at.size, self->at.offset);

	ASSERT_NE(NULL, ring);
	ASSERT_EQ(0, uverbs_destroy_cq(self->fd, self->cq));
	EXPECT_EQ(6, word(ring, 0));
	*((volatile char *)ring + self->at.size - 1) = 1;
	EXPECT_EQ(0, munmap(ring, self->at.size));
}

TEST_F(ring, cannot_be_mapped_after_destroy)
{
	ASSERT_EQ(0, uverbs_destroy_cq(self->fd, self->cq));
	EXPECT_EQ(NULL, map(self->fd, 4096, self->at.offset));
}

TEST_F(ring, mapping_outlives_its_descriptor)
{
	void *ring = map(self->fd, self->at.size, self->at.offset);

	ASSERT_NE(NULL, ring);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(6, word(ring, 0));
	EXPECT_EQ(0, munmap(ring, self->at.size));
}

/* A child keeps a copy of the mapping, or none; either way nothing breaks. */
TEST_F(ring, fork_and_exit_of_the_child)
{
	void *ring = map(self->fd, self->at.size, self->at.offset);
	int status;
	pid_t pid;

	ASSERT_NE(NULL, ring);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		munmap(ring, self->at.size);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(6, word(ring, 0));
	ASSERT_EQ(0, uverbs_destroy_cq(self->fd, self->cq));
	EXPECT_EQ(6, word(ring, 0));
	EXPECT_EQ(0, munmap(ring, self->at.size));
}

/* Nonsense in the words that both sides see: the kernel uses its own. */
TEST_F(ring, scribbled_header_hurts_nobody_else)
{
	void *ring = map(self->fd, self->at.size, self->at.offset);
	struct uverbs_ring other;
	int cq;

	ASSERT_NE(NULL, ring);
	memset(ring, 0xff, 384);
	cq = uverbs_create_cq(self->fd, 16, &other);
	EXPECT_LE(0, cq);
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, self->cq));
	EXPECT_EQ(0, munmap(ring, self->at.size));
}

#define CGROUP "/sys/fs/cgroup"

static long cgroup_memory(void)
{
	FILE *file = fopen(CGROUP "/srt/memory.current", "r");
	long bytes = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

/* Ring memory is the user's: it counts in the cgroup that asked for it. */
TEST_F(ring, memory_is_charged_to_the_user)
{
	struct uverbs_ring ring;
	long before, after, bytes = 0;
	int cq[300];
	char pid[16];
	unsigned int i;

	/* Our own /sys (see topo_enter_netns()) comes without it. */
	mount("cgroup2", CGROUP, "cgroup2", 0, NULL);
	snprintf(pid, sizeof(pid), "%d", getpid());
	topo_put(CGROUP "/cgroup.subtree_control", "+memory");
	mkdir(CGROUP "/srt", 0755);
	ASSERT_EQ(0, topo_put(CGROUP "/srt/cgroup.procs", pid));
	before = cgroup_memory();
	ASSERT_LE(0, before);
	for (i = 0; i < variant->charged_rings; i++) {
		cq[i] = uverbs_create_cq(self->fd, variant->charged_entries,
					 &ring);
		ASSERT_LE(0, cq[i]);
		bytes += ring.size;
	}
	after = cgroup_memory();
	/* Charges are taken in batches: a little less may show. */
	EXPECT_LE(before + bytes / 10 * 9, after);
	while (i--)
		EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq[i]));
	topo_put(CGROUP "/cgroup.procs", pid);
	rmdir(CGROUP "/srt");
}

TEST_HARNESS_MAIN
