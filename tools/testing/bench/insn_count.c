// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QEMU plugin that counts the instructions that the guest executes, by the
 * piece of code (translation block) they are in: its address, and the sizes of
 * its instructions, which tell where each of them is. When the guest
 * executes a marker (mark.c) the counts so far are written to a file: the
 * difference of two such files is what was executed between the markers.
 *
 * The declarations are those of version 1 of QEMU's plugin interface, which
 * Debian's packages come without.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { INLINE_ADD_U64 };
enum { CB_NO_REGS };

typedef void (*tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*vcpu_udata_cb_t)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   tb_trans_cb_t cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op,
					      void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    vcpu_udata_cb_t cb, int flags,
					    void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

#define BUCKETS	(1u << 16)

#define MOST	512

/**
 * struct block - a piece of code
 * @next: in the same bucket
 * @vaddr: where it begins
 * @executed: instructions executed in it
 * @sizes: of its instructions in bytes, a hexadecimal digit each
 */
struct block {
	struct block *next;
	uint64_t vaddr;
	uint64_t executed;
	char sizes[];
};

static struct block *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *prefix = "insns";
static unsigned int marks;

static struct block *find(uint64_t vaddr, const char *sizes)
{
	struct block **bucket = &buckets[(vaddr >> 1 ^ vaddr >> 17) % BUCKETS];
	struct block *b;

	for (b = *bucket; b; b = b->next)
		if (b->vaddr == vaddr && !strcmp(b->sizes, sizes))
			return b;
	b = calloc(1, sizeof(*b) + strlen(sizes) + 1);
	if (!b)
		abort();
	b->vaddr = vaddr;
	strcpy(b->sizes, sizes);
	b->next = *bucket;
	*bucket = b;
	return b;
}

static void dump(unsigned int cpu, void *data)
{
	const struct block *b;
	char name[4096];
	unsigned int i;
	FILE *f;

	(void)cpu;
	(void)data;
	pthread_mutex_lock(&lock);
	snprintf(name, sizeof(name), "%s.%u", prefix, marks++);
	f = fopen(name, "w");
	for (i = 0; f && i < BUCKETS; i++)
		for (b = buckets[i]; b; b = b->next)
			if (b->executed)
				fprintf(f, "%" PRIx64 " %" PRIu64 " %s\n",
					b->vaddr, b->executed, b->sizes);
	if (!f || fclose(f))
		perror(name);
	pthread_mutex_unlock(&lock);
}

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	static const uint8_t mark[] = MARK_BYTES;

	return qemu_plugin_insn_size(insn) == sizeof(mark) &&
	       !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	char sizes[MOST + 1] = "";
	struct block *b;
	size_t i;

	(void)id;
	if (n > MOST)
		abort();
	for (i = 0; i < n; i++) {
		const struct qemu_plugin_insn *insn =
			qemu_plugin_tb_get_insn(tb, i);

		sizes[i] = "0123456789abcdef"[qemu_plugin_insn_size(insn) & 15];
	}
	pthread_mutex_lock(&lock);
	b = find(qemu_plugin_tb_vaddr(tb), sizes);
	pthread_mutex_unlock(&lock);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
						 &b->executed, n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, dump,
							       CB_NO_REGS,
							       NULL);
	}
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	(void)info;
	if (argc > 0 && !strncmp(argv[0], "out=", 4))
		prefix = argv[0] + 4;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
