// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reason why an access to memory was refused. The key is looked up again
 * after the failure, so that accesses that succeed pay nothing. If the key has
 * changed meanwhile, the reason describes the new state.
 *
 * A user learns about its own keys only. Whether another user has a key of some
 * number is not reported: to this user, no key has that number.
 */
#include <linux/ktime.h>

#include "memory/check.h"
#include "memory/explain.h"
#include "memory/keys.h"
#include "memory/page_map.h"

/* From the first code of a group; LKEY and RKEY have the same order. */
enum reason {
	REASON_NONE = SRDMA_ERR_LKEY_NONE - SRDMA_ERR_LKEY_NONE,
	REASON_GONE = SRDMA_ERR_LKEY_GONE - SRDMA_ERR_LKEY_NONE,
	REASON_INVALIDATED = SRDMA_ERR_LKEY_INVALIDATED - SRDMA_ERR_LKEY_NONE,
	REASON_PD = SRDMA_ERR_LKEY_PD - SRDMA_ERR_LKEY_NONE,
	REASON_WINDOW = SRDMA_ERR_LKEY_WINDOW - SRDMA_ERR_LKEY_NONE,
	REASON_ACCESS = SRDMA_ERR_LKEY_ACCESS - SRDMA_ERR_LKEY_NONE,
	REASON_RANGE = SRDMA_ERR_LKEY_RANGE - SRDMA_ERR_LKEY_NONE,
	REASON_CHANGING = SRDMA_ERR_LKEY_CHANGING - SRDMA_ERR_LKEY_NONE,
};

#define SAME_PLACE(name)						\
	static_assert(SRDMA_ERR_LKEY_##name - SRDMA_ERR_LKEY_NONE ==	\
		      SRDMA_ERR_RKEY_##name - SRDMA_ERR_RKEY_NONE)

SAME_PLACE(GONE);
SAME_PLACE(INVALIDATED);
SAME_PLACE(PD);
SAME_PLACE(WINDOW);
SAME_PLACE(ACCESS);
SAME_PLACE(RANGE);
SAME_PLACE(CHANGING);

static void add_ago(struct srdma_cause *cause, u64 at)
{
	srdma_cause_add(cause, SRDMA_FACT_AGO, ktime_get_ns() - at);
}

static enum reason look_in_history(struct srdma_cause *cause,
				   const struct srdma_mem_who *who, u32 number)
{
	u64 at;

	if (!srdma_key_was(who->keys, number, who->uid, &at))
		return REASON_NONE;
	add_ago(cause, at);
	srdma_cause_add(cause, SRDMA_FACT_BY, SRDMA_BY_DEREG);
	return REASON_GONE;
}

static enum reason look_at_state(struct srdma_cause *cause,
				 const struct srdma_key *key)
{
	if (!key->ended_at)
		return REASON_NONE;
	add_ago(cause, key->ended_at);
	srdma_cause_add(cause, SRDMA_FACT_BY, key->ended_by);
	return key->state == SRDMA_KEY_DEAD ? REASON_GONE :
					      REASON_INVALIDATED;
}

static void add_bounds(struct srdma_cause *cause, const struct srdma_key *key)
{
	srdma_cause_add(cause, SRDMA_FACT_START, key->start);
	srdma_cause_add(cause, SRDMA_FACT_LENGTH, key->length);
	srdma_cause_add(cause, SRDMA_FACT_HAS, key->access);
}

/* The order of memory/access.c check_key(), behind that of look-ups. */
static enum reason look_at_key(struct srdma_cause *cause,
			       const struct srdma_key *key,
			       const struct srdma_mem_who *who,
			       const struct srdma_claim *claim, bool remote)
{
	lockdep_assert_held(&key->lock);
	if (!uid_eq(key->uid, who->uid) || key->key != claim->key)
		return REASON_NONE;
	if (!remote && key->kind != SRDMA_KEY_MR)
		return REASON_WINDOW;
	if (key->state != SRDMA_KEY_VALID)
		return look_at_state(cause, key);
	add_bounds(cause, key);
	if (key->pd != who->pd)
		return REASON_PD;
	if (key->set && key->set != who->set)
		return REASON_WINDOW;
	if ((key->access & claim->access) != claim->access)
		return REASON_ACCESS;
	/* A key of all memory names no more than there is of it. */
	if (!srdma_range_ok(key->start, key->length, claim->at, claim->bytes) ||
	    !key->map->blocks)
		return REASON_RANGE;
	return REASON_CHANGING;
}

static enum reason look_up_again(struct srdma_cause *cause,
			const struct srdma_mem_who *who,
			const struct srdma_claim *claim, bool remote)
{
	struct srdma_key *key = srdma_key_find(who->keys, claim->key);
	enum reason reason;

	if (!key)
		return look_in_history(cause, who, claim->key);
	spin_lock(&key->lock);
	reason = look_at_key(cause, key, who, claim, remote);
	spin_unlock(&key->lock);
	return reason;
}

static void explain_claim(struct srdma_cause *cause,
			  const struct srdma_mem_who *who,
			  const struct srdma_claim *claim, bool remote)
{
	srdma_cause_begin(cause, 0);
	srdma_cause_add(cause, SRDMA_FACT_KEY, claim->key);
	srdma_cause_add(cause, SRDMA_FACT_ADDR, claim->at);
	srdma_cause_add(cause, SRDMA_FACT_BYTES, claim->bytes);
	srdma_cause_add(cause, SRDMA_FACT_NEEDS, claim->access);
	cause->code = (remote ? SRDMA_ERR_RKEY_NONE : SRDMA_ERR_LKEY_NONE) +
		      look_up_again(cause, who, claim, remote);
}

/**
 * srdma_explain_remote - why a peer may not access memory
 * @cause: filled
 * @who: queue pair that was asked
 * @claim: what the peer wanted
 *
 * Called with bottom halves disabled and no iterator begun, as all here.
 */
void srdma_explain_remote(struct srdma_cause *cause,
			  const struct srdma_mem_who *who,
			  const struct srdma_claim *claim)
{
	explain_claim(cause, who, claim, true);
}

/* May the first piece that cannot be had at present be had after all? */
static bool can_be_had(const struct srdma_mem_who *who,
		       const struct srdma_sge *sge, u32 access)
{
	return !sge->length ||
	       srdma_mem_check_list(who, sge, 1, access) == SRDMA_MEM_OK;
}

/**
 * srdma_explain_pieces - why the pieces of a work request cannot be accessed
 * @cause: filled, about the first one that cannot
 * @who: queue that it was posted to
 * @sge: pieces
 * @num_sge: their number
 * @access: 0 to read, IB_ACCESS_LOCAL_WRITE to write
 */
void srdma_explain_pieces(struct srdma_cause *cause,
			  const struct srdma_mem_who *who,
			  const struct srdma_sge *sge, u32 num_sge, u32 access)
{
	struct srdma_claim claim = { .access = access };
	u32 i;

	for (i = 0; i < num_sge; i++)
		if (!can_be_had(who, &sge[i], access))
			break;
	/* All can by now: then it was one of them, say the first. */
	if (i == num_sge)
		i = 0;
	if (num_sge) {
		claim.key = sge[i].lkey;
		claim.at = sge[i].addr;
		claim.bytes = sge[i].length;
	}
	explain_claim(cause, who, &claim, false);
	if (num_sge > 1)
		srdma_cause_add(cause, SRDMA_FACT_INDEX, i);
}

/* The key that an operation on a key was about, and what there is to it. */
void srdma_explain_key(struct srdma_cause *cause,
		       const struct srdma_mem_who *who, u32 number)
{
	const struct srdma_claim claim = { .key = number };
	u16 code = cause->code;

	srdma_cause_begin(cause, code);
	srdma_cause_add(cause, SRDMA_FACT_KEY, number);
	look_up_again(cause, who, &claim, true);
}

/* Is the object at the index of a key, if there is one, of the same user? */
bool srdma_explain_may_tell(const struct srdma_mem_who *who, u32 number)
{
	const struct srdma_key *key = srdma_key_find(who->keys, number);

	return key && uid_eq(key->uid, who->uid);
}
