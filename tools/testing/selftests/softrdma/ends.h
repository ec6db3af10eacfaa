/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer behind a wire, beside the link of topo.h: a pair of veth devices, the
 * other one in a namespace of its own, a link on each.
 */
#ifndef SRT_ENDS_H
#define SRT_ENDS_H

#define ENDS_LINK_A	"srta"
#define ENDS_LINK_B	"srtb"
#define ENDS_NETDEV_A	"srtv0"
#define ENDS_NETDEV_B	"srtv1"
#define ENDS_A4		"10.78.0.1"
#define ENDS_B4		"10.78.0.2"
#define ENDS_A6		"fd78::1"
#define ENDS_B6		"fd78::2"

/**
 * enum ends_side - the two namespaces
 * @ENDS_A: that of the program, with TOPO_LINK and ENDS_LINK_A
 * @ENDS_B: with ENDS_LINK_B
 */
enum ends_side {
	ENDS_A,
	ENDS_B,
};

/* After topo_setup(). 0 or -errno. */
int ends_setup(void);
void ends_teardown(void);

/* They know each other's MAC: nobody waits for an answer to ARP. 0 or -errno. */
int ends_introduce(void);

/*
 * Take the calling thread into a namespace. What it makes there, stays there:
 * an rdma_cm id, a socket. 0 or -errno.
 */
int ends_enter(enum ends_side side);

#endif
