// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames that are wrong, with ICRCs that are right, to a host that works: each
 * opcode in each short length with each padding, headers of nothing but chance,
 * and such as look as if they were for the connections that are at work. Those
 * must not notice, no memory may change but what was given away, and
 * connections can be made afterwards.
 *
 *	namespace A				namespace B
 *	live connections  <-- srta --- veth --- srtb -->  their other ends
 *	victims, QP 1     <------------ veth -----------  packet socket: frames
 *
 * SRT_SEED repeats a run's frames, SRT_SOAK=1 sends twenty times as many.
 */
#include "twin_fixture.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <sys/socket.h>

#include "cm.h"
#include "counters.h"
#include "pump.h"
#include "topo.h"
#include "wire.h"

#define BATCH		256
#define BODY_MAX	80
#define PSN		0x123456	/* of every QP: verbs_attr() */
#define NOBODY		0xabcde0	/* no QP of B */
#define STRANGER	77		/* last byte of an address of nobody */
#define GSI_QKEY	0x80010000u
#define MAD_LEN		256
#define CONNECTIONS	2

/* Frames of each kind, besides the sweep over all opcodes and lengths. */
#define RANDOM_FRAMES	32768
#define LIVE_FRAMES	16384

/* ---- victims: QPs that frames may do to what they like ---- */

#define VICTIMS		6
#define GIVEN		65536	/* bytes that frames may write to */
#define AROUND		65536	/* and as many on each side that they may not */
#define CANARY		0x5a
#define RECVS		4

static const enum ibv_qp_type victim_types[VICTIMS] = {
	IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UC, IBV_QPT_UD,
};

/**
 * struct victims - some QPs, and memory that is theirs
 * @sets: contexts; the first one is used
 * @qp: themselves
 * @mem: the memory, with canaries on both sides
 * @mr: what is between the canaries
 */
struct victims {
	struct verbs_set sets[2];
	struct ibv_qp *qp[VICTIMS];
	uint8_t *mem;
	struct ibv_mr *mr;
};

static int victims_open(struct victims *v)
{
	int i;

	if (twin_open(v->sets, TWIN_LOOPBACK))
		return ENODEV;
	v->mem = aligned_alloc(4096, GIVEN + 2 * AROUND);
	if (!v->mem)
		return ENOMEM;
	memset(v->mem, CANARY, GIVEN + 2 * AROUND);
	v->mr = ibv_reg_mr(v->sets[0].pd, v->mem + AROUND, GIVEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	for (i = 0; v->mr && i < VICTIMS; i++) {
		v->qp[i] = verbs_qp(&v->sets[0], victim_types[i]);
		if (!v->qp[i])
			return errno;
	}
	return v->mr ? 0 : errno;
}

static int victims_close(struct victims *v)
{
	int i, ret = 0;

	for (i = 0; i < VICTIMS && !ret; i++)
		ret = ibv_destroy_qp(v->qp[i]);
	ret = ret ?: ibv_dereg_mr(v->mr);
	free(v->mem);
	return ret ?: twin_close(v->sets);
}

/* Something to receive into, and something that waits for an answer. */
static int victim_post(struct victims *v, struct ibv_qp *qp)
{
	struct ibv_sge sge = {
		(uintptr_t)v->mr->addr, GIVEN, v->mr->lkey
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = 4096, .wr.rdma.rkey = 1,
	};
	int i, ret = 0;

	for (i = 0; i < RECVS && !ret; i++)
		ret = ibv_post_recv(qp, &recv, &bad_recv);
	if (ret || qp->qp_type != IBV_QPT_RC)
		return ret;
	sge.length = 3000;
	ret = ibv_post_send(qp, &wr, &bad);
	wr.opcode = IBV_WR_SEND;
	return ret ?: ibv_post_send(qp, &wr, &bad);
}

/* All of them as if new, towards a QP that is not there. */
static int victims_renew(struct victims *v, const struct verbs_set *peer)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	struct ibv_wc wc[32];
	int i, ret;

	attr.mtu = IBV_MTU_256;
	for (i = 0; i < VICTIMS; i++) {
		ret = twin_connect_one(&v->sets[0], v->qp[i], peer, NOBODY + i,
				       &attr) ?: victim_post(v, v->qp[i]);
		if (ret)
			return ret;
	}
	while (ibv_poll_cq(v->sets[0].cq, 32, wc) > 0)
		;
	return 0;
}

static bool victims_kept_to_theirs(const struct victims *v)
{
	return cm_is_all(v->mem, AROUND, CANARY) &&
	       cm_is_all(v->mem + AROUND + GIVEN, AROUND, CANARY);
}

/* ---- frames ---- */

/**
 * struct gun - what sends frames
 * @sock: packet socket in B, bound to its interface
 * @random: state of the generator
 * @blank: a frame from B to A
 * @frame: those to send next
 * @count: how many of them
 * @sent: how many went
 * @sure: of those, how many must be dropped, whoever they are for
 */
struct gun {
	int sock;
	uint32_t random;
	struct wire_frame blank;
	struct wire_frame frame[BATCH];
	unsigned int count;
	unsigned int sent;
	unsigned int sure;
};

static int gun_open(struct gun *g, uint32_t seed)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	struct wire_packet packet = {};
	uint8_t *bytes = g->blank.bytes;

	g->random = seed;
	wire_build(&g->blank, &packet);
	memcpy(bytes, ether_aton(TWIN_MAC_A), 6);
	memcpy(bytes + 6, ether_aton(TWIN_MAC_B), 6);
	inet_pton(AF_INET, TWIN_IPV4_B, bytes + WIRE_IP + 12);
	inet_pton(AF_INET, TWIN_IPV4_A, bytes + WIRE_IP + 16);

	if (twin_enter(TWIN_B))
		return errno;
	/* No protocol: it sends and hears nothing. */
	g->sock = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	to.sll_ifindex = if_nametoindex(TWIN_NETDEV_B);
	if (g->sock < 0 || bind(g->sock, (void *)&to, sizeof(to)))
		return errno;
	return -twin_enter(TWIN_A);
}

static bool gun_fire(struct gun *g)
{
	static struct mmsghdr msg[BATCH];
	static struct iovec iov[BATCH];
	unsigned int i;
	int done;

	for (i = 0; i < g->count; i++) {
		iov[i].iov_base = g->frame[i].bytes;
		iov[i].iov_len = g->frame[i].len;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	for (i = 0; i < g->count; i += done) {
		done = sendmmsg(g->sock, msg + i, g->count - i, 0);
		if (done <= 0)
			return false;
	}
	g->sent += g->count;
	g->count = 0;
	return true;
}

static uint32_t chance(struct gun *g, uint32_t among)
{
	return twin_random(&g->random) % among;
}

static void fill_with_chance(struct gun *g, uint8_t *p, size_t len)
{
	uint32_t word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = twin_random(&g->random);
		memcpy(p + i, &word, len - i < 4 ? len - i : 4);
	}
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

/* Opcodes of the InfiniBand specification, section 9.2.1, and annex A19. */
static bool is_defined(uint8_t opcode)
{
	switch (opcode) {
	case 0x00 ... 0x14:
	case 0x16 ... 0x17:
	case 0x1c ... 0x1d:
	case 0x20 ... 0x2b:
	case 0x64 ... 0x65:
	case 0x81:
		return true;
	default:
		return false;
	}
}

/**
 * struct aim - what a frame is to be
 * @opcode: of the BTH
 * @qpn: destination
 * @psn: PSN
 * @len: bytes between BTH and ICRC
 * @pad: pad count
 * @key: to write there at the beginning, where an rkey or a Q_Key would be
 * @va: likewise
 */
struct aim {
	uint8_t opcode;
	uint32_t qpn;
	uint32_t psn;
	size_t len;
	uint8_t pad;
	uint32_t key;
	uint64_t va;
};

/* The frame is not sealed: the caller may go on to spoil it. */
static struct wire_frame *gun_load(struct gun *g, const struct aim *aim)
{
	struct wire_frame *frame = &g->frame[g->count++];
	uint8_t *bth = frame->bytes + WIRE_BTH;

	memcpy(frame->bytes, g->blank.bytes, WIRE_BTH + 12);
	frame->v6 = false;
	frame->len = WIRE_BTH + 12 + aim->len + 4;
	bth[0] = aim->opcode;
	bth[1] = chance(g, 4) << 6 | aim->pad << 4;
	put32(bth + 4, aim->qpn);
	put32(bth + 8, (aim->psn & 0xffffff) | chance(g, 2) << 31);
	fill_with_chance(g, bth + 12, aim->len);
	if (aim->key && aim->opcode >> 5 == 3 && aim->len >= 4) {
		put32(bth + 12, aim->key);
	} else if (aim->key && aim->len >= 16) {
		put32(bth + 12, aim->va >> 32);
		put32(bth + 16, aim->va);
		put32(bth + 20, aim->key);
		/* Now and then as long as it should be. */
		if (chance(g, 2))
			put32(bth + 24, aim->len - 16 - aim->pad);
		else if (chance(g, 2))
			put32(bth + 24, chance(g, 2 * GIVEN));
	}
	g->sure += aim->len & 3 || !is_defined(aim->opcode);
	return frame;
}

/* At a victim whose type has the opcode, mostly; and as if it were its peer. */
static void aim_at_victim(struct gun *g, struct aim *aim,
			  const struct victims *v)
{
	static const int first[8] = { 0, 3, 3, 5, 0, 0, 0, 0 };
	static const int count[8] = { 3, 2, 2, 1, 6, 6, 6, 6 };
	int type = aim->opcode >> 5;
	int which = first[type] + chance(g, count[type]);

	if (!chance(g, 8))
		which = chance(g, VICTIMS);
	aim->qpn = v->qp[which]->qp_num;
	aim->psn = chance(g, 8) ? PSN + chance(g, 8) : twin_random(&g->random);
	aim->key = chance(g, 4) ? v->mr->rkey : 0;
	aim->va = (uintptr_t)v->mr->addr + chance(g, GIVEN);
	if (chance(g, 2))
		aim->va &= ~7ull;
	if (type != 3)
		return;
	aim->key = VERBS_QKEY;
	if (!chance(g, 3)) {
		aim->qpn = 1;
		aim->key = GSI_QKEY;
	}
	if (!chance(g, 8))
		aim->key ^= 1 << chance(g, 31);
}

/* ---- three kinds of frames ---- */

typedef void (*gun_kind)(struct gun *g, const struct victims *v,
			 const struct pump *pump, uint32_t number);

#define SWEEP_FRAMES	(256 * (BODY_MAX + 1) * 4)

static void load_of_sweep(struct gun *g, const struct victims *v,
			  const struct pump *pump, uint32_t number)
{
	struct aim aim = {
		.pad = number % 4,
		.opcode = number / 4 % 256,
		.len = number / 1024 % (BODY_MAX + 1),
	};

	aim_at_victim(g, &aim, v);
	wire_seal(gun_load(g, &aim));
}

/* Such as chance alone would hardly ever find: parts of messages, requests. */
static const struct {
	uint8_t opcode;
	uint16_t len;
} exact[] = {
	{ 0x00, 256 }, { 0x01, 256 }, { 0x06, 272 }, { 0x07, 256 },
	{ 0x0c, 16 }, { 0x0d, 260 }, { 0x0e, 256 }, { 0x10, 4 }, { 0x11, 4 },
	{ 0x12, 12 }, { 0x13, 28 }, { 0x14, 28 }, { 0x1c, 20 }, { 0x1d, 24 },
	{ 0x20, 256 }, { 0x21, 256 }, { 0x26, 272 }, { 0x27, 256 },
	{ 0x81, 16 },
};

#define EXACT		(sizeof(exact) / sizeof(exact[0]))

/* One of these, as often as not. */
static void aim_exactly(struct gun *g, struct aim *aim)
{
	uint32_t pick = chance(g, 2 * EXACT);

	if (pick >= EXACT)
		return;
	aim->opcode = exact[pick].opcode;
	aim->len = exact[pick].len;
	aim->pad = 0;
}

/* Where headers are what they like, from the one of IP on. */
static void load_of_chance(struct gun *g, const struct victims *v,
			   const struct pump *pump, uint32_t number)
{
	struct aim aim = {
		.opcode = chance(g, 256),
		.len = 4 * chance(g, 80),
		.pad = chance(g, 4),
	};
	bool is_mad = !chance(g, 4);
	uint32_t sure = g->sure;
	struct wire_frame *frame;
	uint8_t *bth;

	if (is_mad) {
		aim.opcode = 0x64;
		aim.len = 8 + MAD_LEN;
	} else {
		aim_exactly(g, &aim);
	}
	aim_at_victim(g, &aim, v);
	frame = gun_load(g, &aim);
	g->sure = sure;
	bth = frame->bytes + WIRE_BTH;
	/* Base version 1: RDMA core complains about each that has another. */
	if (is_mad)
		bth[12 + 8] = 1;
	switch (chance(g, 4)) {
	case 0:
		fill_with_chance(g, bth, 12);
		wire_seal(frame);
		break;
	case 1:
		bth[1 + chance(g, 3)] = chance(g, 256);
		wire_seal(frame);
		break;
	case 2:
		/* Behind the lengths and versions of IP; and those of UDP. */
		frame->bytes[WIRE_IP + 4 + chance(g, 24)] ^= 1 << chance(g, 8);
		wire_seal_sums(frame);
		break;
	default:
		wire_seal(frame);
	}
}

/*
 * At the live connections: from somebody else, of another transport, cut or
 * with opcodes that are none, or of a time long past.
 */
static void load_at_live(struct gun *g, const struct victims *v,
			 const struct pump *pump, uint32_t number)
{
	struct aim aim = {
		.opcode = chance(g, 256),
		.qpn = pump->flow[2 * chance(g, CONNECTIONS)].qp->qp_num,
		.psn = PSN + chance(g, 65536),
		.len = 4 * chance(g, BODY_MAX / 4),
		.pad = chance(g, 4),
		.key = pump->flow[1].far_key,
		.va = (uintptr_t)pump->flow[1].far,
	};
	struct wire_frame *frame;

	switch (number % 5) {
	case 0:
		aim.len = chance(g, 2) ? aim.len | 1 : aim.len | 2;
		break;
	case 1:
		while (is_defined(aim.opcode))
			aim.opcode = chance(g, 256);
		break;
	case 2:
		aim.opcode = chance(g, 2) ? 0x20 + chance(g, 12) : 0x64;
		break;
	case 3:
		aim.psn -= 0x400000;
		/* fall through */
	case 4:
		aim_exactly(g, &aim);
		break;
	}
	frame = gun_load(g, &aim);
	if (number % 5 == 4)
		frame->bytes[WIRE_IP + 15] = STRANGER;
	wire_seal(frame);
}

/* ---- the test ---- */

/**
 * struct live - connections at work, in a thread
 * @pump: what they do
 * @stop: when it is time to end
 * @ok: all went well
 */
struct live {
	struct pump pump;
	bool stop;
	bool ok;
};

static void *work(void *arg)
{
	struct live *live = arg;

	do {
		live->ok = pump_run(&live->pump, 200);
	} while (live->ok && !__atomic_load_n(&live->stop, __ATOMIC_RELAXED));
	return NULL;
}

FIXTURE(fuzz)
{
	struct verbs_set sets[2];
	uint32_t seed;
};

FIXTURE_SETUP(fuzz)
{
	self->seed = twin_seed();
	TH_LOG("seed %u", self->seed);
	ASSERT_EQ(0, twin_open(self->sets, TWIN_VETH));
	counters_use(TWIN_LINK_A);
}

FIXTURE_TEARDOWN(fuzz)
{
	EXPECT_EQ(0, twin_close(self->sets));
}

static uint64_t dropped(void)
{
	static struct counters now;
	uint64_t sum = 0;
	int i;

	counters_read(&now);
	for (i = 0; i < now.count; i++)
		if (!strncmp(now.name[i], "rx_drop_", 8))
			sum += now.value[i];
	return sum;
}

/* Frames of one kind, with new victims for each batch. */
static bool shoot(struct gun *g, gun_kind load, uint32_t frames,
		  struct victims *v, const struct live *live,
		  const struct verbs_set *peer)
{
	uint32_t number;

	for (number = 0; number < frames; number++) {
		if (!g->count && victims_renew(v, peer))
			return false;
		load(g, v, &live->pump, number);
		if ((g->count == BATCH || number == frames - 1) && !gun_fire(g))
			return false;
	}
	return true;
}

/* That the frames got as far as they should is what these say. */
static const char * const reached[] = {
	"rx_drop_short", "rx_drop_unaligned", "rx_drop_version",
	"rx_drop_opcode", "rx_drop_pad", "rx_drop_length", "rx_drop_unknown_qp",
	"rx_drop_source", "rx_drop_transport", "rx_drop_pkey",
	"rx_drop_malformed", "rx_drop_state",
	"req_send", "req_write", "req_read", "req_atomic", "req_invalid",
	"req_duplicate", "req_out_of_sequence", "req_drop_old",
	"resp_nak_fatal", "resp_drop_ghost", "resp_drop_kind",
	"uc_send", "uc_write", "uc_drop_lost", "uc_drop_length",
	"ud_received", "ud_drop_length", "ud_drop_qkey",
};

#define REACHED		(sizeof(reached) / sizeof(reached[0]))

/* The first of them that has not been counted since, or NULL. */
static const char *not_reached(const int64_t before[REACHED])
{
	size_t i;

	for (i = 0; i < REACHED; i++)
		if (counters_get(reached[i]) <= before[i])
			return reached[i];
	return NULL;
}

TEST_F_TIMEOUT(fuzz, malformed_frames_harm_nobody, 600)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	struct cm_config config = { .server = TWIN_IPV4_A };
	uint32_t times = twin_soak(), i;
	uint64_t drops = dropped();
	struct cm_pair pair = {};
	static struct victims v;
	static struct live live;
	static struct gun gun;
	long start = topo_now_ms();
	int64_t before[REACHED];
	const char *missed;
	pthread_t thread;

	for (i = 0; i < REACHED; i++)
		before[i] = counters_get(reached[i]);
	ASSERT_EQ(0, pump_init(&live.pump, self->sets, CONNECTIONS, &attr,
			       self->seed));
	ASSERT_EQ(0, victims_open(&v));
	ASSERT_EQ(0, gun_open(&gun, self->seed));
	ASSERT_EQ(0, pthread_create(&thread, NULL, work, &live));

	for (i = 0; i < times; i++) {
		EXPECT_TRUE(shoot(&gun, load_of_sweep, SWEEP_FRAMES, &v, &live,
				  &self->sets[1]));
		EXPECT_TRUE(shoot(&gun, load_of_chance, RANDOM_FRAMES, &v,
				  &live, &self->sets[1]));
		EXPECT_TRUE(shoot(&gun, load_at_live, LIVE_FRAMES, &v, &live,
				  &self->sets[1]));
	}
	__atomic_store_n(&live.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	TH_LOG("%u frames, %u requests in %ld ms", gun.sent, live.pump.done,
	       topo_now_ms() - start);
	EXPECT_TRUE(live.ok) {
		TH_LOG("%s", live.pump.failed);
	}
	EXPECT_LT(100, live.pump.done);
	EXPECT_TRUE(victims_kept_to_theirs(&v));

	/* None got lost on the way, and they were what they were to be. */
	EXPECT_LE(gun.sure, dropped() - drops);
	missed = not_reached(before);
	EXPECT_EQ(NULL, missed) {
		TH_LOG("%s", missed ? missed : "");
	}
	/* QP 1 is well. */
	EXPECT_EQ(0, cm_open(&pair, &config));
	EXPECT_EQ(0, cm_close(&pair));

	close(gun.sock);
	pump_destroy(&live.pump);
	EXPECT_EQ(0, victims_close(&v));
}

TEST_HARNESS_MAIN
