/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two links on the two ends of a veth, each end in a namespace of its own, and
 * one process that holds both::
 *
 *   namespace A                                  namespace B
 *     sra0 10.77.1.1  <-- srta                     srb0 10.77.1.2  <-- srtb
 *       `------------------------ veth -------------------------'
 */
#ifndef SRT_TWIN_H
#define SRT_TWIN_H

#include "verbs.h"

#define TWIN_LINK_A	"srta"
#define TWIN_LINK_B	"srtb"
#define TWIN_NETDEV_A	"sra0"
#define TWIN_NETDEV_B	"srb0"
#define TWIN_IPV4_A	"10.77.1.1"
#define TWIN_IPV4_B	"10.77.1.2"
#define TWIN_MAC_A	"02:00:00:77:01:01"
#define TWIN_MAC_B	"02:00:00:77:01:02"

/* Room for a path MTU of 4096. */
#define TWIN_MTU	4200

enum twin_side { TWIN_A, TWIN_B };

/* Between whom the two ends of a connection are. */
enum twin_kind {
	TWIN_LOOPBACK,	/* both on the link of side A */
	TWIN_VETH,	/* one on each side */
};

/*
 * All of it. The caller's namespace is A when this returns. A link or netdev
 * that a test took away is made again by twin_remake().
 */
int twin_setup(void);
int twin_remake(void);
void twin_teardown(void);

/* The thread enters the namespace of a side. 0 or -errno. */
int twin_enter(enum twin_side side);

/* The namespace of side B ends, unless somebody else is in it. */
void twin_drop_b(void);

/*
 * The queueing discipline of both ends: arguments of netem, or NULL for none.
 */
int twin_netem(const char *args);

/* Two sets, each with a context of its own. 0 or -errno. */
int twin_open(struct verbs_set sets[2], enum twin_kind kind);
int twin_close(struct verbs_set sets[2]);

/**
 * struct twin_attr - how two QPs are connected
 * @mtu: path MTU
 * @timeout: of acknowledges, as in struct ibv_qp_attr
 * @retry_cnt: likewise
 * @rnr_retry: likewise
 * @min_rnr_timer: likewise
 * @rd_atomic: READs and atomics that may be outstanding, either way
 */
struct twin_attr {
	enum ibv_mtu mtu;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t rd_atomic;
};

/* What most tests want. */
#define TWIN_ATTR_DEFAULT ((struct twin_attr) {		\
	.mtu = IBV_MTU_1024, .timeout = 14,		\
	.retry_cnt = 7, .rnr_retry = 7,			\
	.min_rnr_timer = 1, .rd_atomic = 4,		\
})

/* One QP from RESET to RTS, towards @qpn of @peer. 0 or errno. */
int twin_connect_one(struct verbs_set *set, struct ibv_qp *qp,
		     const struct verbs_set *peer, uint32_t qpn,
		     const struct twin_attr *attr);

/* Both ways. 0 or errno. */
int twin_connect(struct verbs_set sets[2], struct ibv_qp *a, struct ibv_qp *b,
		 const struct twin_attr *attr);

/*
 * The seed of a test's random numbers: that of SRT_SEED, or of the clock. It
 * is for the test to print.
 */
uint32_t twin_seed(void);

/* xorshift: the next number; @state is not 0. */
static inline uint32_t twin_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* How much longer to test than usual: 1, or the number in SRT_SOAK. */
int twin_soak(void);

#endif
