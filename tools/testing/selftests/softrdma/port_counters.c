// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ports/1/counters of sysfs: there, and grown by what was sent, to the byte. Between
 * two links that is what leaves one and reaches the other; between two QPs of one
 * device it passes the port both ways.
 */
#include "pair_fixture.h"

#include <dirent.h>
#include <unistd.h>

#include "counters.h"
#include "ends.h"
#include "rules.h"

/* From BTH to ICRC without anything between. */
#define BARE		16
#define RETH		16
#define DETH		8
#define IMM		4

#define MTU		1024
#define MULTICAST_QPN	0xffffff

static const uint32_t lengths[] = { 0, 1, 4, 1023, 1024, 1025, 5000, 20001 };

#define LENGTHS		((int)(sizeof(lengths) / sizeof(lengths[0])))

/* 239.79.1.2 */
static const union ibv_gid group = {
	.raw = { [10] = 0xff, [11] = 0xff, 239, 79, 1, 2 },
};

/**
 * struct port - what the files say
 * @xmit_data: port_xmit_data, and so on
 */
struct port {
	int64_t xmit_data, rcv_data;
	int64_t xmit, rcv;
	int64_t unicast_xmit, unicast_rcv;
	int64_t multicast_xmit, multicast_rcv;
};

static int open_counters(const struct pair *pair, const struct pair_end *end)
{
	int dir;

	if (pair->wire == PAIR_LOOPBACK)
		return counters_open_folder(TOPO_LINK);
	if (end == &pair->a)
		return counters_open_folder(ENDS_LINK_A);
	if (ends_enter(ENDS_B))
		return -EPERM;
	dir = counters_open_folder(ENDS_LINK_B);
	return ends_enter(ENDS_A) ?: dir;
}

static void read_port(int dir, struct port *port)
{
	port->xmit_data = counters_get_file(dir, "port_xmit_data");
	port->rcv_data = counters_get_file(dir, "port_rcv_data");
	port->xmit = counters_get_file(dir, "port_xmit_packets");
	port->rcv = counters_get_file(dir, "port_rcv_packets");
	port->unicast_xmit = counters_get_file(dir, "unicast_xmit_packets");
	port->unicast_rcv = counters_get_file(dir, "unicast_rcv_packets");
	port->multicast_xmit = counters_get_file(dir, "multicast_xmit_packets");
	port->multicast_rcv = counters_get_file(dir, "multicast_rcv_packets");
}

/* How much it has grown since. */
static struct port grown(int dir, const struct port *since)
{
	struct port now;

	read_port(dir, &now);
	return (struct port) {
		.xmit_data = now.xmit_data - since->xmit_data,
		.rcv_data = now.rcv_data - since->rcv_data,
		.xmit = now.xmit - since->xmit,
		.rcv = now.rcv - since->rcv,
		.unicast_xmit = now.unicast_xmit - since->unicast_xmit,
		.unicast_rcv = now.unicast_rcv - since->unicast_rcv,
		.multicast_xmit = now.multicast_xmit - since->multicast_xmit,
		.multicast_rcv = now.multicast_rcv - since->multicast_rcv,
	};
}

/* Bytes and packets, expected. */
struct amount {
	int64_t bytes, packets;
};

/* A message of this length, its first packet with headers, and its last. */
static void add_message(struct amount *amount, uint32_t len, int first,
			int last)
{
	int64_t packets = len ? (len + MTU - 1) / MTU : 1;

	amount->packets += packets;
	amount->bytes += packets * BARE + (len + 3) / 4 * 4 + first + last;
}

/* One message after the other, each received before the next. */
static bool passes(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t len)
{
	bool receives = opcode == IBV_WR_SEND ||
			opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct pair_wr wr;
	struct ibv_wc wc;

	if (receives && pair_post_recv(&pair->b, 0, PAIR_BUFFER))
		return false;
	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, len);
	return !pair_post(&pair->a, &wr) &&
	       pair_wait_sent(&pair->a) == IBV_WC_SUCCESS &&
	       (!receives || (!pair_wait(pair->b.recv_cq, &wc) &&
			      wc.status == IBV_WC_SUCCESS));
}

static bool is_number(int dir, const char *name)
{
	int64_t value = counters_get_file(dir, name);

	if (value < 0)
		fprintf(stderr, "# %s: %ld\n", name, (long)value);
	return value >= 0;
}

TEST_F(pair, all_are_there)
{
	static const char *const names[] = {
		"VL15_dropped", "excessive_buffer_overrun_errors",
		"link_downed", "link_error_recovery",
		"local_link_integrity_errors", "multicast_rcv_packets",
		"multicast_xmit_packets", "port_rcv_constraint_errors",
		"port_rcv_data", "port_rcv_errors", "port_rcv_packets",
		"port_rcv_remote_physical_errors",
		"port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
		"port_xmit_data", "port_xmit_discards", "port_xmit_packets",
		"port_xmit_wait", "symbol_error", "unicast_rcv_packets",
		"unicast_xmit_packets",
	};
	int dir = open_counters(&self->pair, self->a);
	size_t i;

	ASSERT_LE(0, dir);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		EXPECT_TRUE(is_number(dir, names[i]));
	close(dir);
}

/* node_exporter opens each entry of the folder, and gives up at an error. */
TEST_F(pair, all_that_is_there_can_be_read)
{
	int dir = open_counters(&self->pair, self->b), files = 0;
	struct dirent *entry;
	DIR *list;

	ASSERT_LE(0, dir);
	list = fdopendir(dup(dir));
	ASSERT_NE(NULL, list);
	while ((entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		files++;
		EXPECT_TRUE(is_number(dir, entry->d_name));
	}
	EXPECT_LE(21, files);
	closedir(list);
	close(dir);
}

TEST_F(pair, uc_messages_are_counted_to_the_byte)
{
	struct pair_options options = { .type = IBV_QPT_UC };
	int a = open_counters(&self->pair, self->a);
	int b = open_counters(&self->pair, self->b);
	bool loops = self->pair.wire == PAIR_LOOPBACK;
	struct amount amount = {};
	struct port at_a, at_b;
	int i;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	read_port(a, &at_a);
	read_port(b, &at_b);
	for (i = 0; i < LENGTHS; i++) {
		ASSERT_TRUE(passes(&self->pair, IBV_WR_SEND, lengths[i]));
		add_message(&amount, lengths[i], 0, 0);
		ASSERT_TRUE(passes(&self->pair, IBV_WR_RDMA_WRITE_WITH_IMM,
				   lengths[i]));
		add_message(&amount, lengths[i], RETH, IMM);
	}
	at_a = grown(a, &at_a);
	at_b = grown(b, &at_b);
	EXPECT_EQ(amount.packets, at_a.xmit);
	EXPECT_EQ(amount.packets, at_a.unicast_xmit);
	EXPECT_EQ(amount.bytes / 4, at_a.xmit_data);
	EXPECT_EQ(amount.packets, at_b.rcv);
	EXPECT_EQ(amount.packets, at_b.unicast_rcv);
	EXPECT_EQ(amount.bytes / 4, at_b.rcv_data);
	/* Nobody answers. */
	EXPECT_EQ(loops ? amount.packets : 0, at_a.rcv);
	EXPECT_EQ(loops ? amount.packets : 0, at_b.xmit);
	EXPECT_EQ(loops ? amount.bytes / 4 : 0, at_a.rcv_data);
	EXPECT_EQ(loops ? amount.bytes / 4 : 0, at_b.xmit_data);
	EXPECT_EQ(0, at_a.multicast_xmit + at_b.multicast_rcv);
	close(a);
	close(b);
}

TEST_F(pair, datagrams_are_counted_to_the_byte)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	int a = open_counters(&self->pair, self->a);
	int b = open_counters(&self->pair, self->b);
	struct amount amount = {};
	struct port at_a, at_b;
	int i;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	read_port(a, &at_a);
	read_port(b, &at_b);
	for (i = 0; lengths[i] <= MTU; i++) {
		ASSERT_TRUE(passes(&self->pair, IBV_WR_SEND, lengths[i]));
		add_message(&amount, lengths[i], DETH, 0);
	}
	at_a = grown(a, &at_a);
	at_b = grown(b, &at_b);
	EXPECT_EQ(amount.packets, at_a.xmit);
	EXPECT_EQ(amount.bytes / 4, at_a.xmit_data);
	EXPECT_EQ(amount.packets, at_b.rcv);
	EXPECT_EQ(amount.packets, at_b.unicast_rcv);
	EXPECT_EQ(amount.bytes / 4, at_b.rcv_data);
	close(a);
	close(b);
}

/* What one end has sent, the other has received. */
static bool agree(const struct port *a, const struct port *b)
{
	return a->xmit == b->rcv && a->xmit_data == b->rcv_data &&
	       b->xmit == a->rcv && b->xmit_data == a->rcv_data;
}

/* Requests and responses of every kind, both of which a looped device sends itself. */
TEST_F(pair, both_ends_of_rc_agree)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct pair_options options = { .type = IBV_QPT_RC };
	int a = open_counters(&self->pair, self->a);
	int b = open_counters(&self->pair, self->b);
	struct port at_a, at_b, more_a, more_b;
	struct amount amount = {};
	int64_t least = 0;
	long end;
	int i, k;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	read_port(a, &at_a);
	read_port(b, &at_b);
	for (k = 0; k < 5; k++) {
		bool is_atomic = opcodes[k] == IBV_WR_ATOMIC_FETCH_AND_ADD;

		for (i = 0; i < LENGTHS; i++) {
			uint32_t len = is_atomic ? 8 : lengths[i];

			ASSERT_TRUE(passes(&self->pair, opcodes[k], len));
			if (opcodes[k] != IBV_WR_RDMA_READ && !is_atomic)
				add_message(&amount, len, 0, 0);
		}
	}
	least = amount.bytes / 4;
	end = topo_now_ms() + 20000;
	do {
		more_a = grown(a, &at_a);
		more_b = grown(b, &at_b);
	} while (!agree(&more_a, &more_b) && topo_now_ms() < end);
	EXPECT_EQ(more_a.xmit, more_b.rcv);
	EXPECT_EQ(more_a.xmit_data, more_b.rcv_data);
	EXPECT_EQ(more_b.xmit, more_a.rcv);
	EXPECT_EQ(more_b.xmit_data, more_a.rcv_data);
	EXPECT_LT(least, more_a.xmit_data);
	EXPECT_LE(least, more_b.rcv_data);
	close(a);
	close(b);
}

TEST_F(pair, are_sums_of_what_the_device_counts)
{
	struct pair_options options = { .type = IBV_QPT_UC };
	int a = open_counters(&self->pair, self->a);
	struct port port;

	ASSERT_LE(0, a);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_TRUE(passes(&self->pair, IBV_WR_SEND, 3000));
	counters_use(self->pair.wire == PAIR_LOOPBACK ? TOPO_LINK : ENDS_LINK_A);
	read_port(a, &port);
	EXPECT_EQ(counters_get("tx_packets") + counters_get("loop_packets"),
		  port.xmit);
	EXPECT_EQ((counters_get("tx_bytes") + counters_get("loop_bytes")) / 4,
		  port.xmit_data);
	EXPECT_EQ(counters_get("rx_packets"), port.rcv);
	EXPECT_EQ(counters_get("rx_bytes") / 4, port.rcv_data);
	EXPECT_EQ(counters_get("tx_multicast"), port.multicast_xmit);
	EXPECT_EQ(counters_get("rx_multicast"), port.multicast_rcv);
	close(a);
}

static int send_to_group(struct pair_end *end)
{
	struct pair_wr wr;
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VERBS_PORT,
		.grh = {
			.dgid = group,
			.sgid_index = end->set.gid_index,
			.hop_limit = 1,
		},
	};
	struct ibv_ah *ah = ibv_create_ah(end->set.pd, &attr);
	int ret;

	if (!ah)
		return errno;
	pair_wr_init(&wr, end, end, IBV_WR_SEND, 0, 100);
	wr.wr.wr.ud.ah = ah;
	wr.wr.wr.ud.remote_qpn = MULTICAST_QPN;
	ret = pair_post(end, &wr) ?: pair_wait_sent(end);
	return ibv_destroy_ah(ah) ?: ret;
}

TEST_F(pair, multicast_is_told_from_unicast)
{
	const char *link = self->pair.wire == PAIR_LOOPBACK ? TOPO_LINK :
							      ENDS_LINK_A;
	struct pair_options options = { .type = IBV_QPT_UD };
	int a = open_counters(&self->pair, self->a);
	int b = open_counters(&self->pair, self->b);
	struct port at_a, at_b;
	struct ibv_wc wc;
	int i;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, ibv_attach_mcast(self->b->qp, &group, 0));
	read_port(a, &at_a);
	read_port(b, &at_b);
	for (i = 0; i < 3; i++) {
		/* Packets that a rule looks at take another way. */
		if (i == 2)
			ASSERT_LT(0, rules_add(link, "tx op WRITE* drop"));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 2048));
		ASSERT_EQ(0, send_to_group(self->a));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	}
	ASSERT_TRUE(passes(&self->pair, IBV_WR_SEND, 100));
	at_a = grown(a, &at_a);
	at_b = grown(b, &at_b);
	EXPECT_EQ(4, at_a.xmit);
	EXPECT_EQ(3, at_a.multicast_xmit);
	EXPECT_EQ(1, at_a.unicast_xmit);
	EXPECT_EQ(4, at_b.rcv);
	EXPECT_EQ(3, at_b.multicast_rcv);
	EXPECT_EQ(1, at_b.unicast_rcv);
	EXPECT_EQ(0, rules_flush(link));
	ASSERT_EQ(0, ibv_detach_mcast(self->b->qp, &group, 0));
	close(a);
	close(b);
}

TEST_F(pair, what_cannot_leave_is_discarded)
{
	struct pair_options options = { .type = IBV_QPT_UC };
	int a = open_counters(&self->pair, self->a);
	struct port before, after;
	struct pair_wr wr;
	int64_t discards;

	if (self->pair.wire == PAIR_LOOPBACK)
		return;
	ASSERT_LE(0, a);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	discards = counters_get_file(a, "port_xmit_discards");
	read_port(a, &before);
	ASSERT_EQ(0, topo_run("nft 'table ip srt { chain c { type filter hook "
			      "output priority 0; udp dport 4791 drop; }; }'"));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 100);
	EXPECT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, topo_run("nft delete table ip srt"));
	EXPECT_EQ(discards + 1, counters_get_file(a, "port_xmit_discards"));
	after = grown(a, &before);
	EXPECT_EQ(1, after.xmit);
	close(a);
}

TEST_F(pair, going_down_is_counted)
{
	int a = open_counters(&self->pair, self->a);
	int64_t before;
	int i;

	if (self->pair.wire != PAIR_LOOPBACK)
		return;
	ASSERT_LE(0, a);
	before = counters_get_file(a, "link_downed");
	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, false));
		ASSERT_EQ(0, verbs_wait_port(self->a->set.ctx, IBV_PORT_DOWN,
					     20000));
		ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, true));
		ASSERT_EQ(0, verbs_wait_port(self->a->set.ctx, IBV_PORT_ACTIVE,
					     20000));
		EXPECT_EQ(before + i, counters_get_file(a, "link_downed"));
	}
	close(a);
}

TEST_HARNESS_MAIN
