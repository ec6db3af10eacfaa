// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: binding and invalidation.
 *
 * A region counts its bound windows. Until they are gone it can neither be
 * deregistered nor changed. So an access through a window has to enter the gate
 * of the window only.
 */
#include "memory/region.h"
#include "memory/window.h"

/*
 * What a window may be bound with. Programs written to hardware give local
 * write access, too, which means nothing: windows are for remote access only.
 */
#define ACCESS_GIVEN	(SRDMA_ACCESS_REMOTE | IB_ZERO_BASED)
#define MW_ACCESS_KNOWN	(ACCESS_GIVEN | IB_ACCESS_LOCAL_WRITE)

/* Takes the window from its users and from its region. */
static void unbind(struct srdma_mw *mw, enum srdma_err_by by)
{
	struct srdma_mw_set *set = mw->set;
	struct srdma_mr *mr = mw->mr;

	lockdep_assert_held(&mw->key.lock);
	if (mw->key.state != SRDMA_KEY_VALID)
		return;
	srdma_key_close(&mw->key, SRDMA_KEY_FREE, by);
	/* The region may go as soon as it does not count us any more. */
	srdma_key_drain_spin(&mw->key);

	spin_lock(&mr->key.lock);
	mr->windows--;
	spin_unlock(&mr->key.lock);
	mw->mr = NULL;

	if (set) {
		spin_lock(&set->lock);
		list_del_init(&mw->entry);
		spin_unlock(&set->lock);
		mw->set = NULL;
	}
}

/* The window is being deallocated. */
void srdma_mw_end(struct srdma_mw *mw)
{
	spin_lock_bh(&mw->key.lock);
	unbind(mw, SRDMA_BY_DEREG);
	/* A look-up that found it earlier cannot bind it again. */
	mw->key.state = SRDMA_KEY_DEAD;
	spin_unlock_bh(&mw->key.lock);
}

/* May this window be bound so, whatever to? */
static enum srdma_mem_why check_window(const struct srdma_mw *mw,
				       const struct srdma_mem_who *who,
				       const struct srdma_mw_bind *bind)
{
	if (mw->key.state == SRDMA_KEY_DEAD || mw->key.key != bind->mw_rkey)
		return SRDMA_MEM_KEY;
	/* C10-72 */
	if (mw->key.pd != who->pd)
		return SRDMA_MEM_PD;
	if (bind->access & ~(u32)MW_ACCESS_KNOWN)
		return SRDMA_MEM_ACCESS;
	if (mw->type == IB_MW_TYPE_1) {
		/* o10-36.2.2 */
		if (bind->access & IB_ZERO_BASED)
			return SRDMA_MEM_ACCESS;
		return SRDMA_MEM_OK;
	}
	/* o10-37.2.30: it is to be invalidated first. */
	if (mw->key.state != SRDMA_KEY_FREE)
		return SRDMA_MEM_STATE;
	/* o10-37.2.40: nor is binding to nothing a way to do that. */
	return bind->length ? SRDMA_MEM_OK : SRDMA_MEM_LENGTH;
}

/* May a window be bound so to this region? */
static enum srdma_mem_why check_region(const struct srdma_mr *mr,
				       const struct srdma_mw *mw,
				       const struct srdma_mw_bind *bind)
{
	const struct srdma_key *key = &mr->key;

	if (key->state != SRDMA_KEY_VALID || key->key != bind->mr_lkey)
		return SRDMA_MEM_KEY;
	if (key->pd != mw->key.pd)
		return SRDMA_MEM_PD;
	if (mr->kind == SRDMA_MR_DMA)
		return SRDMA_MEM_STATE;
	/* C10-73 */
	if (!(key->access & IB_ACCESS_MW_BIND))
		return SRDMA_MEM_ACCESS;
	/* Type 1 windows know no addresses but virtual ones. */
	if (mw->type == IB_MW_TYPE_1 && key->access & IB_ZERO_BASED)
		return SRDMA_MEM_ACCESS;
	/* C10-74 */
	if (bind->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(key->access & IB_ACCESS_LOCAL_WRITE))
		return SRDMA_MEM_ACCESS;
	/* What may be flushed is the region's to say. */
	if (bind->access & SRDMA_ACCESS_FLUSH & ~key->access)
		return SRDMA_MEM_ACCESS;
	/* C10-75 */
	if (!srdma_range_ok(key->start, key->length, bind->addr, bind->length))
		return SRDMA_MEM_RANGE;
	return SRDMA_MEM_OK;
}

/* Finds the region and counts the window at it. */
static enum srdma_mem_why hold_region(struct srdma_mr **found,
				      const struct srdma_mem_who *who,
				      const struct srdma_mw *mw,
				      const struct srdma_mw_bind *bind)
{
	struct srdma_key *key = srdma_key_find(who->keys, bind->mr_lkey);
	enum srdma_mem_why why;
	struct srdma_mr *mr;

	if (!key || key->kind != SRDMA_KEY_MR)
		return SRDMA_MEM_KEY;
	mr = container_of(key, struct srdma_mr, key);
	spin_lock(&mr->key.lock);
	why = check_region(mr, mw, bind);
	if (!why)
		mr->windows++;
	spin_unlock(&mr->key.lock);
	*found = mr;
	return why;
}

static void bind_to(struct srdma_mw *mw, struct srdma_mr *mr,
		    const struct srdma_mem_who *who,
		    const struct srdma_mw_bind *bind)
{
	lockdep_assert_held(&mw->key.lock);
	mw->mr = mr;
	mw->key.access = bind->access & ACCESS_GIVEN;
	mw->key.start = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	mw->key.length = bind->length;
	/* Constant as long as the region counts the window. */
	mw->key.map = mr->key.map;
	mw->key.offset = mr->key.offset + (bind->addr - mr->key.start);
	if (mw->type == IB_MW_TYPE_2) {
		mw->set = who->set;
		spin_lock(&mw->set->lock);
		list_add(&mw->entry, &mw->set->windows);
		spin_unlock(&mw->set->lock);
	}
	mw->key.set = mw->set;
	srdma_key_open(&mw->key);
}

/**
 * srdma_mw_bind - execute a BIND_MW work request
 * @who: for whom; type 2 windows are bound to its QP
 * @bind: what to bind to what
 *
 * Called with bottom halves disabled. On return no access is under way that
 * began before.
 */
enum srdma_mem_why srdma_mw_bind(const struct srdma_mem_who *who,
				 const struct srdma_mw_bind *bind)
{
	struct srdma_key *key = srdma_key_find(who->keys, bind->mw_rkey);
	struct srdma_mr *mr = NULL;
	enum srdma_mem_why why;
	struct srdma_mw *mw;

	if (!key || key->kind != SRDMA_KEY_MW)
		return SRDMA_MEM_KEY;
	mw = container_of(key, struct srdma_mw, key);
	spin_lock(&mw->key.lock);
	why = check_window(mw, who, bind);
	if (!why && bind->length)
		why = hold_region(&mr, who, mw, bind);
	if (!why) {
		unbind(mw, SRDMA_BY_BIND);
		mw->key.key = srdma_key_vary(mw->key.key, bind->new_rkey);
		if (bind->length)
			bind_to(mw, mr, who, bind);
	}
	spin_unlock(&mw->key.lock);
	return why;
}

/**
 * srdma_mw_invalidate - execute a local or remote invalidation
 * @who: for whom
 * @mw: what was found at the key's index
 * @key: the key
 * @remote: the peer asks for it
 *
 * Called with bottom halves disabled. On return no access is under way.
 */
enum srdma_mem_why srdma_mw_invalidate(const struct srdma_mem_who *who,
				       struct srdma_mw *mw, u32 key,
				       bool remote)
{
	enum srdma_mem_why why = SRDMA_MEM_OK;

	spin_lock(&mw->key.lock);
	if (mw->key.state != SRDMA_KEY_VALID || mw->key.key != key)
		why = SRDMA_MEM_KEY;
	else if (mw->key.pd != who->pd)
		why = SRDMA_MEM_PD;
	else if (mw->type != IB_MW_TYPE_2)
		why = SRDMA_MEM_STATE;	/* o10-37.2.26 */
	else if (mw->set != who->set)
		why = SRDMA_MEM_QP;
	else
		unbind(mw, remote ? SRDMA_BY_REMOTE_INV : SRDMA_BY_LOCAL_INV);
	spin_unlock(&mw->key.lock);
	return why;
}

void srdma_mw_set_init(struct srdma_mw_set *set)
{
	spin_lock_init(&set->lock);
	INIT_LIST_HEAD(&set->windows);
}

/**
 * srdma_mw_set_drop - invalidate all windows that are bound to a QP
 * @set: windows of a QP that is being destroyed; its send engine has stopped,
 *	so that no window is added any more
 */
void srdma_mw_set_drop(struct srdma_mw_set *set)
{
	struct srdma_mw *mw;

	for (;;) {
		/* Keeps a window that is deallocated right now. */
		rcu_read_lock();
		spin_lock_bh(&set->lock);
		mw = list_first_entry_or_null(&set->windows, struct srdma_mw,
					      entry);
		spin_unlock_bh(&set->lock);
		if (mw) {
			/* The window's lock comes first: look again. */
			spin_lock_bh(&mw->key.lock);
			if (mw->set == set)
				unbind(mw, SRDMA_BY_QP);
			spin_unlock_bh(&mw->key.lock);
		}
		rcu_read_unlock();
		if (!mw)
			return;
		cond_resched();
	}
}
