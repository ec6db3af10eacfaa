// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the netlink family is sent by somebody who knows its form and means harm:
 * attributes of any kind, length and value, in any order, cut off anywhere. What is
 * refused changes nothing; what is taken is a rule that can be listed and deleted.
 */
#include "fixture.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <rdma/softrdma-netlink.h>

#include "rules.h"

#define ROUNDS	20000

/* Each comes and goes with its tracepoints, which takes milliseconds. */
#define LISTENERS	300

FIXTURE(fault_netlink)
{
	int fd;
	uint16_t family;
	uint32_t seed;
};

/**
 * struct message - a request that is being written
 * @nlh: its header
 * @genl: likewise
 * @bytes: attributes
 */
struct message {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	uint8_t bytes[4096];
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (uint64_t)(*seed >> 8) * below >> 24;
}

static void begin(struct message *m, uint16_t type, uint8_t cmd)
{
	memset(m, 0, sizeof(*m));
	m->nlh.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->nlh.nlmsg_type = type;
	m->nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	m->genl.cmd = cmd;
	m->genl.version = 1;
}

static struct nlattr *put(struct message *m, uint16_t type, const void *data,
			  uint16_t len)
{
	struct nlattr *attr = (void *)m + m->nlh.nlmsg_len;

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, data, len);
	m->nlh.nlmsg_len += NLA_ALIGN(attr->nla_len);
	return attr;
}

static void end_nest(struct message *m, struct nlattr *nest)
{
	nest->nla_len = (void *)m + m->nlh.nlmsg_len - (void *)nest;
}

/*
 * Sends it; the errno of the answer, 0 for the end of a dump, or -1. Other answers
 * are thrown away.
 */
static int send_and_hear(int fd, struct message *m)
{
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[16384];
	} answer;
	struct nlmsghdr *nlh;
	ssize_t n;

	if (send(fd, m, m->nlh.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		n = recv(fd, &answer, sizeof(answer), 0);
		if (n < 0)
			return -1;
		for (nlh = &answer.nlh; NLMSG_OK(nlh, n);
		     nlh = NLMSG_NEXT(nlh, n))
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(nlh);
	}
}

static uint16_t find_family(int fd)
{
	uint8_t answer[8192];
	struct message m;
	struct nlmsghdr *nlh = (void *)answer;
	struct nlattr *attr;
	ssize_t n;
	int left;

	begin(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	m.nlh.nlmsg_flags = NLM_F_REQUEST;
	put(&m, CTRL_ATTR_FAMILY_NAME, SRDMA_NL_FAMILY,
	    sizeof(SRDMA_NL_FAMILY));
	if (send(fd, &m, m.nlh.nlmsg_len, 0) < 0)
		return 0;
	n = recv(fd, answer, sizeof(answer), 0);
	if (n < 0 || !NLMSG_OK(nlh, n) || nlh->nlmsg_type != GENL_ID_CTRL)
		return 0;
	attr = NLMSG_DATA(nlh) + GENL_HDRLEN;
	left = nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	while (left >= NLA_HDRLEN) {
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(attr + 1);
		left -= NLA_ALIGN(attr->nla_len);
		attr = (void *)attr + NLA_ALIGN(attr->nla_len);
	}
	return 0;
}

FIXTURE_SETUP(fault_netlink)
{
	struct timeval soon = { .tv_sec = 10 };

	self->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ASSERT_LE(0, self->fd);
	setsockopt(self->fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	self->family = find_family(self->fd);
	ASSERT_NE(0, self->family);
	ASSERT_EQ(0, rules_flush(TOPO_LINK));
	self->seed = time(NULL);
	TH_LOG("seed %u", self->seed);
}

FIXTURE_TEARDOWN(fault_netlink)
{
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	close(self->fd);
}

/* An attribute of a rule: mostly of the right length, mostly small. */
static void put_any(struct message *m, uint32_t *seed)
{
	static const uint8_t len[] = {
		[SRDMA_NL_R_ID] = 4, [SRDMA_NL_R_POINT] = 1,
		[SRDMA_NL_R_ACTION] = 1, [SRDMA_NL_R_QPN] = 4,
		[SRDMA_NL_R_PEER] = 16, [SRDMA_NL_R_PID] = 4,
		[SRDMA_NL_R_OPS] = 32, [SRDMA_NL_R_PSN] = 4,
		[SRDMA_NL_R_PSN_OFFSET] = 4, [SRDMA_NL_R_AFTER] = 8,
		[SRDMA_NL_R_NTH] = 8, [SRDMA_NL_R_EVERY] = 8,
		[SRDMA_NL_R_TIMES] = 8, [SRDMA_NL_R_PROB] = 4,
		[SRDMA_NL_R_SEED] = 8, [SRDMA_NL_R_FIELD] = 1,
		[SRDMA_NL_R_VALUE] = 8, [SRDMA_NL_R_TIME] = 8,
		[SRDMA_NL_R_VERB] = 1,
	};
	uint32_t type = 1 + draw(seed, SRDMA_NL_R_MAX + 2), n, i;
	uint8_t data[64] = {};

	n = type < sizeof(len) ? len[type] : draw(seed, 9);
	if (!draw(seed, 12))
		n = draw(seed, 40);
	data[0] = draw(seed, draw(seed, 2) ? 6 : 64);
	if (!draw(seed, 4))
		for (i = 0; i < n; i++)
			data[i] = draw(seed, 256);
	/* Nothing is to happen at once: the link is needed. */
	if (type == SRDMA_NL_R_POINT)
		data[0] %= SRDMA_NL_POINT_NOW;
	put(m, type, data, n);
}

static void put_rule(struct message *m, uint32_t *seed)
{
	struct nlattr *nest = put(m, SRDMA_NL_A_RULE | NLA_F_NESTED, "", 0);
	uint8_t point = draw(seed, SRDMA_NL_POINT_NOW);
	uint8_t action = draw(seed, SRDMA_NL_ACT_NR);
	uint32_t n;

	if (draw(seed, 8))
		put(m, SRDMA_NL_R_POINT, &point, 1);
	if (draw(seed, 8))
		put(m, SRDMA_NL_R_ACTION, &action, 1);
	for (n = draw(seed, 6); n; n--)
		put_any(m, seed);
	end_nest(m, nest);
	/* A length that lies. */
	if (!draw(seed, 16))
		nest->nla_len = draw(seed, 200);
}

/* How many rules there are, by the tool. */
static int count_rules(void)
{
	static char said[1 << 20];
	int count = 0;
	char *at;

	if (rules_tool(said, sizeof(said), "fault list %s", TOPO_LINK))
		return -1;
	for (at = said; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

TEST_F(fault_netlink, anything_is_refused_or_is_a_rule)
{
	int i, err, taken = 0, refused = 0, full = 0;
	struct message m;

	for (i = 0; i < ROUNDS; i++) {
		begin(&m, self->family, SRDMA_NL_CMD_FAULT_ADD);
		if (draw(&self->seed, 32))
			put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
		put_rule(&m, &self->seed);
		if (!draw(&self->seed, 16))
			m.nlh.nlmsg_len -= draw(&self->seed,
					m.nlh.nlmsg_len - NLMSG_HDRLEN -
					GENL_HDRLEN + 1);
		err = send_and_hear(self->fd, &m);
		ASSERT_LE(0, err);
		taken += !err;
		refused += !!err;
		if (err == ENOSPC || taken == 200) {
			ASSERT_EQ(taken, count_rules());
			ASSERT_EQ(0, rules_flush(TOPO_LINK));
			ASSERT_EQ(0, count_rules());
			full++;
			taken = 0;
		}
	}
	EXPECT_EQ(taken, count_rules());
	EXPECT_LT(0, full);
	EXPECT_LT(ROUNDS / 4, refused);
	TH_LOG("%d refused, the link was full of rules %d times", refused, full);
}

/* "rx qp 1 drop" */
static int add_rule(int fd, uint16_t family)
{
	uint8_t point = SRDMA_NL_POINT_RX, action = SRDMA_NL_ACT_DROP;
	uint32_t qpn = 1;
	struct nlattr *nest;
	struct message m;

	begin(&m, family, SRDMA_NL_CMD_FAULT_ADD);
	put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
	nest = put(&m, SRDMA_NL_A_RULE | NLA_F_NESTED, "", 0);
	put(&m, SRDMA_NL_R_POINT, &point, sizeof(point));
	put(&m, SRDMA_NL_R_ACTION, &action, sizeof(action));
	put(&m, SRDMA_NL_R_QPN, &qpn, sizeof(qpn));
	end_nest(&m, nest);
	return send_and_hear(fd, &m);
}

TEST_F(fault_netlink, a_link_has_256_rules_at_most)
{
	int i;

	for (i = 0; i < 256; i++)
		ASSERT_EQ(0, add_rule(self->fd, self->family));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "256 rules already", "rx drop"));
	EXPECT_EQ(256, count_rules());
}

/* Errors are told to everybody, so everybody may ask, in whatever way. */
TEST_F(fault_netlink, errors_can_be_asked_for_in_any_way)
{
	static const char *const links[] = { TOPO_LINK, "srt", "", "srt0x" };
	struct message m;
	const char *link;
	int i, err, told = 0;

	for (i = 0; i < ROUNDS / 4; i++) {
		begin(&m, self->family, SRDMA_NL_CMD_ERROR_GET);
		m.nlh.nlmsg_flags |= NLM_F_DUMP;
		link = links[draw(&self->seed, 4)];
		if (draw(&self->seed, 4))
			put(&m, SRDMA_NL_A_LINK, link, strlen(link) + 1);
		if (!draw(&self->seed, 4))
			put_rule(&m, &self->seed);
		if (!draw(&self->seed, 8))
			put_any(&m, &self->seed);
		err = send_and_hear(self->fd, &m);
		ASSERT_LE(0, err);
		told += !err;
	}
	EXPECT_LT(ROUNDS / 32, told);
	EXPECT_GT(ROUNDS / 4, told);
}

/* Other requests, and commands that there are not. */
TEST_F(fault_netlink, other_requests_do_no_harm)
{
	struct message m;
	int i;

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx qp 1 drop"));
	for (i = 0; i < ROUNDS / 4; i++) {
		begin(&m, self->family, SRDMA_NL_CMD_MONITOR_READY +
					draw(&self->seed, 250));
		put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
		put_rule(&m, &self->seed);
		ASSERT_LT(0, send_and_hear(self->fd, &m));
	}
	EXPECT_EQ(1, count_rules());
}

/* ---- sockets that are told of events ---- */

/* What a socket wants to be told of: mostly what is right. */
static void put_wish(struct message *m, uint32_t *seed)
{
	struct nlattr *nest = put(m, SRDMA_NL_A_MONITOR | NLA_F_NESTED, "", 0);
	uint32_t n, value;

	for (n = draw(seed, 4); n; n--) {
		value = draw(seed, draw(seed, 2) ? 64 : 1 << 24);
		put(m, 1 + draw(seed, SRDMA_NL_M_MAX + 1), &value,
		    draw(seed, 8) ? 4 : draw(seed, 5));
	}
	end_nest(m, nest);
	if (!draw(seed, 16))
		nest->nla_len = draw(seed, 60);
}

static int ask(int fd, uint16_t family, uint8_t cmd, uint16_t attr,
	       uint32_t value)
{
	struct nlattr *nest;
	struct message m;

	begin(&m, family, cmd);
	if (attr) {
		nest = put(&m, SRDMA_NL_A_MONITOR | NLA_F_NESTED, "", 0);
		put(&m, attr, &value, sizeof(value));
		end_nest(&m, nest);
	}
	return send_and_hear(fd, &m);
}

static int open_socket(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
}

/* With any attributes, also from a socket that an administrator has opened. */
static int try_without_capability(int fd, uint16_t family, uint32_t *seed)
{
	static const uint8_t cmds[] = {
		SRDMA_NL_CMD_FAULT_ADD, SRDMA_NL_CMD_FAULT_DEL,
		SRDMA_NL_CMD_MONITOR_START, SRDMA_NL_CMD_MONITOR_GET,
	};
	int i, fds[] = { fd, open_socket() };
	struct message m;

	if (setgid(65534) || setuid(65534))
		return 1;
	for (i = 0; i < ROUNDS / 10; i++) {
		begin(&m, family, cmds[draw(seed, sizeof(cmds))]);
		if (draw(seed, 4))
			put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
		if (draw(seed, 2))
			put_rule(&m, seed);
		if (draw(seed, 2))
			put_wish(&m, seed);
		if (send_and_hear(fds[draw(seed, 2)], &m) != EPERM)
			return 2;
	}
	return 0;
}

TEST_F(fault_netlink, without_the_capability_nothing_is_done)
{
	int status;

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx qp 1 drop"));
	ASSERT_EQ(0, ask(self->fd, self->family, SRDMA_NL_CMD_MONITOR_START, 0,
			 0));
	if (!fork())
		_exit(try_without_capability(self->fd, self->family,
					     &self->seed));
	ASSERT_LE(0, wait(&status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, count_rules());
	EXPECT_EQ(0, ask(self->fd, self->family, SRDMA_NL_CMD_MONITOR_GET, 0,
			 0));
}


TEST_F(fault_netlink, any_wish_is_refused_or_is_a_listener)
{
	int i, fd, err, taken = 0, refused = 0;
	struct message m;

	for (i = 0; i < LISTENERS; i++) {
		fd = open_socket();
		ASSERT_LE(0, fd);
		begin(&m, self->family, SRDMA_NL_CMD_MONITOR_START);
		if (draw(&self->seed, 4))
			put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
		put_wish(&m, &self->seed);
		if (!draw(&self->seed, 16))
			m.nlh.nlmsg_len -= draw(&self->seed,
					m.nlh.nlmsg_len - NLMSG_HDRLEN -
					GENL_HDRLEN + 1);
		err = send_and_hear(fd, &m);
		ASSERT_LE(0, err);
		taken += !err;
		refused += !!err;
		/* It is heard if it listens, and only then. */
		ASSERT_EQ(err ? ENOTCONN : 0,
			  ask(fd, self->family, SRDMA_NL_CMD_MONITOR_GET, 0, 0));
		close(fd);
	}
	EXPECT_LT(LISTENERS / 10, taken);
	EXPECT_LT(LISTENERS / 10, refused);
	TH_LOG("%d taken, %d refused", taken, refused);
}

/* Is there word, within the time, that the socket may ask again? */
static bool is_ready(int fd, int timeout_ms)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	struct message m;

	if (poll(&in, 1, timeout_ms) != 1 || recv(fd, &m, sizeof(m), 0) < 0)
		return false;
	return m.genl.cmd == SRDMA_NL_CMD_MONITOR_READY;
}

TEST_F(fault_netlink, who_found_none_is_told_of_the_next)
{
	int i;

	ASSERT_EQ(0, ask(self->fd, self->family, SRDMA_NL_CMD_MONITOR_START,
			 SRDMA_NL_M_KINDS, 1 << SRDMA_NL_EV_PORT));
	ASSERT_EQ(0, ask(self->fd, self->family, SRDMA_NL_CMD_MONITOR_GET, 0,
			 0));
	EXPECT_FALSE(is_ready(self->fd, 0));
	ASSERT_EQ(0, rules_add(TOPO_LINK, "port-down 1ms"));
	EXPECT_TRUE(is_ready(self->fd, 10000));
	/* Once: it has not asked since. */
	EXPECT_FALSE(is_ready(self->fd, 200));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ask(self->fd, self->family,
				 SRDMA_NL_CMD_MONITOR_GET, 0, 0));
}

/* Whatever it asks to hear: else it would wait for ever. */
TEST_F(fault_netlink, who_names_a_link_is_told_of_its_end)
{
	uint32_t kinds = 1 << SRDMA_NL_EV_PORT;
	struct nlattr *nest;
	struct message m;
	int i;

	begin(&m, self->family, SRDMA_NL_CMD_MONITOR_START);
	put(&m, SRDMA_NL_A_LINK, TOPO_LINK, sizeof(TOPO_LINK));
	nest = put(&m, SRDMA_NL_A_MONITOR | NLA_F_NESTED, "", 0);
	put(&m, SRDMA_NL_M_KINDS, &kinds, sizeof(kinds));
	end_nest(&m, nest);
	ASSERT_EQ(0, send_and_hear(self->fd, &m));
	/* That it is there, and then nothing. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ask(self->fd, self->family,
				 SRDMA_NL_CMD_MONITOR_GET, 0, 0));
	EXPECT_FALSE(is_ready(self->fd, 0));
	ASSERT_EQ(0, rules_add(TOPO_LINK, "remove"));
	EXPECT_TRUE(is_ready(self->fd, 10000));
	ASSERT_EQ(0, topo_wait_link(TOPO_LINK, false, 10000));
	ASSERT_EQ(0, topo_link_add(TOPO_LINK, TOPO_NETDEV));
}

TEST_F(fault_netlink, sockets_listen_once_and_16_of_them)
{
	int fd[17], i;

	for (i = 0; i < 17; i++)
		fd[i] = open_socket();
	ASSERT_EQ(ENOTCONN, ask(fd[0], self->family, SRDMA_NL_CMD_MONITOR_GET,
				0, 0));
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, ask(fd[i], self->family,
				 SRDMA_NL_CMD_MONITOR_START, 0, 0));
	EXPECT_EQ(EBUSY, ask(fd[0], self->family, SRDMA_NL_CMD_MONITOR_START,
			     0, 0));
	EXPECT_EQ(ENOSPC, ask(fd[16], self->family, SRDMA_NL_CMD_MONITOR_START,
			      0, 0));
	/* Nor does it hear what others are told. */
	EXPECT_EQ(ENOTCONN, ask(fd[16], self->family, SRDMA_NL_CMD_MONITOR_GET,
				0, 0));
	close(fd[3]);
	EXPECT_EQ(0, ask(fd[16], self->family, SRDMA_NL_CMD_MONITOR_START, 0,
			 0));
	for (i = 0; i < 17; i++)
		if (i != 3)
			close(fd[i]);
}

TEST_F(fault_netlink, numbers_out_of_range_are_no_wish)
{
	static const struct {
		uint16_t attr;
		uint32_t value;
	} wrong[] = {
		{ SRDMA_NL_M_ROOM, SRDMA_NL_ROOM_MIN - 1 },
		{ SRDMA_NL_M_ROOM, SRDMA_NL_ROOM_MAX + 1 },
		{ SRDMA_NL_M_KINDS, 1u << SRDMA_NL_EV_NR },
		{ SRDMA_NL_M_QPN, 0 },
		{ SRDMA_NL_M_QPN, 1 << 24 },
		/* A QP, and no link. */
		{ SRDMA_NL_M_QPN, 17 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		EXPECT_NE(0, ask(self->fd, self->family,
				 SRDMA_NL_CMD_MONITOR_START, wrong[i].attr,
				 wrong[i].value)) {
			TH_LOG("%u", i);
		}
	EXPECT_EQ(0, ask(self->fd, self->family, SRDMA_NL_CMD_MONITOR_START,
			 SRDMA_NL_M_ROOM, SRDMA_NL_ROOM_MAX));
}

TEST_HARNESS_MAIN
