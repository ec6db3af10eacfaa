/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sockets that receive events, for softrdma monitor.
 */
#ifndef SRDMA_MONITOR_H
#define SRDMA_MONITOR_H

#include <net/genetlink.h>
#include <rdma/ib_verbs.h>

#include <rdma/softrdma-netlink.h>

struct srdma_dev;

/**
 * struct srdma_event - something that happened
 * @seq: number of it for its listener
 * @time: ns since 1970
 * @lost: how many found no room just before it
 * @dev: index of the device
 * @qpn: QP that it is about; 0: none
 * @kind: enum srdma_nl_event, which says what else there is
 * @flags: enum srdma_nl_event_flag
 * @packet: SRDMA_NL_EV_PACKET and _NAK
 * @drop: SRDMA_NL_EV_DROP; @drop.stat is an enum srdma_stat
 * @retry: SRDMA_NL_EV_RETRY and _TIMEOUT
 * @window: SRDMA_NL_EV_WINDOW, packets
 * @state: SRDMA_NL_EV_STATE
 * @async: SRDMA_NL_EV_ASYNC, enum ib_event_type
 * @done: SRDMA_NL_EV_COMPLETION; @done.op is of a send request, if
 *	SRDMA_NL_EF_RX is not among @flags
 * @rule: SRDMA_NL_EV_RULE
 * @link: SRDMA_NL_EV_LINK; @link.is is an enum srdma_nl_link_is
 *
 * @seq, @time and @lost are the listener's to write. Members of a packet: @psn,
 * @peer_qpn, @len and @payload in bytes, @stat: enum srdma_stat of what became of
 * it, 0 if unknown; @syndrome and @msn, where @opcode has an AETH.
 */
struct srdma_event {
	u64 seq;
	u64 time;
	u64 lost;
	u32 dev;
	u32 qpn;
	u8 kind;
	u8 flags;
	union {
		struct {
			u32 psn;
			u32 peer_qpn;
			u32 len;
			u32 payload;
			u32 msn;
			u16 stat;
			u8 opcode;
			u8 syndrome;
		} packet;
		struct {
			u32 count;
			u16 stat;
		} drop;
		struct {
			u32 psn;
			u8 cause;
			u8 left;
		} retry;
		u32 window;
		struct {
			u8 from;
			u8 to;
		} state;
		u32 async;
		struct {
			u64 wr_id;
			u32 vendor_err;
			u8 op;
			u8 status;
		} done;
		struct {
			u32 id;
			u32 psn;
			u8 point;
			u8 action;
			u8 op;
			u8 verb;
		} rule;
		struct {
			u8 is;
			char name[IB_DEVICE_NAME_MAX];
		} link;
	};
};

extern const struct nla_policy srdma_monitor_policy[];

bool srdma_monitor_hears(const struct srdma_dev *dev, u32 qpn,
			 enum srdma_nl_event kind);
void srdma_monitor_tell(const struct srdma_dev *dev, struct srdma_event *event);

int srdma_monitor_start(struct sk_buff *skb, struct genl_info *info);
int srdma_monitor_get(struct sk_buff *skb, struct genl_info *info);

int srdma_monitor_init(void);
void srdma_monitor_exit(void);

#endif
