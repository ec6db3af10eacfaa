// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The counters of the port as InfiniBand has them: answers to queries of the
 * performance management class (16.1). The core asks for ports/1/counters of sysfs,
 * and peers may ask by QP 1.
 *
 * Documentation/softrdma/guide/counters.rst says what is in them.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "device/counters.h"
#include "device/port_counters.h"
#include "objects/device.h"
#include "observe/counters.h"

/* Version 1 of the class is the only one there is (16.1.1). */
#define CLASS_VERSION	1

/* What an answer takes at most, as a power of two of 4.096 us: a second. */
#define ANSWER_TIME	18

/* Where the attribute begins, behind the header and what is reserved. */
#define ATTRIBUTE	(offsetof(struct ib_pma_mad, data) - \
			 offsetof(struct ib_mad, data))

static_assert(sizeof(struct ib_pma_mad) == sizeof(struct ib_mad));
/* Both say in the same place which port is meant. */
static_assert(offsetof(struct ib_pma_portcounters, port_select) ==
	      offsetof(struct ib_pma_portcounters_ext, port_select));

/* Packets that are broken, and those for which there was no room. */
static const enum srdma_stat received_in_vain[] = {
	SRDMA_STAT_RX_MALFORMED,
	SRDMA_STAT_RX_ICRC,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_SHORT,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_UNALIGNED,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_TVER,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_OPCODE,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_PAD,
	SRDMA_STAT_RX_BAD + SRDMA_PARSE_LENGTH,
	SRDMA_STAT_RX_INBOX_FULL,
	SRDMA_STAT_RX_NO_MEMORY,
};

/* Those that filters, or the partition, keep out. */
static const enum srdma_stat kept_out[] = {
	SRDMA_STAT_RX_POLICY,
	SRDMA_STAT_RX_WRONG_PKEY,
};

/* Those that could not leave. */
static const enum srdma_stat kept_in[] = {
	SRDMA_STAT_TX_DROPPED,
	SRDMA_STAT_TX_NO_ROUTE,
};

/* What goes from one QP of the device to another passes the port, both ways. */
static const enum srdma_stat sent[] = {
	SRDMA_STAT_TX_PACKETS,
	SRDMA_STAT_TX_LOOPED,
};

static const enum srdma_stat sent_bytes[] = {
	SRDMA_STAT_TX_BYTES,
	SRDMA_STAT_TX_LOOPED_BYTES,
};

static u64 sum_up(const struct srdma_dev *dev, const enum srdma_stat *stats,
		  size_t count)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += srdma_stat_sum(dev, stats[i]);
	return sum;
}

#define SUM(dev, stats)	sum_up(dev, stats, ARRAY_SIZE(stats))

/**
 * struct traffic - what has passed the port
 * @xmit_data: sent, in units of 4 bytes
 * @rcv_data: received, likewise
 * @xmit: packets sent
 * @rcv: packets received
 * @xmit_multicast: of @xmit, to a multicast group
 * @rcv_multicast: of @rcv, likewise
 */
struct traffic {
	u64 xmit_data;
	u64 rcv_data;
	u64 xmit;
	u64 rcv;
	u64 xmit_multicast;
	u64 rcv_multicast;
};

static void read_traffic(const struct srdma_dev *dev, struct traffic *t)
{
	t->xmit_data = SUM(dev, sent_bytes) / 4;
	t->rcv_data = srdma_stat_sum(dev, SRDMA_STAT_RX_BYTES) / 4;
	t->xmit = SUM(dev, sent);
	t->rcv = srdma_stat_sum(dev, SRDMA_STAT_RX_PACKETS);
	/* They go on meanwhile, and a part is never more than the whole. */
	t->xmit_multicast = min(srdma_stat_sum(dev, SRDMA_STAT_TX_MULTICAST),
				t->xmit);
	t->rcv_multicast = min(srdma_stat_sum(dev, SRDMA_STAT_RX_MULTICAST),
			       t->rcv);
}

static void put_class_info(u8 *to)
{
	struct ib_class_port_info info = {
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = CLASS_VERSION,
		.capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH,
	};

	ib_set_cpi_resp_time(&info, ANSWER_TIME);
	memcpy(to, &info, sizeof(info));
}

static u8 cap8(u64 value)
{
	return min_t(u64, value, U8_MAX);
}

static __be16 cap16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 cap32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

/* They do not overflow, but stop at all ones (16.1.3.5). */
static void put_counters(const struct srdma_dev *dev, u8 *to)
{
	struct ib_pma_portcounters counters = { .port_select = SRDMA_PORT };
	struct traffic t;

	read_traffic(dev, &t);
	counters.link_downed_counter =
		cap8(srdma_stat_sum(dev, SRDMA_STAT_LINK_DOWN));
	counters.port_rcv_errors = cap16(SUM(dev, received_in_vain));
	counters.port_rcv_constraint_errors = cap8(SUM(dev, kept_out));
	counters.port_xmit_discards = cap16(SUM(dev, kept_in));
	counters.port_xmit_data = cap32(t.xmit_data);
	counters.port_rcv_data = cap32(t.rcv_data);
	counters.port_xmit_packets = cap32(t.xmit);
	counters.port_rcv_packets = cap32(t.rcv);
	memcpy(to, &counters, sizeof(counters));
}

static void put_wide_counters(const struct srdma_dev *dev, u8 *to)
{
	struct ib_pma_portcounters_ext counters = { .port_select = SRDMA_PORT };
	struct traffic t;

	read_traffic(dev, &t);
	counters.port_xmit_data = cpu_to_be64(t.xmit_data);
	counters.port_rcv_data = cpu_to_be64(t.rcv_data);
	counters.port_xmit_packets = cpu_to_be64(t.xmit);
	counters.port_rcv_packets = cpu_to_be64(t.rcv);
	counters.port_unicast_xmit_packets =
		cpu_to_be64(t.xmit - t.xmit_multicast);
	counters.port_unicast_rcv_packets =
		cpu_to_be64(t.rcv - t.rcv_multicast);
	counters.port_multicast_xmit_packets = cpu_to_be64(t.xmit_multicast);
	counters.port_multicast_rcv_packets = cpu_to_be64(t.rcv_multicast);
	memcpy(to, &counters, sizeof(counters));
}

/* Does it ask for what is answered here? */
static bool is_query(const struct ib_mad_hdr *hdr)
{
	if (hdr->base_version != IB_MGMT_BASE_VERSION ||
	    hdr->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    hdr->class_version != CLASS_VERSION ||
	    hdr->method != IB_MGMT_METHOD_GET)
		return false;
	return hdr->attr_id == IB_PMA_CLASS_PORT_INFO ||
	       hdr->attr_id == IB_PMA_PORT_COUNTERS ||
	       hdr->attr_id == IB_PMA_PORT_COUNTERS_EXT;
}

/* No attribute here has a modifier, and there is one port (16.1.3.5). */
static __be16 status_for(const struct ib_mad *in)
{
	size_t at = ATTRIBUTE + offsetof(struct ib_pma_portcounters, port_select);

	if (in->mad_hdr.attr_mod ||
	    (in->mad_hdr.attr_id != IB_PMA_CLASS_PORT_INFO &&
	     in->data[at] != SRDMA_PORT))
		return cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
	return 0;
}

/**
 * srdma_port_counters_answer - answer a management datagram, if it is a query
 * @ib: device
 * @flags: enum ib_process_mad_flags; there is no key that could be ignored
 * @port: the port it is for, which the core has checked
 * @wc: how it arrived by QP 1, or NULL: sysfs asks
 * @grh: from whom, likewise
 * @in: the datagram, from anybody; a whole one, since QP 1 takes no others
 * @out: the answer
 * @out_size: room for it, which is that of a datagram
 * @out_pkey_index: not written: it is for other fabrics
 *
 * All others are left to the core: it gives them to the programs that have asked for
 * them, or tells the sender that method and attribute are not supported. Among these
 * is what would clear counters, since ours never go back.
 *
 * Return: enum ib_mad_result.
 */
int srdma_port_counters_answer(struct ib_device *ib, int flags, u32 port,
			       const struct ib_wc *wc, const struct ib_grh *grh,
			       const struct ib_mad *in, struct ib_mad *out,
			       size_t *out_size, u16 *out_pkey_index)
{
	const struct srdma_dev *dev = to_sdev(ib);
	u8 *to = out->data + ATTRIBUTE;

	if (!is_query(&in->mad_hdr))
		return IB_MAD_RESULT_SUCCESS;
	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = status_for(in);
	if (out->mad_hdr.status)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;

	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		put_class_info(to);
	else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		put_counters(dev, to);
	else
		put_wide_counters(dev, to);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
