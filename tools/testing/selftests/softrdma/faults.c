// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults by rule (Documentation/softrdma/guide/faults.rst): which of what passes is
 * meant, what may be asked for and by whom, and that whatever is lost or missing
 * now and then, a reliable connection delivers each message once and in order.
 */
#include "fixture.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/wait.h>

#include "counters.h"
#include "duo.h"
#include "knobs.h"
#include "nldev.h"
#include "rules.h"

/* An end is at path MTU 1024: so many packets are a message of this length. */
#define MTU		1024
#define PACKETS(n)	((n) * MTU)

FIXTURE(faults)
{
	struct verbs_set set;
	struct duo duo;
};

FIXTURE_SETUP(faults)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, rules_flush(TOPO_LINK));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(faults)
{
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* Messages of many lengths, each checked. 0, or what went wrong. */
static int exchange(struct duo *duo, int messages)
{
	struct duo_end *tx = &duo->end[0], *rx = &duo->end[1];
	struct ibv_wc wc;
	int i, ret;

	for (i = 0; i < messages; i++) {
		uint32_t len = 1 + i * 37 % 9000;

		memset(tx->buf, i, len);
		memset(rx->buf, ~i, len);
		ret = duo_recv(rx, i, 0, 16384) ?: duo_send(tx, i, 0, len, 0);
		if (ret)
			return ret;
		if (duo_poll(rx->recv_cq, &wc, 1) != 1 || wc.status ||
		    wc.wr_id != i || wc.byte_len != len)
			return -1;
		if (duo_poll(tx->send_cq, &wc, 1) != 1 || wc.status ||
		    wc.wr_id != i)
			return -2;
		if (memcmp(tx->buf, rx->buf, len))
			return -3;
	}
	return 0;
}

/* One WRITE; its status, or -1. */
static int write_status(struct duo *duo, uint32_t len)
{
	struct ibv_wc wc;

	if (duo_write(&duo->end[0], &duo->end[1], 1, len,
		      duo->end[1].mr->rkey))
		return -1;
	return duo_poll(duo->end[0].send_cq, &wc, 1) == 1 ? (int)wc.status : -1;
}

/* Its exit status, or -1. */
static int wait_for_child(void)
{
	int status;

	if (wait(&status) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* ---- by chance ---- */

TEST_F(faults, what_is_lost_is_sent_again)
{
	int64_t before = counters_get("rx_drop_injected");
	int id;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	id = rules_add(TOPO_LINK, "rx prob 3%% seed 1 drop");
	ASSERT_LT(0, id);
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_LT(0, rules_hits(TOPO_LINK, id));
	EXPECT_EQ(rules_hits(TOPO_LINK, id),
		  counters_get("rx_drop_injected") - before);
}

TEST_F(faults, what_is_lost_before_it_leaves_is_sent_again)
{
	int64_t before = counters_get("tx_drop_injected");
	int id;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	id = rules_add(TOPO_LINK, "tx prob 0.03 seed 7 drop");
	ASSERT_LT(0, id);
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_LT(0, rules_hits(TOPO_LINK, id));
	EXPECT_EQ(rules_hits(TOPO_LINK, id),
		  counters_get("tx_drop_injected") - before);
}

TEST_F(faults, want_of_memory_is_a_loss)
{
	int64_t before = counters_get("timer_retry") +
			 counters_get("timer_probe");
	int id;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	id = rules_add(TOPO_LINK, "prob 5%% no-memory");
	ASSERT_LT(0, id);
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_LT(0, rules_hits(TOPO_LINK, id));
	EXPECT_LT(before, counters_get("timer_retry") +
			  counters_get("timer_probe"));
}

TEST_F(faults, want_of_a_route_is_a_loss)
{
	int64_t before = counters_get("tx_no_route");
	int id;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	id = rules_add(TOPO_LINK, "prob 5%% no-route");
	ASSERT_LT(0, id);
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_LT(0, rules_hits(TOPO_LINK, id));
	EXPECT_LT(before, counters_get("tx_no_route"));
}

/* Always: nothing is there any more when the call returns, but it comes. */
TEST_F(faults, softirq_does_what_the_caller_did_not)
{
	struct ibv_wc wc;

	if (!knob_exists("defer"))
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, knob_turn("defer", true));
	EXPECT_EQ(0, exchange(&self->duo, 300));
	EXPECT_EQ(0, knob_turn("defer", false));
	EXPECT_EQ(0, duo_recv(&self->duo.end[1], 1, 0, 64));
	EXPECT_EQ(0, duo_send(&self->duo.end[0], 1, 0, 64, 0));
	EXPECT_EQ(1, duo_poll(self->duo.end[0].send_cq, &wc, 1));
}

/* ---- which of them ---- */

/* Adds a rule, writes 8 packets twice, and says how often it has hit. */
static long hits_of(struct duo *duo, const char *words)
{
	int id = rules_add(TOPO_LINK, "%s", words);
	long hits;

	if (id <= 0 || write_status(duo, PACKETS(8)) ||
	    write_status(duo, PACKETS(8)))
		return -1;
	hits = rules_hits(TOPO_LINK, id);
	return rules_flush(TOPO_LINK) ? -1 : hits;
}

/* Marked packets are not lost: each is seen once. */
TEST_F(faults, the_ones_that_are_counted_out_are_meant)
{
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(16, hits_of(&self->duo, "rx op WRITE* ce"));
	EXPECT_EQ(12, hits_of(&self->duo, "rx op WRITE_MIDDLE ce"));
	EXPECT_EQ(2, hits_of(&self->duo, "rx op write_last ce"));
	EXPECT_EQ(1, hits_of(&self->duo, "rx op WRITE* nth 3 ce"));
	EXPECT_EQ(5, hits_of(&self->duo, "rx op WRITE* every 3 ce"));
	EXPECT_EQ(4, hits_of(&self->duo, "rx op WRITE* after 12 ce"));
	EXPECT_EQ(1, hits_of(&self->duo, "rx op WRITE* after 12 nth 4 ce"));
	EXPECT_EQ(0, hits_of(&self->duo, "rx op WRITE* after 12 nth 5 ce"));
	EXPECT_EQ(2, hits_of(&self->duo, "rx op WRITE* times 2 ce"));
	EXPECT_EQ(16, hits_of(&self->duo, "tx op WRITE* ce"));
	EXPECT_EQ(0, hits_of(&self->duo, "rx op SEND* ce"));
	EXPECT_EQ(0, hits_of(&self->duo, "rx op READ_RESPONSE* ce"));
}

TEST_F(faults, whose_they_are_is_asked)
{
	struct duo_end *end = self->duo.end;
	char words[128];

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	snprintf(words, sizeof(words), "rx qp %u op WRITE* ce",
		 end[1].qp->qp_num);
	EXPECT_EQ(16, hits_of(&self->duo, words));
	snprintf(words, sizeof(words), "rx qp %u op WRITE* ce",
		 end[0].qp->qp_num);
	EXPECT_EQ(0, hits_of(&self->duo, words));
	snprintf(words, sizeof(words), "tx qp %u op WRITE* ce",
		 end[0].qp->qp_num);
	EXPECT_EQ(16, hits_of(&self->duo, words));
	snprintf(words, sizeof(words), "rx pid %d op WRITE* ce", getpid());
	EXPECT_EQ(16, hits_of(&self->duo, words));
	EXPECT_EQ(0, hits_of(&self->duo, "rx pid 1 op WRITE* ce"));
	EXPECT_EQ(16, hits_of(&self->duo, "rx peer " TOPO_IPV4 " op WRITE* ce"));
	EXPECT_EQ(0, hits_of(&self->duo, "rx peer 10.1.2.3 op WRITE* ce"));
}

/* The first PSN is what the QP was told; a PSN by itself is that number. */
TEST_F(faults, a_psn_is_one_packet)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	char words[128];
	int id;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, ibv_query_qp(self->duo.end[0].qp, &attr, IBV_QP_SQ_PSN,
				  &init));
	id = rules_add(TOPO_LINK, "rx op WRITE* psn +5 ce");
	ASSERT_LT(0, id);
	snprintf(words, sizeof(words), "tx op WRITE* psn %u ce",
		 (attr.sq_psn + 11) & 0xffffff);
	EXPECT_EQ(1, hits_of(&self->duo, words));
	/* The flush of the other took it along. */
	EXPECT_EQ(-1, rules_hits(TOPO_LINK, id));
	EXPECT_EQ(0, hits_of(&self->duo, "rx op WRITE* psn +5 ce"));
	EXPECT_EQ(1, hits_of(&self->duo, "rx op WRITE* psn +34 ce"));
}

/* The first rule that hits has the packet; the next does not see it. */
TEST_F(faults, one_packet_has_one_fault)
{
	int first, second;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	first = rules_add(TOPO_LINK, "rx op WRITE* nth 2 ce");
	second = rules_add(TOPO_LINK, "rx op WRITE* ce");
	EXPECT_EQ(0, write_status(&self->duo, PACKETS(8)));
	EXPECT_EQ(1, rules_hits(TOPO_LINK, first));
	EXPECT_EQ(8, rules_seen(TOPO_LINK, first));
	EXPECT_EQ(7, rules_seen(TOPO_LINK, second));
}

/* The same seed, the same fate: one packet after the other, 100 times. */
TEST_F(faults, the_same_rules_make_the_same_events)
{
	struct duo_end *end = self->duo.end;
	uint8_t first[64] = {}, fate[64];
	int run, i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (run = 0; run < 100; run++) {
		struct ibv_wc wc;

		ASSERT_LT(0, rules_add(TOPO_LINK,
				"rx op WRITE_ONLY prob 0.5 seed 42 corrupt payload"));
		for (i = 0; i < 64; i++) {
			memset(end[0].buf, 0x5a, 8);
			ASSERT_EQ(0, duo_write(&end[0], &end[1], i, 8,
					       end[1].mr->rkey));
			ASSERT_EQ(1, duo_poll(end[0].send_cq, &wc, 1));
			ASSERT_EQ(0, wc.status);
			fate[i] = end[1].buf[0] != 0x5a;
		}
		ASSERT_EQ(0, rules_flush(TOPO_LINK));
		if (!run)
			memcpy(first, fate, sizeof(fate));
		ASSERT_EQ(0, memcmp(first, fate, sizeof(fate)));
	}
	for (i = run = 0; i < 64; i++)
		run += first[i];
	EXPECT_LT(16, run);
	EXPECT_GT(48, run);
}

/* ---- asking ---- */

TEST_F(faults, rules_are_listed_in_the_words_that_made_them)
{
	static const char * const words[] = {
		"tx qp 17 op SEND_FIRST,SEND_MIDDLE after 1 nth 2 drop",
		"rx peer 10.0.0.1 psn 5 every 3 times 4 duplicate",
		"rx peer fd00::1 psn +5 delay 10ms",
		"rx prob 0.25 seed 9 reorder 3",
		"tx corrupt icrc",
		"tx corrupt header rkey 7",
		"tx corrupt payload 0",
		"rx truncate 4",
		"rx answer nak access",
		"rx answer rnr 12",
		"rx answer nothing",
		"wr op WRITE status LOC_PROT_ERR",
		"verb create_qp errno ENOMEM",
		"tx port-down 1500ms",
	};
	char said[16384], want[256];
	int i, id;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		id = rules_add(TOPO_LINK, "%s", words[i]);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, rules_tool(said, sizeof(said), "fault list %s",
					TOPO_LINK));
		snprintf(want, sizeof(want), "link %s id %d %s seen 0 hits 0\n",
			 TOPO_LINK, id, words[i]);
		EXPECT_NE(NULL, strstr(said, want)) {
			TH_LOG("%s is not in %s", want, said);
		}
	}
	EXPECT_EQ(0, rules_tool(said, sizeof(said), "fault del %s %d",
				TOPO_LINK, id));
	EXPECT_EQ(1, rules_tool(said, sizeof(said), "fault del %s %d",
				TOPO_LINK, id));
	EXPECT_NE(NULL, strstr(said, "no rule of that number"));
	EXPECT_EQ(0, rules_tool(said, sizeof(said), "-j fault list"));
	EXPECT_EQ('[', said[0]);
	EXPECT_NE(NULL, strstr(said, "\"verb\":\"create_qp\""));
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, rules_tool(said, sizeof(said), "fault list"));
	EXPECT_STREQ("", said);
}

TEST_F(faults, what_makes_no_sense_is_refused_with_a_reason)
{
	EXPECT_TRUE(rules_refused("nosuch", "no softrdma link", "rx drop"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "cannot be done there",
				  "tx answer rnr 3"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "cannot be done there",
				  "wr drop"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "out of range",
				  "rx answer rnr 32"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "out of range",
				  "wr status 0"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "more than 10 s",
				  "rx delay 11s"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "no time is no end",
				  "now port-down 0s"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "within a day",
				  "now port-down 90000s"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "which QP", "now qp-fatal"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "no QP of that number",
				  "now qp 0xfffff0 qp-fatal"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "neither waits nor chooses",
				  "now pid 1 port-down"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "neither waits nor chooses",
				  "now prob 0.5 port-down"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "neither waits nor chooses",
				  "now after 1 port-down"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "only packets have a PSN",
				  "wr psn 3 status FATAL_ERR"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "one PSN is enough",
				  "rx psn 3 psn +3 drop"));
	EXPECT_TRUE(rules_refused(TOPO_LINK, "no such process",
				  "rx pid 4000000 drop"));
}

TEST_F(faults, words_that_are_not_understood_are_status_2)
{
	char said[4096];

	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "neither", "rx explode"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "what is to go wrong",
					 "rx"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "is none of them",
					 "rx op JUMP drop"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "is no chance",
					 "rx prob 2 drop"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "is no field",
					 "rx corrupt header colour"));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "fault make"));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "fault del %s",
				TOPO_LINK));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "errors %s qp none",
				TOPO_LINK));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "monitor %s for 3",
				TOPO_LINK));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "defaults"));
}

/* By the tool itself, which has so much room for a request and no more. */
TEST_F(faults, what_is_said_twice_or_is_too_long_is_refused)
{
	char said[1024];
	int id;

	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "once is enough",
					 "rx qp 1 qp 2 drop"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "once is enough",
					 "rx $(yes 'nth 1' | head -n 3000) drop"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "one place",
					 "rx tx drop"));
	EXPECT_TRUE(rules_not_understood(TOPO_LINK, "a time is expected",
					 "rx delay 1e300s"));
	EXPECT_EQ(1, rules_tool(said, sizeof(said),
				"fault list $(printf %%09000d 0)"));
	EXPECT_NE(NULL, strstr(said, "no link has a name"));

	id = rules_add(TOPO_LINK, "rx op CNP drop");
	ASSERT_LT(0, id);
	/* The lower half of it is the rule's number. */
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "fault del %s %llu",
				TOPO_LINK, (1ull << 32) + id));
	EXPECT_EQ(0, rules_tool(said, sizeof(said), "fault del %s %d",
				TOPO_LINK, id));
}

/* To the RoCE port of our address, from a socket like any other. */
static int send_datagrams(int count, size_t len)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(4791),
	};
	uint8_t *bytes = calloc(1, len);
	int sk = socket(AF_INET, SOCK_DGRAM, 0);
	int sent = 0;

	inet_pton(AF_INET, TOPO_IPV4, &to.sin_addr);
	while (bytes && sent < count &&
	       sendto(sk, bytes, len, 0, (void *)&to, sizeof(to)) == len)
		sent++;
	close(sk);
	free(bytes);
	return sent;
}

/* What a rule delays need not be a packet of ours: 16 MB of them are enough. */
TEST_F(faults, what_waits_has_a_bound)
{
	int64_t goes_on = counters_get("rx_drop_unknown_qp") + 600 -
			  (16 << 20) / 60000;
	int looks;

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op SEND_FIRST delay 10s"));
	ASSERT_EQ(600, send_datagrams(600, 60000));
	/* No QP has this number: who does not wait is found to be nobody's. */
	for (looks = 0; looks < 50 && counters_get("rx_drop_unknown_qp") < goes_on;
	     looks++)
		usleep(100000);
	EXPECT_LE(goes_on, counters_get("rx_drop_unknown_qp"));
}

/* Neither to make them nor to see them, in any user namespace of theirs. */
TEST_F(faults, who_is_no_administrator_may_not)
{
	char said[1024];

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx qp 1 drop"));
	if (!fork()) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		if (rules_tool(said, sizeof(said), "fault list") != 1 ||
		    !strstr(said, "not permitted"))
			_exit(2);
		if (!rules_refused(TOPO_LINK, "not permitted", "rx drop"))
			_exit(3);
		_exit(rules_flush(TOPO_LINK) == 1 ? 0 : 4);
	}
	EXPECT_EQ(0, wait_for_child());
}

/* A link belongs to the namespace of its interface. */
TEST_F(faults, links_of_other_namespaces_are_not_seen)
{
	char said[1024];

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx qp 1 drop"));
	if (!fork()) {
		if (unshare(CLONE_NEWNET))
			_exit(1);
		if (rules_tool(said, sizeof(said), "fault list") || *said)
			_exit(2);
		_exit(rules_refused(TOPO_LINK, "no softrdma link", "rx drop") ?
		      0 : 3);
	}
	EXPECT_EQ(0, wait_for_child());
}

TEST_HARNESS_MAIN
