/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The generic netlink family "softrdma", by which the tool of that name makes
 * faults. Documentation/netlink/specs/softrdma.yaml describes it.
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
 */
enum srdma_nl_cmd {
	SRDMA_NL_CMD_UNSPEC,
	SRDMA_NL_CMD_FAULT_ADD,
	SRDMA_NL_CMD_FAULT_DEL,
	SRDMA_NL_CMD_FAULT_GET,
	SRDMA_NL_CMD_ERROR_GET,
};

/**
 * enum srdma_nl_attr - what requests and answers carry
 * @SRDMA_NL_A_UNSPEC: none
 * @SRDMA_NL_A_LINK: string, the name of a link
 * @SRDMA_NL_A_RULE: nest of enum srdma_nl_rule_attr
 * @SRDMA_NL_A_ERROR: nest of enum srdma_err_attr (softrdma-errors.h)
 */
enum srdma_nl_attr {
	SRDMA_NL_A_UNSPEC,
	SRDMA_NL_A_LINK,
	SRDMA_NL_A_RULE,
	SRDMA_NL_A_ERROR,
};

#define SRDMA_NL_A_MAX		SRDMA_NL_A_ERROR

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

#endif
