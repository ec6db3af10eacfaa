// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Invalidation of what has a key, by a work request or by the peer.
 */
#include "memory/invalidate.h"
#include "memory/region.h"
#include "memory/window.h"

/**
 * srdma_mem_invalidate - execute a local or remote invalidation
 * @who: QP that the request was posted to, or has come to
 * @number: key
 * @remote: the peer asks for it
 *
 * Called with bottom halves disabled and no iterator begun: it waits until no
 * access with that key is under way on any CPU.
 */
enum srdma_mem_why srdma_mem_invalidate(const struct srdma_mem_who *who,
					u32 number, bool remote)
{
	struct srdma_key *key = srdma_key_find(who->keys, number);

	if (!key)
		return SRDMA_MEM_KEY;
	switch ((enum srdma_key_kind)key->kind) {
	case SRDMA_KEY_MR:
		return srdma_mr_invalidate(who,
					   container_of(key, struct srdma_mr,
							key), number, remote);
	case SRDMA_KEY_MW:
		return srdma_mw_invalidate(who,
					   container_of(key, struct srdma_mw,
							key), number, remote);
	}
	return SRDMA_MEM_KEY;
}
