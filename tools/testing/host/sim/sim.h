/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulator: two queue pairs, each with requester and responder, joined
 * by a network that loses, repeats, delays, overtakes and spoils packets.
 *
 *      program A                                     program B
 *         |                                             |
 *      requester A --- frames --->  net  ---> responder B -- memory B
 *      responder A <--- frames ---  net  <--- requester B
 *         |
 *      memory A
 *
 * The driver's part (memory, receive queue, timers) is modelled here; the
 * protocol core and the packet layer are the module's own. Time is virtual.
 * An oracle knows from the program what must happen, and looks at every
 * packet executed, every byte placed and every completion.
 */
#ifndef SIM_H
#define SIM_H

#include <linux/types.h>

#include "proto/packet.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/uc.h"
#include "rng.h"
#include "seen.h"

#define ARENA_SIZE	(1u << 20)	/* writable memory of a node, bytes */
#define PATTERN_SIZE	(1u << 20)	/* read-only memory, the same for all */
#define GUARD		16u		/* bytes around every buffer */
#define GUARD_BYTE	0xa5
#define MSGS_MAX	256		/* messages of one program */
#define WORDS_MAX	4		/* 64-bit words for atomics */
#define SGES_MAX	4
#define RING_MAX	64
#define FRAME_MAX	(SRDMA_HDR_MAX + SRDMA_MTU_MAX + SRDMA_ICRC_LEN)

/* Upper halves of the addresses a peer uses. */
#define VA_ARENA	0x100000000ull
#define VA_PATTERN	0x200000000ull
#define VA_WORDS	0x300000000ull
#define VA_SLOTS	0x400000000ull
#define RKEY_BASE	0x5000u		/* + number of the message */
#define RKEY_BAD	0xbadu

/* What is made to go wrong with one message. */
enum fault {
	FAULT_NONE,
	FAULT_SEND,		/* requester cannot read its memory */
	FAULT_PLACE,		/* requester cannot write a response */
	FAULT_ACCESS,		/* wrong rkey */
	FAULT_OP,		/* responder cannot execute it */
	FAULT_READ,		/* responder loses the memory of a READ */
	FAULT_SHORT,		/* receive buffer too short */
	FAULT_NR,
};

/**
 * struct piece - one element of a scatter/gather list
 * @off: where in arena or pattern, bytes
 * @len: bytes
 */
struct piece {
	u32 off;
	u32 len;
};

/**
 * struct list - a scatter/gather list
 * @n: pieces
 * @p: the pieces
 */
struct list {
	u32 n;
	struct piece p[SGES_MAX];
};

/**
 * struct entry - one work request of a program, and what became of it
 * @op: enum srdma_wr_opcode
 * @flags: SRDMA_WR_*
 * @fault: enum fault
 * @len: bytes of the message
 * @local: source (pattern) or, of READs, target (arena)
 * @remote: offset at the peer: arena (WRITE), pattern (READ), word, slot
 * @imm: immediate data or key to invalidate
 * @swap_add: atomic operand, or the value of an ATOMIC WRITE
 * @compare: atomic operand
 * @want: what the atomic must return
 * @wire: number among the messages that are sent
 * @recv: number among those that take a receive WQE
 * @done: a completion came
 * @executed: times the peer executed it to its end
 */
struct entry {
	u8 op;
	u8 flags;
	u8 fault;
	u32 len;
	struct list local;
	u32 remote;
	u32 imm;
	u64 swap_add;
	u64 compare;
	u64 want;
	u32 wire;
	u32 recv;
	bool done;
	u32 executed;
};

/**
 * struct rwqe - a receive work request
 * @buf: buffer in the arena
 * @len: its bytes
 * @entry: number of the peer's message that must arrive in it
 */
struct rwqe {
	struct list buf;
	u32 len;
	u32 entry;
};

/**
 * struct wqe - slot of the private send ring
 * @msg: the core's part
 * @entry: number of the message
 */
struct wqe {
	struct srdma_rc_msg msg;
	u32 entry;
};

/**
 * struct frame - a packet on its way
 * @next: in the inbox
 * @len: bytes of @data
 * @spoiled: a bit was changed
 * @pkt: what the parser made of it, and of those that were added to it
 * @payload: @pkt->payload_len bytes, once it has arrived
 * @data: BTH to ICRC
 */
struct frame {
	struct frame *next;
	u32 len;
	bool spoiled;
	struct srdma_pkt pkt;
	const u8 *payload;
	u8 data[FRAME_MAX];
};

/**
 * struct net_params - how bad the network is; chances are of 10000
 * @loss: a packet is lost
 * @train_loss: a whole burst is lost
 * @dup: it comes twice
 * @late: it is overtaken
 * @spoil: a bit is changed
 * @mark: a request is marked, of which its sender is notified at once
 * @join: a packet is taken together with those behind it that continue it
 * @delay_ns: time on the way
 * @jitter_ns: up to that much more
 * @late_ns: how late a late one is
 * @shuffle_ns: each burst takes up to that much more, and none waits for another
 * @ps_byte: picoseconds a byte takes on the wire
 * @queue_ns: what would wait for it longer than that is lost; 0: nothing
 */
struct net_params {
	u32 loss;
	u32 train_loss;
	u32 dup;
	u32 late;
	u32 spoil;
	u32 mark;
	u32 join;
	u32 delay_ns;
	u32 jitter_ns;
	u32 late_ns;
	u32 shuffle_ns;
	u32 ps_byte;
	u32 queue_ns;
};

/**
 * struct node_params - how one end is set up
 * @psn: first PSN it sends
 * @msn: MSN it has when it starts, for the wrap
 * @ring: slots of the send ring
 * @attr: requester parameters
 * @nres: READ and atomic resources of the responder
 * @min_rnr_timer: 5-bit code
 * @limit: most packets and bytes a burst may have
 * @one_host: what arrives may be a burst with its headers put together
 * @busy: chance that it cannot send right now
 * @run_delay_ns: from packet to engine, at most
 * @post_ns: between two posts, at most
 * @post_batch: work requests in one post, at most
 * @rq_ahead: receive WQEs kept posted
 * @rq_ns: between two posts of a receive WQE, at most
 * @credits: the responder tells its credits
 * @forgets: the responder answers a part of a READ as if that were the rest, and
 *	does not answer what lies in front of the last part that it was asked for,
 *	as rdma_rxe does
 * @holds: most packets that it holds back behind a hole
 * @refusals: so often, in either role, it gets no memory for what is noted about losses
 * @sqd_ns: when the send queue is drained for a while, 0 for never
 * @err_ns: when the QP is moved to error, 0 for never
 * @die_ns: when it stops answering, 0 for never
 */
struct node_params {
	u32 psn;
	u32 msn;
	u32 ring;
	struct srdma_rc_req_attr attr;
	u32 nres;
	u8 min_rnr_timer;
	struct srdma_burst_limit limit;
	bool one_host;
	u32 busy;
	u32 run_delay_ns;
	u32 post_ns;
	u32 post_batch;
	u32 rq_ahead;
	u32 rq_ns;
	bool credits;
	bool forgets;
	u32 holds;
	u32 refusals;
	u64 sqd_ns;
	u64 err_ns;
	u64 die_ns;
};

/**
 * struct params - everything a seed decides, but the programs
 * @seed: it
 * @uc: unreliable connection
 * @mtu: path MTU, bytes
 * @net: the network
 * @node: both ends
 */
struct params {
	u64 seed;
	bool uc;
	u32 mtu;
	struct net_params net;
	struct node_params node[2];
};

/**
 * struct node - one end
 * @id: 0 or 1
 * @p: its parameters
 * @peer: the other end
 * @req: requester
 * @resp: responder
 * @ureq: UC sender
 * @uresp: UC receiver
 * @ring: send ring
 * @res: the responder's resources
 * @req_mend: memory that the requester gets when it loses something
 * @resp_mend: and the responder
 * @denied: how often it was denied memory
 * @asked: with forgets: the last address that each was asked for again; 0: none
 * @arena: writable memory
 * @arena_used: bytes of it handed out
 * @words: memory of atomics, as it is
 * @slots: memory of ATOMIC WRITEs, as it is
 * @prog: program
 * @nprog: its length
 * @posted: entries of it posted
 * @post_waits: for room in the send ring
 * @completed: entries of it completed
 * @wire: entry of each message that is sent
 * @nwire: their number
 * @rq: receive WQEs in the order they will be posted
 * @nrq: their number
 * @rq_posted: posted so far
 * @rq_taken: taken so far
 * @rq_armed: one is going to be posted
 * @rq_held: a UC receive WQE is waiting for its message
 * @rq_completed: completed so far
 * @uc_in: a UC message has come up to @uc_psn, and goes on there
 * @uc_psn: see @uc_in
 * @exec: wire number of the message that comes next or is coming
 * @exec_off: bytes of it that have come, or of a READ have been asked for
 * @exec_parts: requests for READs, but the last one of each
 * @inbox: packets that came and were not looked at
 * @inbox_tail: where the next one is linked
 * @held: packets held back, in order
 * @nheld: number of them
 * @hold_at: when the responder's timer fires, 0 for not
 * @run_at: when the engines run next, 0 for not
 * @timer_at: when the timer fires, 0 for not
 * @link_free: when the wire is free
 * @last_arrival: of the packet before: a network keeps the order
 * @failed: a completion with an error came
 * @in_error: the QP is in the error state
 * @dead: does not answer any more
 * @sqd: draining; @sqd_fresh is the first message that may not begin
 * @sqd_fresh: see @sqd
 * @una_psn: oldest incomplete PSN when last looked at
 * @una_tx: times it was sent since, or since @nak_psn changed, probes aside
 * @una_missing: selective acknowledges since that report it missing
 * @una_naks: sequence NAKs of a peer that holds back what is behind it
 * @una_probes: probes since, likewise
 * @una_rnr: RNR NAKs since
 * @una_news: new data since, after each of which a timeout costs no retry
 * @refused: behind the message that the last RNR NAK was for, as long as that is
 *	not complete; else 0
 * @nak_psn: of the last sequence NAK that made it go back
 */
struct node {
	u32 id;
	const struct node_params *p;
	struct node *peer;

	struct srdma_rc_req req;
	struct srdma_rc_resp resp;
	struct srdma_uc_req ureq;
	struct srdma_uc_resp uresp;
	struct wqe ring[RING_MAX];
	struct srdma_rc_res res[16];
	struct srdma_rc_req_mend req_mend;
	struct srdma_rc_resp_mend resp_mend;
	u32 denied;
	u64 asked[16];

	u8 arena[ARENA_SIZE];
	u32 arena_used;
	u64 words[WORDS_MAX];
	u64 slots[WORDS_MAX];

	struct entry prog[MSGS_MAX];
	u32 nprog;
	u32 posted;
	bool post_waits;
	u32 completed;
	u32 wire[MSGS_MAX];
	u32 nwire;
	struct rwqe rq[MSGS_MAX];
	u32 nrq;
	u32 rq_posted;
	u32 rq_taken;
	bool rq_armed;
	bool rq_held;
	u32 rq_completed;
	bool uc_in;
	u32 uc_psn;
	u32 exec;
	u32 exec_off;
	u32 exec_parts;

	struct frame *inbox;
	struct frame **inbox_tail;
	struct frame *held;
	u32 nheld;
	u64 hold_at;
	u64 run_at;
	u64 timer_at;
	u64 link_free;
	u64 last_arrival;

	bool failed;
	bool in_error;
	bool dead;
	bool sqd;
	u32 sqd_fresh;

	u32 una_psn;
	u32 una_tx;
	u32 una_missing;
	u32 una_naks;
	u32 una_probes;
	u32 una_rnr;
	u32 una_news;
	u32 refused;
	u32 nak_psn;
};

/**
 * struct sim - one run
 * @p: its parameters
 * @rng: what happens on the way
 * @now: virtual time, ns
 * @node: both ends
 * @train_late: how much longer the burst takes that is being sent, ns
 * @packets: put on the wire
 * @again: of them, those of a requester that had been on it before
 * @on_wire: payload bytes of both ends' packets put on the wire
 * @payload: bytes of messages completed
 * @done_at: when the last of them was, ns
 * @events: handled
 * @seen: what the core decided
 * @failed: the oracle objected
 * @verbose: print a trace
 * @rough: all networks are bad, nothing else is, and nothing may fail
 */
struct sim {
	struct params p;
	struct rng rng;
	u64 now;
	struct node node[2];
	u64 train_late;
	u64 packets;
	u64 again;
	u64 on_wire;
	u64 payload;
	u64 done_at;
	u64 events;
	struct seen seen;
	bool failed;
	bool verbose;
	bool rough;
};

extern u8 sim_pattern[PATTERN_SIZE];

/* main.c: the oracle objects. */
void sim_fail(struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* main.c: one line of the trace. */
void sim_log(struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Traces are made only when somebody reads them. */
#define SIM_LOG(s, ...)							\
	do {								\
		if (unlikely((s)->verbose))				\
			sim_log(s, __VA_ARGS__);			\
	} while (0)

#define SIM_CHECK(s, cond, ...)						\
	do {								\
		if (unlikely(!(cond)))					\
			sim_fail(s, __VA_ARGS__);			\
	} while (0)

#endif
