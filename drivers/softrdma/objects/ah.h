/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Addresses of peers: the address vector of a QP or an address handle.
 */
#ifndef SRDMA_AH_H
#define SRDMA_AH_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>

/**
 * struct srdma_av - where packets go; constant once made
 * @src: our address; IPv4 mapped into IPv6
 * @dst: the peer's address, likewise
 * @is_v6: whether they are IPv6 addresses
 * @is_multicast: @dst is a multicast group
 * @traffic_class: of the IP header
 * @hop_limit: of the IP header
 * @flow_label: of the IPv6 header, host order
 * @udp_sport: source port, host order; spreads flows over paths
 * @ifindex: interface that has @src
 * @sgid_index: index of @src in the GID table
 * @dmac: link address of the peer as user space resolved it
 */
struct srdma_av {
	struct in6_addr src;
	struct in6_addr dst;
	bool is_v6;
	bool is_multicast;
	u8 traffic_class;
	u8 hop_limit;
	u32 flow_label;
	u16 udp_sport;
	int ifindex;
	u16 sgid_index;
	u8 dmac[ETH_ALEN];
} __aligned(8);

/**
 * struct srdma_ah_entry - what a UD send of user space looks up by ah_num
 * @rcu: senders may still look at it after the handle is gone
 * @pd: number of the protection domain it belongs to
 * @av: the address
 */
struct srdma_ah_entry {
	struct rcu_head rcu;
	struct ib_pd *pd;
	struct srdma_av av;
};

/**
 * struct srdma_ah - an address handle
 * @ib: the core's part
 * @av: the address that a kernel consumer's requests are given
 * @attr: as given, for queries
 * @num: number of user space's handle, index of a struct srdma_ah_entry in
 *	srdma_dev.ahs that is replaced as a whole when the handle is modified; 0
 *	of a kernel consumer's
 */
struct srdma_ah {
	struct ib_ah ib;
	struct srdma_av av;
	struct rdma_ah_attr attr;
	u32 num;
};

static inline struct srdma_ah *to_sah(struct ib_ah *ib)
{
	return container_of(ib, struct srdma_ah, ib);
}

#endif
