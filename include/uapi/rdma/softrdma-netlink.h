/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The generic netlink family "softrdma", by which the tool of that name makes
 * faults and shows what happens. Documentation/netlink/specs/softrdma.yaml
 * describes it.
 *
 * All of it needs CAP_NET_ADMIN in the user namespace that owns the network
 * namespace of the socket, but for the errors of one's own processes; and finds the
 * links of that namespace.
 */
#ifndef SOFTRDMA_NETLINK_USER_H
#define SOFTRDMA_NETLINK_USER_H

#define SRDMA_NL_FAMILY		"softrdma"
#define SRDMA_NL_VERSION	1

/**
 * enum srdma_nl_cmd - requests
 * @SRDMA_NL_CMD_UNSPEC: none
 * @SRDMA_NL_CMD_FAULT_ADD: SRDMA_NL_A_LINK, SRDMA_NL_A_RULE; answers with the
 *	rule's number
 * @SRDMA_NL_CMD_FAULT_DEL: SRDMA_NL_A_LINK, and SRDMA_NL_A_RULE with the
 *	number of the rule; without one, all rules of the link
 * @SRDMA_NL_CMD_FAULT_GET: dump; SRDMA_NL_A_LINK, or all links
 * @SRDMA_NL_CMD_ERROR_GET: dump; SRDMA_NL_A_LINK, or all links: the errors of the
 *	user who asks, or with CAP_NET_ADMIN all
 * @SRDMA_NL_CMD_MONITOR_START: keep events for this socket from now on, until it
 *	is closed; SRDMA_NL_A_LINK, or all links, and SRDMA_NL_A_MONITOR
 * @SRDMA_NL_CMD_MONITOR_GET: answers with the oldest of them, as many as go into
 *	a message, SRDMA_NL_A_EVENT each; with none, SRDMA_NL_CMD_MONITOR_READY
 *	follows when there is one
 * @SRDMA_NL_CMD_MONITOR_READY: no request: the socket that found no event may
 *	ask again
 */
enum srdma_nl_cmd {
	SRDMA_NL_CMD_UNSPEC,
	SRDMA_NL_CMD_FAULT_ADD,
	SRDMA_NL_CMD_FAULT_DEL,
	SRDMA_NL_CMD_FAULT_GET,
	SRDMA_NL_CMD_ERROR_GET,
	SRDMA_NL_CMD_MONITOR_START,
	SRDMA_NL_CMD_MONITOR_GET,
	SRDMA_NL_CMD_MONITOR_READY,
};

/**
 * enum srdma_nl_attr - what requests and answers carry
 * @SRDMA_NL_A_UNSPEC: none
 * @SRDMA_NL_A_LINK: string, the name of a link
 * @SRDMA_NL_A_RULE: nest of enum srdma_nl_rule_attr
 * @SRDMA_NL_A_ERROR: nest of enum srdma_err_attr (softrdma-errors.h)
 * @SRDMA_NL_A_MONITOR: nest of enum srdma_nl_monitor_attr
 * @SRDMA_NL_A_EVENT: nest of enum srdma_nl_event_attr; any number of them
 */
enum srdma_nl_attr {
	SRDMA_NL_A_UNSPEC,
	SRDMA_NL_A_LINK,
	SRDMA_NL_A_RULE,
	SRDMA_NL_A_ERROR,
	SRDMA_NL_A_MONITOR,
	SRDMA_NL_A_EVENT,
};

#define SRDMA_NL_A_MAX		SRDMA_NL_A_EVENT

/**
 * enum srdma_nl_rule_attr - a rule
 * @SRDMA_NL_R_UNSPEC: none
 * @SRDMA_NL_R_PAD: before numbers of 64 bits
 * @SRDMA_NL_R_ID: u32, number of the rule
 * @SRDMA_NL_R_POINT: u8, enum srdma_nl_point: where it looks
 * @SRDMA_NL_R_ACTION: u8, enum srdma_nl_action: what it does
 * @SRDMA_NL_R_QPN: u32, of this QP only
 * @SRDMA_NL_R_PEER: 16 bytes, of this peer only; IPv4 mapped into IPv6
 * @SRDMA_NL_R_PID: u32, of QPs that this process has made only
 * @SRDMA_NL_R_OPS: 32 bytes, a bit for each opcode that is meant: of the BTH
 *	at SRDMA_NL_POINT_TX and _RX, of work requests at SRDMA_NL_POINT_WR
 * @SRDMA_NL_R_PSN: u32, packets with this PSN only
 * @SRDMA_NL_R_PSN_OFFSET: u32, the same, counted from the first that the QP was
 *	told to use
 * @SRDMA_NL_R_AFTER: u64, so many that match are left alone
 * @SRDMA_NL_R_NTH: u64, only the one of this number behind those, from 1
 * @SRDMA_NL_R_EVERY: u64, every one of so many
 * @SRDMA_NL_R_TIMES: u64, so often at most
 * @SRDMA_NL_R_PROB: u32, chance in 10^9
 * @SRDMA_NL_R_SEED: u64, of that chance
 * @SRDMA_NL_R_FIELD: u8, enum srdma_nl_field
 * @SRDMA_NL_R_VALUE: u64, of the action; see there
 * @SRDMA_NL_R_TIME: u64, ns, likewise
 * @SRDMA_NL_R_VERB: u8, enum srdma_nl_verb
 * @SRDMA_NL_R_SEEN: u64, how many have matched
 * @SRDMA_NL_R_HITS: u64, to how many it was done
 */
enum srdma_nl_rule_attr {
	SRDMA_NL_R_UNSPEC,
	SRDMA_NL_R_PAD,
	SRDMA_NL_R_ID,
	SRDMA_NL_R_POINT,
	SRDMA_NL_R_ACTION,
	SRDMA_NL_R_QPN,
	SRDMA_NL_R_PEER,
	SRDMA_NL_R_PID,
	SRDMA_NL_R_OPS,
	SRDMA_NL_R_PSN,
	SRDMA_NL_R_PSN_OFFSET,
	SRDMA_NL_R_AFTER,
	SRDMA_NL_R_NTH,
	SRDMA_NL_R_EVERY,
	SRDMA_NL_R_TIMES,
	SRDMA_NL_R_PROB,
	SRDMA_NL_R_SEED,
	SRDMA_NL_R_FIELD,
	SRDMA_NL_R_VALUE,
	SRDMA_NL_R_TIME,
	SRDMA_NL_R_VERB,
	SRDMA_NL_R_SEEN,
	SRDMA_NL_R_HITS,
};

#define SRDMA_NL_R_MAX		SRDMA_NL_R_HITS
#define SRDMA_NL_OPS_BYTES	32
#define SRDMA_NL_PROB_ONE	1000000000U

/**
 * enum srdma_nl_point - where a rule looks
 * @SRDMA_NL_POINT_TX: packets that are sent, looped ones too
 * @SRDMA_NL_POINT_RX: packets that have come, likewise
 * @SRDMA_NL_POINT_WR: work requests of send queues, as they are taken from them
 * @SRDMA_NL_POINT_VERB: verbs that are called
 * @SRDMA_NL_POINT_NOW: does not look: it is done once, at once
 * @SRDMA_NL_POINT_NR: number of them
 */
enum srdma_nl_point {
	SRDMA_NL_POINT_TX,
	SRDMA_NL_POINT_RX,
	SRDMA_NL_POINT_WR,
	SRDMA_NL_POINT_VERB,
	SRDMA_NL_POINT_NOW,
	SRDMA_NL_POINT_NR,
};

/**
 * enum srdma_nl_action - what a rule does
 * @SRDMA_NL_ACT_DROP: the packet is lost
 * @SRDMA_NL_ACT_DUPLICATE: it comes twice
 * @SRDMA_NL_ACT_DELAY: it comes SRDMA_NL_R_TIME later
 * @SRDMA_NL_ACT_REORDER: SRDMA_NL_R_VALUE packets of its QP overtake it, if so
 *	many come within 100 ms
 * @SRDMA_NL_ACT_ICRC: its ICRC is wrong
 * @SRDMA_NL_ACT_FIELD: SRDMA_NL_R_FIELD of its headers becomes SRDMA_NL_R_VALUE,
 *	or has its lowest bit flipped, with a good ICRC
 * @SRDMA_NL_ACT_PAYLOAD: the byte of its payload at SRDMA_NL_R_VALUE is another,
 *	with a good ICRC
 * @SRDMA_NL_ACT_TRUNCATE: it ends SRDMA_NL_R_VALUE bytes earlier, with a good
 *	ICRC
 * @SRDMA_NL_ACT_CE: it has met congestion: IP says so
 * @SRDMA_NL_ACT_NAK: it is not executed but answered with NAK code
 *	SRDMA_NL_R_VALUE (request on RC)
 * @SRDMA_NL_ACT_RNR: likewise with RNR NAK of timer SRDMA_NL_R_VALUE
 * @SRDMA_NL_ACT_SILENT: it is executed and nothing is answered, unless its
 *	answer carries data: then it is lost (request on RC)
 * @SRDMA_NL_ACT_CNP: its sender is sent a congestion notification (request)
 * @SRDMA_NL_ACT_NO_MEMORY: there is no memory to send it
 * @SRDMA_NL_ACT_NO_ROUTE: there is no way to the peer
 * @SRDMA_NL_ACT_STATUS: the work request is not executed and completes with
 *	status SRDMA_NL_R_VALUE, enum ibv_wc_status
 * @SRDMA_NL_ACT_ERRNO: the verb fails with the errno SRDMA_NL_R_VALUE
 * @SRDMA_NL_ACT_QP_ERROR: the QP goes to the error state
 * @SRDMA_NL_ACT_QP_FATAL: the same, with IBV_EVENT_QP_FATAL
 * @SRDMA_NL_ACT_LAST_WQE: the same, with IBV_EVENT_QP_LAST_WQE_REACHED
 * @SRDMA_NL_ACT_CQ_OVERRUN: the CQ of its completion is full from now on
 * @SRDMA_NL_ACT_CQ_ERROR: that CQ is broken, with IBV_EVENT_CQ_ERR
 * @SRDMA_NL_ACT_SRQ_ERROR: IBV_EVENT_SRQ_ERR of the QP's SRQ, and the QP goes
 *	to the error state
 * @SRDMA_NL_ACT_PORT_DOWN: the port is down, for SRDMA_NL_R_TIME or until a rule
 *	lets it up
 * @SRDMA_NL_ACT_PORT_UP: it is up again
 * @SRDMA_NL_ACT_GID_CHANGE: IBV_EVENT_GID_CHANGE
 * @SRDMA_NL_ACT_DEVICE_FATAL: IBV_EVENT_DEVICE_FATAL, and nothing is sent or
 *	received any more
 * @SRDMA_NL_ACT_REMOVE: the link is removed
 * @SRDMA_NL_ACT_NR: number of them
 */
enum srdma_nl_action {
	SRDMA_NL_ACT_DROP,
	SRDMA_NL_ACT_DUPLICATE,
	SRDMA_NL_ACT_DELAY,
	SRDMA_NL_ACT_REORDER,
	SRDMA_NL_ACT_ICRC,
	SRDMA_NL_ACT_FIELD,
	SRDMA_NL_ACT_PAYLOAD,
	SRDMA_NL_ACT_TRUNCATE,
	SRDMA_NL_ACT_CE,
	SRDMA_NL_ACT_NAK,
	SRDMA_NL_ACT_RNR,
	SRDMA_NL_ACT_SILENT,
	SRDMA_NL_ACT_CNP,
	SRDMA_NL_ACT_NO_MEMORY,
	SRDMA_NL_ACT_NO_ROUTE,
	SRDMA_NL_ACT_STATUS,
	SRDMA_NL_ACT_ERRNO,
	SRDMA_NL_ACT_QP_ERROR,
	SRDMA_NL_ACT_QP_FATAL,
	SRDMA_NL_ACT_LAST_WQE,
	SRDMA_NL_ACT_CQ_OVERRUN,
	SRDMA_NL_ACT_CQ_ERROR,
	SRDMA_NL_ACT_SRQ_ERROR,
	SRDMA_NL_ACT_PORT_DOWN,
	SRDMA_NL_ACT_PORT_UP,
	SRDMA_NL_ACT_GID_CHANGE,
	SRDMA_NL_ACT_DEVICE_FATAL,
	SRDMA_NL_ACT_REMOVE,
	SRDMA_NL_ACT_NR,
};

/* Fields of packet headers; where a packet has no such header, nothing is done. */
enum srdma_nl_field {
	SRDMA_NL_FIELD_OPCODE,
	SRDMA_NL_FIELD_SE,
	SRDMA_NL_FIELD_PAD,
	SRDMA_NL_FIELD_TVER,
	SRDMA_NL_FIELD_PKEY,
	SRDMA_NL_FIELD_QPN,
	SRDMA_NL_FIELD_ACKREQ,
	SRDMA_NL_FIELD_PSN,
	SRDMA_NL_FIELD_VA,
	SRDMA_NL_FIELD_RKEY,
	SRDMA_NL_FIELD_LENGTH,
	SRDMA_NL_FIELD_SYNDROME,
	SRDMA_NL_FIELD_MSN,
	SRDMA_NL_FIELD_QKEY,
	SRDMA_NL_FIELD_SRC_QPN,
	SRDMA_NL_FIELD_IMM,
	SRDMA_NL_FIELD_INV_RKEY,
	SRDMA_NL_FIELD_NR,
};

/* Verbs that can be made to fail; modify_qp by the state that is asked for. */
enum srdma_nl_verb {
	SRDMA_NL_VERB_OPEN_DEVICE,
	SRDMA_NL_VERB_ALLOC_PD,
	SRDMA_NL_VERB_CREATE_AH,
	SRDMA_NL_VERB_CREATE_CQ,
	SRDMA_NL_VERB_RESIZE_CQ,
	SRDMA_NL_VERB_CREATE_SRQ,
	SRDMA_NL_VERB_MODIFY_SRQ,
	SRDMA_NL_VERB_CREATE_QP,
	SRDMA_NL_VERB_MODIFY_QP_RESET,
	SRDMA_NL_VERB_MODIFY_QP_INIT,
	SRDMA_NL_VERB_MODIFY_QP_RTR,
	SRDMA_NL_VERB_MODIFY_QP_RTS,
	SRDMA_NL_VERB_MODIFY_QP_SQD,
	SRDMA_NL_VERB_MODIFY_QP_SQE,
	SRDMA_NL_VERB_MODIFY_QP_ERR,
	SRDMA_NL_VERB_MODIFY_QP,
	SRDMA_NL_VERB_QUERY_QP,
	SRDMA_NL_VERB_REG_MR,
	SRDMA_NL_VERB_REREG_MR,
	SRDMA_NL_VERB_ALLOC_MW,
	SRDMA_NL_VERB_ATTACH_MCAST,
	SRDMA_NL_VERB_NR,
};

/**
 * enum srdma_nl_monitor_attr - which events, and how many
 * @SRDMA_NL_M_UNSPEC: none
 * @SRDMA_NL_M_QPN: u32, of this QP of the link only, and of its port
 * @SRDMA_NL_M_KINDS: u32, bits of enum srdma_nl_event: of these kinds only; of a link
 *	that is named, also SRDMA_NL_EV_LINK
 * @SRDMA_NL_M_ROOM: u32, so many wait at most, made a power of two; 8192 if not
 *	given
 */
enum srdma_nl_monitor_attr {
	SRDMA_NL_M_UNSPEC,
	SRDMA_NL_M_QPN,
	SRDMA_NL_M_KINDS,
	SRDMA_NL_M_ROOM,
};

#define SRDMA_NL_M_MAX		SRDMA_NL_M_ROOM
#define SRDMA_NL_ROOM_MIN	16
#define SRDMA_NL_ROOM_MAX	65536

/**
 * enum srdma_nl_event - kinds of events
 * @SRDMA_NL_EV_LOST: SRDMA_NL_E_COUNT events found no room; told whatever is
 *	asked for
 * @SRDMA_NL_EV_PACKET: a packet is sent, or has reached the engine of its QP
 * @SRDMA_NL_EV_DROP: SRDMA_NL_E_COUNT packets ended, and nobody got them
 * @SRDMA_NL_EV_NAK: a NAK, or word that the receiver is not ready, was sent or
 *	has come
 * @SRDMA_NL_EV_RETRY: a requester goes back to SRDMA_NL_E_PSN
 * @SRDMA_NL_EV_TIMEOUT: nothing was heard for too long
 * @SRDMA_NL_EV_WINDOW: a requester may have another number of packets under way
 * @SRDMA_NL_EV_STATE: a QP has another state
 * @SRDMA_NL_EV_ASYNC: a consumer was told an asynchronous event of a QP
 * @SRDMA_NL_EV_COMPLETION: a work request ended, and not well
 * @SRDMA_NL_EV_RULE: a rule has hit
 * @SRDMA_NL_EV_PORT: a port is up, or down
 * @SRDMA_NL_EV_LINK: a link is there, has come or has gone
 * @SRDMA_NL_EV_NR: number of them
 */
enum srdma_nl_event {
	SRDMA_NL_EV_LOST,
	SRDMA_NL_EV_PACKET,
	SRDMA_NL_EV_DROP,
	SRDMA_NL_EV_NAK,
	SRDMA_NL_EV_RETRY,
	SRDMA_NL_EV_TIMEOUT,
	SRDMA_NL_EV_WINDOW,
	SRDMA_NL_EV_STATE,
	SRDMA_NL_EV_ASYNC,
	SRDMA_NL_EV_COMPLETION,
	SRDMA_NL_EV_RULE,
	SRDMA_NL_EV_PORT,
	SRDMA_NL_EV_LINK,
	SRDMA_NL_EV_NR,
};

/**
 * enum srdma_nl_event_attr - an event
 * @SRDMA_NL_E_UNSPEC: none
 * @SRDMA_NL_E_PAD: before numbers of 64 bits
 * @SRDMA_NL_E_KIND: u8, enum srdma_nl_event
 * @SRDMA_NL_E_SEQ: u64, number of the event for this socket, from 1; those that
 *	were lost have theirs
 * @SRDMA_NL_E_TIME: u64, ns since 1970
 * @SRDMA_NL_E_DEV: u32, index of the RDMA device; not of SRDMA_NL_EV_LOST
 * @SRDMA_NL_E_LINK: string, its name; of SRDMA_NL_EV_LINK only
 * @SRDMA_NL_E_QPN: u32, QP that it is about
 * @SRDMA_NL_E_FLAGS: u32, bits of enum srdma_nl_event_flag
 * @SRDMA_NL_E_PEER_QPN: u32, QP of the peer
 * @SRDMA_NL_E_OPCODE: u8, of the BTH
 * @SRDMA_NL_E_PSN: u32
 * @SRDMA_NL_E_LENGTH: u32, bytes from BTH to ICRC, as tx_bytes and rx_bytes
 *	count them
 * @SRDMA_NL_E_PAYLOAD: u32, bytes of payload
 * @SRDMA_NL_E_SYNDROME: u8, of the AETH
 * @SRDMA_NL_E_MSN: u32, likewise
 * @SRDMA_NL_E_COUNTER: string, the counter that counted what became of it
 * @SRDMA_NL_E_COUNT: u64
 * @SRDMA_NL_E_CAUSE: u8, enum srdma_nl_cause
 * @SRDMA_NL_E_LEFT: u8, retries that are left
 * @SRDMA_NL_E_WINDOW: u32, packets
 * @SRDMA_NL_E_FROM: u8, state of a QP, enum ibv_qp_state
 * @SRDMA_NL_E_TO: u8, likewise
 * @SRDMA_NL_E_ASYNC: u32, enum ibv_event_type
 * @SRDMA_NL_E_WR_ID: u64
 * @SRDMA_NL_E_WR_OP: u8, of a send request, as rules have it
 * @SRDMA_NL_E_STATUS: u8, enum ibv_wc_status
 * @SRDMA_NL_E_VENDOR_ERR: u32, enum srdma_err (softrdma-errors.h)
 * @SRDMA_NL_E_RULE: u32, number of the rule
 * @SRDMA_NL_E_POINT: u8, enum srdma_nl_point
 * @SRDMA_NL_E_ACTION: u8, enum srdma_nl_action
 * @SRDMA_NL_E_VERB: u8, enum srdma_nl_verb
 * @SRDMA_NL_E_LINK_IS: u8, enum srdma_nl_link_is
 */
enum srdma_nl_event_attr {
	SRDMA_NL_E_UNSPEC,
	SRDMA_NL_E_PAD,
	SRDMA_NL_E_KIND,
	SRDMA_NL_E_SEQ,
	SRDMA_NL_E_TIME,
	SRDMA_NL_E_DEV,
	SRDMA_NL_E_LINK,
	SRDMA_NL_E_QPN,
	SRDMA_NL_E_FLAGS,
	SRDMA_NL_E_PEER_QPN,
	SRDMA_NL_E_OPCODE,
	SRDMA_NL_E_PSN,
	SRDMA_NL_E_LENGTH,
	SRDMA_NL_E_PAYLOAD,
	SRDMA_NL_E_SYNDROME,
	SRDMA_NL_E_MSN,
	SRDMA_NL_E_COUNTER,
	SRDMA_NL_E_COUNT,
	SRDMA_NL_E_CAUSE,
	SRDMA_NL_E_LEFT,
	SRDMA_NL_E_WINDOW,
	SRDMA_NL_E_FROM,
	SRDMA_NL_E_TO,
	SRDMA_NL_E_ASYNC,
	SRDMA_NL_E_WR_ID,
	SRDMA_NL_E_WR_OP,
	SRDMA_NL_E_STATUS,
	SRDMA_NL_E_VENDOR_ERR,
	SRDMA_NL_E_RULE,
	SRDMA_NL_E_POINT,
	SRDMA_NL_E_ACTION,
	SRDMA_NL_E_VERB,
	SRDMA_NL_E_LINK_IS,
};

#define SRDMA_NL_E_MAX		SRDMA_NL_E_LINK_IS

/**
 * enum srdma_nl_event_flag - more about an event
 * @SRDMA_NL_EF_RX: it has come; else it is sent
 * @SRDMA_NL_EF_LOOPED: between two QPs of the link, over no network
 * @SRDMA_NL_EF_AGAIN: this PSN was sent before
 * @SRDMA_NL_EF_ACKREQ: it asks for an acknowledge
 * @SRDMA_NL_EF_SOLICITED: it asks for an event
 * @SRDMA_NL_EF_UP: the port is up
 */
enum srdma_nl_event_flag {
	SRDMA_NL_EF_RX = 1,
	SRDMA_NL_EF_LOOPED = 2,
	SRDMA_NL_EF_AGAIN = 4,
	SRDMA_NL_EF_ACKREQ = 8,
	SRDMA_NL_EF_SOLICITED = 16,
	SRDMA_NL_EF_UP = 32,
};

/**
 * enum srdma_nl_cause - why a requester goes back, and what a timeout was
 * @SRDMA_NL_CAUSE_NAK: the peer says that something is missing
 * @SRDMA_NL_CAUSE_RNR: the peer was not ready, and that time has passed
 * @SRDMA_NL_CAUSE_TIMEOUT: no acknowledge came in time
 * @SRDMA_NL_CAUSE_PROBE: nothing was heard: an old packet asks what there is
 * @SRDMA_NL_CAUSE_EXCEEDED: the retries are used up
 * @SRDMA_NL_CAUSE_NR: number of them
 */
enum srdma_nl_cause {
	SRDMA_NL_CAUSE_NAK,
	SRDMA_NL_CAUSE_RNR,
	SRDMA_NL_CAUSE_TIMEOUT,
	SRDMA_NL_CAUSE_PROBE,
	SRDMA_NL_CAUSE_EXCEEDED,
	SRDMA_NL_CAUSE_NR,
};

/**
 * enum srdma_nl_link_is - what became of a link
 * @SRDMA_NL_LINK_HERE: it was there when the socket began to listen
 * @SRDMA_NL_LINK_NEW: it has come
 * @SRDMA_NL_LINK_GONE: it has gone
 * @SRDMA_NL_LINK_NR: number of them
 */
enum srdma_nl_link_is {
	SRDMA_NL_LINK_HERE,
	SRDMA_NL_LINK_NEW,
	SRDMA_NL_LINK_GONE,
	SRDMA_NL_LINK_NR,
};

#endif
