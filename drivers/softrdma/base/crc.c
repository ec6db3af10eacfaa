// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 by special instructions: code of the driver, which copies while it
 * sums, or else the kernel's. Newer kernels have fast code in a library
 * function. Older ones have only slow code there, and fast code as a hash of
 * the crypto API.
 */
#include <crypto/hash.h>
#include <linux/bottom_half.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/string.h>

#include "base/crc.h"
#include "base/x86/crc_fold.h"
#include "compat/compat.h"
#include "proto/crc32.h"

/* Some function of base/x86/crc_fold.S is in use. */
static DEFINE_STATIC_KEY_FALSE(can_fold);

/* Holds the hash in use; NULL when it is none of the crypto API. */
static struct crypto_shash *tfm __ro_after_init;

static u32 crc_library(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}

/*
 * The state of this hash is the sum itself, without inversions: it is put in
 * and taken out, so that sums go on over several pieces.
 */
static u32 crc_hash(u32 crc, const void *p, size_t len)
{
	SHASH_DESC_ON_STACK(desc, tfm);
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = tfm;
	*state = crc;
	if (crypto_shash_update(desc, p, len))
		return srdma_crc32_portable(crc, p, len);
	return *state;
}

static u32 crc_fold(u32 crc, const void *p, size_t len)
{
	if (len < SRDMA_FOLD_MIN || !srdma_fold_begin())
		return srdma_crc32_portable(crc, p, len);
	crc = srdma_fold(crc, p, len);
	srdma_fold_end();
	return crc;
}

/**
 * srdma_crc_begin - begin to copy and sum up
 *
 * While vector registers are in use there is no preemption. On real-time kernels,
 * where spinlocks sleep, they are taken for each sum separately.
 *
 * Return: whether vector registers may be used, for the calls that follow.
 */
bool srdma_crc_begin(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       static_branch_likely(&can_fold) && srdma_fold_begin();
}

void srdma_crc_end(bool vector)
{
	if (vector)
		srdma_fold_end();
}

/* Without vector registers, and what is too short for these. */
u32 srdma_crc_copy_plain(u32 crc, void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return srdma_crc32(crc, to, len);
}

static u32 __init crc_fold_copy(u32 crc, const void *p, size_t len)
{
	static u8 copy[1600] __initdata;
	bool vector;

	memset(copy, 0xa5, sizeof(copy));
	vector = srdma_fold_begin();
	crc = srdma_crc_copy(crc, copy + 1, p, len, vector);
	srdma_crc_end(vector);
	return memcmp(copy + 1, p, len) || copy[len + 1] != 0xa5 ? ~crc : crc;
}

/* Is @fn the same function as the portable code, at odd places as well? */
static bool __init is_right(srdma_crc32_fn fn)
{
	static const u16 lens[] = { 0, 1, 15, 16, 31, 63, 64, 65, 127, 128, 255,
				    256, 319, 512, 1040, 1500 };
	static u8 data[1600] __initdata;
	u32 i, at;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * i + (i >> 3);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (at = 0; at < 17; at++) {
			u32 seed = at * 0x9e3779b9U;
			u32 want = srdma_crc32_portable(seed, data + at,
							lens[i]);

			if (fn(seed, data + at, lens[i]) != want)
				return false;
		}
	}
	return true;
}

/* Returns the name of the hash that crc_hash() is to use, or NULL. */
static const char * __init find_hash(void)
{
	struct crypto_shash *found = crypto_alloc_shash("crc32", 0, 0);
	const char *name;

	if (IS_ERR(found))
		return NULL;
	name = crypto_tfm_alg_driver_name(crypto_shash_tfm(found));
	/* The generic one is slower than our own. */
	if (strstr(name, "generic") || strstr(name, "lib") ||
	    crypto_shash_descsize(found) != sizeof(u32)) {
		crypto_free_shash(found);
		return NULL;
	}
	tfm = found;
	return name;
}

static bool __init folds_right(void)
{
	bool right;

	local_bh_disable();
	right = is_right(crc_fold) && is_right(crc_fold_copy);
	local_bh_enable();
	return right;
}

/* Our own instructions, as wide as this CPU has them and they are right. */
static bool __init init_fold(void)
{
	static const u16 bits[] __initconst = {
		[SRDMA_FOLD_128] = 128,
		[SRDMA_FOLD_256] = 256,
		[SRDMA_FOLD_512] = 512,
	};
	enum srdma_fold_width width = srdma_fold_widest();

	for (; width != SRDMA_FOLD_NONE; width--) {
		srdma_fold_use(width);
		if (folds_right()) {
			static_branch_enable(&can_fold);
			srdma_crc32_set_bulk(crc_fold);
			pr_info("softrdma: ICRC by vectors of %u bits\n",
				bits[width]);
			return true;
		}
		pr_err("softrdma: ICRC by vectors of %u bits is wrong, not used\n",
		       bits[width]);
	}
	return false;
}

/**
 * srdma_crc_init - pick what computes the ICRCs
 *
 * After srdma_icrc_init(), from module init. Nothing to fail: the portable
 * code is always there.
 */
void __init srdma_crc_init(void)
{
	const char *name = "crc32_le";
	srdma_crc32_fn fn = crc_library;

	if (init_fold())
		return;
	if (!srdma_compat_crc32_le_is_fast()) {
		name = find_hash();
		fn = crc_hash;
	}
	if (name && !is_right(fn)) {
		pr_err("softrdma: %s computes wrong sums, not used\n", name);
		name = NULL;
	}
	if (name)
		srdma_crc32_set_bulk(fn);
	pr_info("softrdma: ICRC by %s\n", name ?: "portable code");
}

/* Nothing is summed up any more. */
void srdma_crc_exit(void)
{
	if (tfm)
		crypto_free_shash(tfm);
}

MODULE_SOFTDEP("pre: crc32-pclmul crc32");
