// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Captures of looped traffic. It passes no interface, so no packet socket would see
 * it. While one listens on the link's interface, the frames are built, with a header
 * of that interface, and given to packet sockets like frames that the interface
 * sends. They go nowhere else.
 *
 * Frames of trains that a rule has taken apart, and all that goes to the network,
 * the stack shows.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>

#include "objects/device.h"
#include "observe/counters.h"
#include "wire/addresses.h"
#include "wire/frame.h"
#include "wire/loop.h"
#include "wire/netns.h"
#include "wire/outgoing.h"
#include "wire/tap.h"

/**
 * srdma_tap_listens - does a packet socket see what a link's interface sends?
 * @dev: device
 *
 * An interface that moves to another namespace first leaves this one, and appears
 * there a grace period later. So sockets there never see frames from here, if the
 * caller stays in its RCU section until the frames are shown.
 */
bool srdma_tap_listens(struct srdma_dev *dev)
{
	return srdma_netns_has_packet_sockets(dev->net) &&
	       !READ_ONCE(dev->gone) && dev_nit_active(dev->ndev);
}

/*
 * The VLAN of an address that an upper interface has: the frame would have its
 * tag on ours. On a VLAN interface itself frames have none.
 */
static void put_tag(struct srdma_dev *dev, struct sk_buff *frame)
{
	struct in6_addr src, dst;
	u16 vlan;

	if (is_vlan_dev(dev->ndev))
		return;
	srdma_frame_addresses(frame, &src, &dst);
	vlan = srdma_addresses_vlan(dev, (const union ib_gid *)&src);
	if (vlan != SRDMA_NO_VLAN)
		__vlan_hwaccel_put_tag(frame, htons(ETH_P_8021Q), vlan);
}

/* As the interface would be given it, but with all sums done. */
static bool dress(struct srdma_dev *dev, struct sk_buff *frame)
{
	struct net_device *ndev = dev->ndev;

	frame->dev = ndev;
	if (frame->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(frame))
		return false;
	frame->ip_summed = CHECKSUM_NONE;
	put_tag(dev, frame);
	memset(frame->cb, 0, sizeof(frame->cb));
	return !skb_cow_head(frame, LL_RESERVED_SPACE(ndev)) &&
	       dev_hard_header(frame, ndev, ntohs(frame->protocol),
			       ndev->dev_addr, ndev->dev_addr,
			       frame->len) >= 0;
}

/* The frame is consumed. RCU read side. */
static void show_taps(struct srdma_dev *dev, struct sk_buff *frame)
{
	if (dress(dev, frame))
		dev_queue_xmit_nit(frame, dev->ndev);
	else
		srdma_stat_inc(dev, SRDMA_STAT_TAP_LOST);
	consume_skb(frame);
}

/**
 * srdma_tap_show_burst - show a looped burst to packet sockets
 * @tx: what was sent; its path counts the identifications up
 * @skb: looped skb with its payload behind it, not lent
 *
 * Bottom halves are disabled.
 */
void srdma_tap_show_burst(const struct srdma_tx *tx, const struct sk_buff *skb)
{
	struct srdma_dev *dev = srdma_packet_in(skb)->dev;
	struct sk_buff_head frames;
	struct sk_buff *frame;
	int lost;

	__skb_queue_head_init(&frames);
	rcu_read_lock();
	if (srdma_tap_listens(dev)) {
		lost = srdma_frames_write(skb, tx->path->id, &frames);
		tx->path->id += srdma_loop_of(skb)->burst.count;
		srdma_stat_add(dev, SRDMA_STAT_TAP_LOST, lost);
		while ((frame = __skb_dequeue(&frames)))
			show_taps(dev, frame);
	}
	rcu_read_unlock();
}

/**
 * srdma_tap_show_frame - show a looped frame to packet sockets
 * @dev: device
 * @frame: on its way; a copy is shown, since it may still be changed
 *
 * Bottom halves are disabled.
 */
void srdma_tap_show_frame(struct srdma_dev *dev, const struct sk_buff *frame)
{
	struct sk_buff *copy;

	rcu_read_lock();
	if (srdma_tap_listens(dev)) {
		copy = skb_copy(frame, GFP_ATOMIC | __GFP_NOWARN);
		if (copy)
			show_taps(dev, copy);
		else
			srdma_stat_inc(dev, SRDMA_STAT_TAP_LOST);
	}
	rcu_read_unlock();
}
