// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The short way past the IP stack, while routes change on another CPU. A packet that
 * the stack lets in by a route that is gone by then opens it to nobody.
 */
#include "peer_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRACEFS	"/sys/kernel/tracing"

#define ROUNDS	150
#define ROWS	9	/* as many changes are made at once */

/**
 * struct route_change - a route of IPv6, of one address, comes or goes
 * @head: of the message
 * @route: what kind it is
 * @to: where it leads
 * @by: the interface
 */
struct route_change {
	struct nlmsghdr head;
	struct rtmsg route;
	struct {
		struct rtattr head;
		uint8_t raw[16];
	} to;
	struct {
		struct rtattr head;
		uint32_t ifindex;
	} by;
};

/* That of our address, or (@other) of one that nobody asks for. */
static struct route_change route_change(bool add, int other)
{
	struct route_change change = {
		.head = {
			.nlmsg_len = sizeof(change),
			.nlmsg_type = add ? RTM_NEWROUTE : RTM_DELROUTE,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
				       (add ? NLM_F_CREATE : 0),
		},
		.route = {
			.rtm_family = AF_INET6,
			.rtm_dst_len = 128,
			.rtm_table = other ? RT_TABLE_MAIN : RT_TABLE_LOCAL,
			.rtm_protocol = RTPROT_KERNEL,
			.rtm_type = other ? RTN_UNICAST : RTN_LOCAL,
		},
		.to.head = { sizeof(change.to), RTA_DST },
		.by.head = { sizeof(change.by), RTA_OIF },
		.by.ifindex = if_nametoindex(WIRE_NETDEV),
	};

	inet_pton(AF_INET6, other ? "fd99::" : TOPO_IPV6, change.to.raw);
	change.to.raw[15] += other;
	return change;
}

/* One right after the other: 0 or -errno. */
static int change_routes(int fd, const struct route_change *changes, int count)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	int ret = 0;

	if (send(fd, changes, count * sizeof(*changes), 0) < 0)
		return -errno;
	while (count--) {
		if (recv(fd, &answer, sizeof(answer), 0) < 0)
			return -errno;
		ret = ret ?: answer.error.error;
	}
	return ret;
}

/*
 * Routing and the hook behind it are so near to each other that nothing comes between
 * them. With a stack trace there, which takes its time, things do.
 */
static int slow_down(void)
{
	return topo_run("{ [ -e " TRACEFS "/trace ] || "
			"mount -t tracefs none " TRACEFS "; } && "
			"[ -e " TRACEFS "/kprobe_events ] && cd " TRACEFS " && "
			"echo p:srt ip6_input >kprobe_events && "
			"cd events/kprobes/srt && "
			"echo stacktrace >trigger && echo 1 >enable");
}

static int slow_down_no_more(void)
{
	return topo_run("cd " TRACEFS "/events/kprobes/srt && "
			"echo 0 >enable && echo '!stacktrace' >trigger && "
			"cd " TRACEFS " && echo >kprobe_events && echo >trace");
}

/**
 * struct flow - one packet, sent all the time
 * @frame: packet
 * @sent: how often
 * @end: no more
 */
struct flow {
	struct wire_frame frame;
	atomic_uint sent;
	atomic_bool end;
};

static void *keep_sending(void *p)
{
	struct flow *flow = p;

	while (!atomic_load(&flow->end)) {
		wire_inject(&flow->frame, false);
		atomic_fetch_add(&flow->sent, 1);
	}
	return NULL;
}

/* So many have been sent since, from beginning to end. */
static void let_flow(struct flow *flow, unsigned int count)
{
	unsigned int begin = atomic_load(&flow->sent);

	while (atomic_load(&flow->sent) - begin < count + 1)
		sched_yield();
}

/*
 * Each of the others has the next packet ask the stack, so that one may be on its way
 * when ours goes: none comes from then on.
 */
static bool ends_with_its_route(struct flow *flow, int fd)
{
	struct route_change go[ROWS], back[ROWS];
	int64_t heard;
	bool ended;
	int i;

	for (i = 0; i < ROWS; i++) {
		go[i] = route_change(i + 1 < ROWS, (i + 1) % ROWS);
		back[i] = route_change(!i, i);
	}
	if (change_routes(fd, go, ROWS))
		return false;
	let_flow(flow, 1);
	heard = counters_get("rx_packets");
	let_flow(flow, 2);
	ended = heard >= 0 && counters_get("rx_packets") == heard;
	if (change_routes(fd, back, ROWS))
		return false;
	let_flow(flow, 2);
	return ended;
}

TEST_F(peer, a_route_that_goes_while_a_packet_passes_ends_the_short_way)
{
	static const uint8_t reth[16];
	const struct wire_packet packet = {
		.v6 = true, .opcode = RC_WRITE_ONLY,
		.qpn = self->peer.qp->qp_num, .psn = PSN,
		.ext = reth, .ext_len = sizeof(reth),
	};
	int64_t direct = counters_get("rx_direct");
	static struct flow flow;
	int i, fd, bad = 0;
	pthread_t thread;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, peer_reconnect_v6(&self->peer));
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ASSERT_LE(0, fd);
	wire_build(&flow.frame, &packet);
	if (slow_down())
		SKIP(return, "no CONFIG_KPROBE_EVENTS");
	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_sending, &flow));
	for (i = 0; i < ROUNDS; i++)
		bad += !ends_with_its_route(&flow, fd);
	atomic_store(&flow.end, true);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, slow_down_no_more());
	EXPECT_EQ(0, bad);
	/* It was taken, now and then. */
	EXPECT_LT(direct, counters_get("rx_direct"));
	close(fd);
}

TEST_HARNESS_MAIN
