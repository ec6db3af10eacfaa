// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles, checked when they are made. Requests of user space name them
 * by number. A request of a kernel consumer gets a copy of the address when it
 * is posted.
 */
#include <linux/etherdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "objects/device.h"
#include "verbs/ah.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"

static bool is_mapped_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid->raw);
}

/**
 * srdma_av_init - an address vector from the attributes of a handle or a QP
 * @av: filled
 * @dev: device
 * @is_user: a process asks, which may sleep
 * @attr: attributes; the core has resolved and holds the source GID
 * @lqpn: number of our QP, 0 for a handle; with @rqpn it picks the UDP port
 * @rqpn: number of the peer's QP, or 0
 *
 * Return: 0, or -EINVAL for what RoCE cannot serve.
 */
int srdma_av_init(struct srdma_av *av, struct srdma_dev *dev, bool is_user,
		  const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	struct net_device *ndev;
	u32 port = rdma_ah_get_port_num(attr);

	/* RoCE has no addressing but by GIDs. */
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return -EINVAL;
	if (port && port != SRDMA_PORT)
		return -EINVAL;
	if (rdma_gid_attr_network_type(sgid) == RDMA_NETWORK_ROCE_V1)
		return -EINVAL;
	/* A packet cannot leave with one family and arrive with another. */
	if (is_mapped_v4(&sgid->gid) != is_mapped_v4(&grh->dgid))
		return srdma_refuse(&dev->ib, is_user,
				    SRDMA_REFUSED(AH_FAMILY, EINVAL,
						  grh->sgid_index, 0));

	memcpy(&av->src, sgid->gid.raw, sizeof(av->src));
	memcpy(&av->dst, grh->dgid.raw, sizeof(av->dst));
	av->is_v6 = !is_mapped_v4(&sgid->gid);
	av->is_multicast = rdma_is_multicast_addr(&av->dst);
	av->traffic_class = grh->traffic_class;
	av->hop_limit = grh->hop_limit;
	/* Only 20 bits go onto the wire; many callers give 32 ones. */
	av->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	av->udp_sport = rdma_get_udp_sport(av->flow_label, lqpn, rqpn);
	av->sgid_index = grh->sgid_index;
	ether_addr_copy(av->dmac, attr->roce.dmac);

	rcu_read_lock();
	ndev = rcu_dereference(sgid->ndev);
	av->ifindex = ndev ? ndev->ifindex : 0;
	rcu_read_unlock();
	return 0;
}

static struct srdma_ah_entry *entry_create(struct srdma_dev *dev,
					   struct ib_pd *pd,
					   const struct rdma_ah_attr *attr)
{
	struct srdma_ah_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), SRDMA_GFP);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->pd = pd;
	err = srdma_av_init(&entry->av, dev, true, attr, 0, 0);
	if (err) {
		kfree(entry);
		return ERR_PTR(err);
	}
	return entry;
}

/**
 * srdma_av_keep - attributes for queries, of a handle or a QP
 * @keep: filled, without the reference that the core keeps in its own copy
 * @attr: what srdma_av_init() has taken
 */
void srdma_av_keep(struct rdma_ah_attr *keep, const struct rdma_ah_attr *attr)
{
	*keep = *attr;
	keep->grh.sgid_attr = NULL;
	keep->grh.flow_label &= IB_GRH_FLOWLABEL_MASK;
}

static int publish_ah(struct srdma_dev *dev, struct srdma_ah_entry *entry,
		      u32 *num)
{
	unsigned long flags;
	int ret;

	xa_lock_irqsave(&dev->ahs, flags);
	ret = __xa_alloc_cyclic(&dev->ahs, num, entry, XA_LIMIT(1, U32_MAX),
				&dev->next_ah, SRDMA_GFP);
	xa_unlock_irqrestore(&dev->ahs, flags);
	return ret < 0 ? ret : 0;
}

static void withdraw(struct srdma_dev *dev, u32 num)
{
	struct srdma_ah_entry *entry;
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	entry = __xa_erase(&dev->ahs, num);
	/* Pairs with find_handle() in requester/datagram.c. */
	smp_store_release(&dev->ahs_gone, dev->ahs_gone + 1);
	xa_unlock_irqrestore(&dev->ahs, flags);
	/* Senders may be looking at it, by a number that they guessed even. */
	kfree_rcu(entry, rcu);
}

/* Gives user space, which may sleep here, a number to name the handle by. */
static int create_numbered(struct srdma_ah *ah, const struct rdma_ah_attr *attr,
			   struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ah->ib.device);
	struct srdma_abi_create_ah_resp resp = {};
	struct srdma_ah_entry *entry;
	int err;

	err = srdma_bounds_room();
	if (err)
		return err;
	entry = entry_create(dev, ah->ib.pd, attr);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	err = publish_ah(dev, entry, &ah->num);
	if (err) {
		kfree(entry);
		return err;
	}
	/* Providers before ah_num existed ask for nothing. */
	resp.ah_num = ah->num;
	if (udata->outlen) {
		err = ib_copy_to_udata(udata, &resp,
				       min(sizeof(resp), udata->outlen));
		if (err)
			withdraw(dev, ah->num);
	}
	return err;
}

/* The connection manager makes and destroys handles with interrupts disabled. */
int srdma_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_ah *ah = to_sah(ib);
	int err;

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_CREATE_AH, 0) ?:
	      srdma_udata_no_input(udata);
	if (err)
		return err;
	err = srdma_refuse_beyond(dev, udata, SRDMA_OBJ_AH);
	if (err)
		return err;
	err = udata ? create_numbered(ah, init->ah_attr, udata) :
		      srdma_av_init(&ah->av, dev, false, init->ah_attr, 0, 0);
	if (err)
		srdma_dev_uncount(dev, SRDMA_OBJ_AH);
	else
		srdma_av_keep(&ah->attr, init->ah_attr);
	return err;
}

/* Only for kernel consumers: they do not post to a handle while they modify it. */
int srdma_ah_modify(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct srdma_ah *ah = to_sah(ib);
	int err;

	err = srdma_av_init(&ah->av, to_sdev(ib->device), false, attr, 0, 0);
	if (!err)
		srdma_av_keep(&ah->attr, attr);
	return err;
}

int srdma_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = to_sah(ib)->attr;
	return 0;
}

/* May be called where sleeping is not allowed. */
int srdma_ah_destroy(struct ib_ah *ib, u32 flags)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_ah *ah = to_sah(ib);

	if (ah->num)
		withdraw(dev, ah->num);
	srdma_dev_uncount(dev, SRDMA_OBJ_AH);
	return 0;
}
