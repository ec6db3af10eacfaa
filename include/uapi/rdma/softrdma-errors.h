/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Why something failed: vendor_err of completions, and the codes of the records
 * that softrdma(8) shows. Documentation/softrdma/guide/troubleshooting.rst has a
 * sentence about each.
 *
 * A number stays with its cause; new causes get new numbers.
 */
#ifndef SOFTRDMA_ERRORS_USER_H
#define SOFTRDMA_ERRORS_USER_H

/**
 * enum srdma_err - causes
 * @SRDMA_ERR_NONE: it has not failed
 * @SRDMA_ERR_WR_OPCODE: a send request with an opcode that there is not, or not
 *	for this type of QP
 * @SRDMA_ERR_WR_FLAGS: with a flag that there is not, or inline where nothing
 *	can be
 * @SRDMA_ERR_WR_NUM_SGE: with more pieces than the QP was made for
 * @SRDMA_ERR_WR_INLINE: with more inline bytes than it was made for
 * @SRDMA_ERR_WR_LENGTH: longer than 2^31 bytes
 * @SRDMA_ERR_WR_ATOMIC_LEN: atomic whose local memory is not 8 bytes
 * @SRDMA_ERR_WR_AH: datagram without an address handle
 * @SRDMA_ERR_WR_FLUSH_TYPE: FLUSH of an unknown type or level
 * @SRDMA_ERR_AH_UNKNOWN: datagram by an address handle that is gone, or of another
 *	protection domain
 * @SRDMA_ERR_UD_LENGTH: datagram longer than the path MTU
 * @SRDMA_ERR_LKEY_NONE: nothing has this lkey
 * @SRDMA_ERR_LKEY_GONE: its region was deregistered
 * @SRDMA_ERR_LKEY_INVALIDATED: its region was invalidated
 * @SRDMA_ERR_LKEY_PD: its region belongs to another protection domain
 * @SRDMA_ERR_LKEY_WINDOW: it is the key of a window, which is for peers
 * @SRDMA_ERR_LKEY_ACCESS: its region may not be written by the device
 * @SRDMA_ERR_LKEY_RANGE: the piece leaves its region
 * @SRDMA_ERR_LKEY_CHANGING: its region was just being changed
 * @SRDMA_ERR_INV_KEY: local invalidation of a key that nothing has
 * @SRDMA_ERR_INV_PD: ... of another protection domain
 * @SRDMA_ERR_INV_KIND: ... that no work request has made valid
 * @SRDMA_ERR_INV_QP: ... of a window that is bound to another QP
 * @SRDMA_ERR_BIND_KEY: binding a window: nothing has the key of the window, or of
 *	the region
 * @SRDMA_ERR_BIND_PD: ... window, region and QP are not of one protection domain
 * @SRDMA_ERR_BIND_ACCESS: ... with rights that a window cannot have, or that the
 *	region has not, MW_BIND first of all
 * @SRDMA_ERR_BIND_STATE: ... that is bound already
 * @SRDMA_ERR_BIND_LENGTH: ... to nothing
 * @SRDMA_ERR_BIND_RANGE: ... to a range that leaves the region
 * @SRDMA_ERR_REG: registration by work request: key, state, rights or range of
 *	the region do not fit
 * @SRDMA_ERR_NAK_INVALID: the peer answered: invalid request
 * @SRDMA_ERR_NAK_ACCESS: the peer answered: remote access error
 * @SRDMA_ERR_NAK_OPERATION: the peer answered: remote operational error
 * @SRDMA_ERR_RNR: the peer had no receive posted, as often as was tried
 * @SRDMA_ERR_SEQUENCE: the peer asked for the same packet again and again
 * @SRDMA_ERR_NO_ANSWER: the peer has stopped answering
 * @SRDMA_ERR_NEVER_ANSWERED: the peer has never answered
 * @SRDMA_ERR_PEER_NO_QP: this device, which has the peer's address, has no QP of
 *	the peer's number
 * @SRDMA_ERR_PEER_STATE: the peer is a QP of this device and user, in a state in
 *	which it receives nothing
 * @SRDMA_ERR_GID_GONE: the address of the QP's source GID has gone from the device
 * @SRDMA_ERR_NO_ROUTE: there is no route to the peer
 * @SRDMA_ERR_PORT_DOWN: the port is down
 * @SRDMA_ERR_BAD_RESPONSE: the peer answered what was not asked
 * @SRDMA_ERR_GID_UNKNOWN: the source GID is no address of the interface: the host does
 *	not answer who looks for it, and takes no packets to it
 * @SRDMA_ERR_RECV_MALFORMED: a receive request with more pieces than the queue was
 *	made for
 * @SRDMA_ERR_RECV_SHORT: a message longer than the receive request
 * @SRDMA_ERR_RKEY_NONE: the peer has used an rkey that nothing has
 * @SRDMA_ERR_RKEY_GONE: ... whose region was deregistered
 * @SRDMA_ERR_RKEY_INVALIDATED: ... that was invalidated
 * @SRDMA_ERR_RKEY_PD: ... of another protection domain
 * @SRDMA_ERR_RKEY_WINDOW: ... of a window that is bound to another QP
 * @SRDMA_ERR_RKEY_ACCESS: ... that does not allow this
 * @SRDMA_ERR_RKEY_RANGE: ... for a range that leaves its region
 * @SRDMA_ERR_RKEY_CHANGING: ... whose region was just being changed
 * @SRDMA_ERR_RKEY_INVALIDATE: ... that it cannot invalidate
 * @SRDMA_ERR_REQ_QP_ACCESS: the peer asks for what this QP does not let it do
 * @SRDMA_ERR_REQ_RD_ATOMIC: the peer has more READs and atomics under way than
 *	agreed
 * @SRDMA_ERR_REQ_ALIGN: an atomic at an address that is not a multiple of 8
 * @SRDMA_ERR_REQ_MALFORMED: packets that do not make a message
 * @SRDMA_ERR_REQ_PERSISTENT: FLUSH to persistence, which no memory has
 * @SRDMA_ERR_CQ_OVERRUN: a completion has found its CQ full
 * @SRDMA_ERR_FLUSH_REQUEST: flushed: a request of this QP has failed
 * @SRDMA_ERR_FLUSH_SEND_QUEUE: flushed: a request of this QP has failed, and with
 *	it the send queue
 * @SRDMA_ERR_FLUSH_REFUSED: flushed: the QP has refused a request of its peer
 * @SRDMA_ERR_FLUSH_RECEIVE: flushed: a receive request of this QP has failed
 * @SRDMA_ERR_FLUSH_MODIFIED: flushed: the program has moved the QP to the error
 *	state
 * @SRDMA_ERR_FLUSH_CQ: flushed: a CQ of this QP is broken
 * @SRDMA_ERR_FLUSH_RULE: flushed: a rule wants it
 * @SRDMA_ERR_RULE: a rule wants it
 * @SRDMA_ERR_CQ_FLAGS: create_cq with flags
 * @SRDMA_ERR_CQ_SIZE: create_cq or resize_cq with no entries, or more than there can be
 * @SRDMA_ERR_CQ_FULL: resize_cq to fewer entries than wait in the queue
 * @SRDMA_ERR_SRQ_TYPE: create_srq of a type that there is not
 * @SRDMA_ERR_SRQ_WR: create_srq or modify_srq with no receives, or more than there can be
 * @SRDMA_ERR_SRQ_SGE: create_srq with more pieces than there can be
 * @SRDMA_ERR_SRQ_LIMIT: a limit above the size of the SRQ
 * @SRDMA_ERR_SRQ_FULL: modify_srq to fewer receives than are posted
 * @SRDMA_ERR_QP_TYPE: create_qp of a type that there is not
 * @SRDMA_ERR_QP_FLAGS: create_qp with flags, an XRC domain or an RWQ table
 * @SRDMA_ERR_QP_SEND_WR: create_qp with more send requests than there can be
 * @SRDMA_ERR_QP_SEND_SGE: create_qp with more pieces of a send than there can be
 * @SRDMA_ERR_QP_INLINE: create_qp with more inline bytes than there can be
 * @SRDMA_ERR_QP_RECV_WR: create_qp with more receives than there can be
 * @SRDMA_ERR_QP_RECV_SGE: create_qp with more pieces of a receive than there can be
 * @SRDMA_ERR_MODIFY_ATTR: modify_qp of an attribute that there is not
 * @SRDMA_ERR_MODIFY_VALUE: modify_qp with a value that is out of range
 * @SRDMA_ERR_MODIFY_CURRENT: modify_qp says that the QP is in a state in which it is
 *	not
 * @SRDMA_ERR_MODIFY_STEP: modify_qp to a state that does not follow, or with attributes
 *	missing or too many for that step
 * @SRDMA_ERR_MODIFY_MTU: modify_qp with a path MTU above the port's
 * @SRDMA_ERR_MODIFY_RD_ATOMIC: modify_qp of max_dest_rd_atomic after INIT
 * @SRDMA_ERR_AH_FAMILY: an address whose source and destination are of IPv4 and of
 *	IPv6
 * @SRDMA_ERR_MR_LENGTH: reg_mr of more than 2^46 bytes
 * @SRDMA_ERR_MR_WRAPS: reg_mr of a range that wraps
 * @SRDMA_ERR_MR_PIN: reg_mr of memory that cannot be pinned
 * @SRDMA_ERR_MR_BOUND: dereg_mr or rereg_mr of a region with windows bound to it
 * @SRDMA_ERR_MCAST_FULL: attach_mcast where the group, or the user, has as many as there
 *	can be
 * @SRDMA_ERR_POST_STATE: a request is posted to a QP in RESET, INIT or RTR
 * @SRDMA_ERR_VERB_RULE: a rule wants a verb to fail
 * @SRDMA_ERR_VERB_OBJECTS: the device has as many objects of a kind as there can be
 */
enum srdma_err {
	SRDMA_ERR_NONE = 0,

	SRDMA_ERR_WR_OPCODE = 1,
	SRDMA_ERR_WR_FLAGS = 2,
	SRDMA_ERR_WR_NUM_SGE = 3,
	SRDMA_ERR_WR_INLINE = 4,
	SRDMA_ERR_WR_LENGTH = 5,
	SRDMA_ERR_WR_ATOMIC_LEN = 6,
	SRDMA_ERR_WR_AH = 7,
	SRDMA_ERR_WR_FLUSH_TYPE = 8,
	SRDMA_ERR_AH_UNKNOWN = 9,
	SRDMA_ERR_UD_LENGTH = 10,

	SRDMA_ERR_LKEY_NONE = 16,
	SRDMA_ERR_LKEY_GONE = 17,
	SRDMA_ERR_LKEY_INVALIDATED = 18,
	SRDMA_ERR_LKEY_PD = 19,
	SRDMA_ERR_LKEY_WINDOW = 20,
	SRDMA_ERR_LKEY_ACCESS = 21,
	SRDMA_ERR_LKEY_RANGE = 22,
	SRDMA_ERR_LKEY_CHANGING = 23,

	SRDMA_ERR_INV_KEY = 32,
	SRDMA_ERR_INV_PD = 33,
	SRDMA_ERR_INV_KIND = 34,
	SRDMA_ERR_INV_QP = 36,
	SRDMA_ERR_BIND_KEY = 40,
	SRDMA_ERR_BIND_PD = 41,
	SRDMA_ERR_BIND_ACCESS = 42,
	SRDMA_ERR_BIND_STATE = 43,
	SRDMA_ERR_BIND_LENGTH = 44,
	SRDMA_ERR_BIND_RANGE = 45,
	SRDMA_ERR_REG = 46,

	SRDMA_ERR_NAK_INVALID = 48,
	SRDMA_ERR_NAK_ACCESS = 49,
	SRDMA_ERR_NAK_OPERATION = 50,
	SRDMA_ERR_RNR = 51,
	SRDMA_ERR_SEQUENCE = 52,
	SRDMA_ERR_NO_ANSWER = 53,
	SRDMA_ERR_NEVER_ANSWERED = 54,
	SRDMA_ERR_PEER_NO_QP = 55,
	SRDMA_ERR_PEER_STATE = 56,
	SRDMA_ERR_GID_GONE = 57,
	SRDMA_ERR_NO_ROUTE = 58,
	SRDMA_ERR_PORT_DOWN = 59,
	SRDMA_ERR_BAD_RESPONSE = 60,
	SRDMA_ERR_GID_UNKNOWN = 61,

	SRDMA_ERR_RECV_MALFORMED = 64,
	SRDMA_ERR_RECV_SHORT = 65,

	SRDMA_ERR_RKEY_NONE = 72,
	SRDMA_ERR_RKEY_GONE = 73,
	SRDMA_ERR_RKEY_INVALIDATED = 74,
	SRDMA_ERR_RKEY_PD = 75,
	SRDMA_ERR_RKEY_WINDOW = 76,
	SRDMA_ERR_RKEY_ACCESS = 77,
	SRDMA_ERR_RKEY_RANGE = 78,
	SRDMA_ERR_RKEY_CHANGING = 79,
	SRDMA_ERR_RKEY_INVALIDATE = 80,
	SRDMA_ERR_REQ_QP_ACCESS = 81,
	SRDMA_ERR_REQ_RD_ATOMIC = 82,
	SRDMA_ERR_REQ_ALIGN = 83,
	SRDMA_ERR_REQ_MALFORMED = 84,
	SRDMA_ERR_REQ_PERSISTENT = 85,

	SRDMA_ERR_CQ_OVERRUN = 96,
	SRDMA_ERR_FLUSH_REQUEST = 112,
	SRDMA_ERR_FLUSH_SEND_QUEUE = 113,
	SRDMA_ERR_FLUSH_REFUSED = 114,
	SRDMA_ERR_FLUSH_RECEIVE = 115,
	SRDMA_ERR_FLUSH_MODIFIED = 116,
	SRDMA_ERR_FLUSH_CQ = 117,
	SRDMA_ERR_FLUSH_RULE = 118,
	SRDMA_ERR_RULE = 127,

	SRDMA_ERR_CQ_FLAGS = 256,
	SRDMA_ERR_CQ_SIZE = 257,
	SRDMA_ERR_CQ_FULL = 259,
	SRDMA_ERR_SRQ_TYPE = 264,
	SRDMA_ERR_SRQ_WR = 265,
	SRDMA_ERR_SRQ_SGE = 266,
	SRDMA_ERR_SRQ_LIMIT = 267,
	SRDMA_ERR_SRQ_FULL = 268,
	SRDMA_ERR_QP_TYPE = 272,
	SRDMA_ERR_QP_FLAGS = 273,
	SRDMA_ERR_QP_SEND_WR = 275,
	SRDMA_ERR_QP_SEND_SGE = 276,
	SRDMA_ERR_QP_INLINE = 277,
	SRDMA_ERR_QP_RECV_WR = 278,
	SRDMA_ERR_QP_RECV_SGE = 279,
	SRDMA_ERR_MODIFY_ATTR = 288,
	SRDMA_ERR_MODIFY_VALUE = 289,
	SRDMA_ERR_MODIFY_CURRENT = 290,
	SRDMA_ERR_MODIFY_STEP = 291,
	SRDMA_ERR_MODIFY_MTU = 292,
	SRDMA_ERR_MODIFY_RD_ATOMIC = 293,
	SRDMA_ERR_AH_FAMILY = 306,
	SRDMA_ERR_MR_LENGTH = 315,
	SRDMA_ERR_MR_WRAPS = 316,
	SRDMA_ERR_MR_PIN = 317,
	SRDMA_ERR_MR_BOUND = 318,
	SRDMA_ERR_MCAST_FULL = 321,
	SRDMA_ERR_POST_STATE = 328,
	SRDMA_ERR_VERB_RULE = 329,
	SRDMA_ERR_VERB_OBJECTS = 330,
};

/**
 * enum srdma_err_part - what has failed
 * @SRDMA_PART_SEND: a work request of a send queue
 * @SRDMA_PART_RECEIVE: a receive request
 * @SRDMA_PART_PEER: a request of the peer, which was refused
 * @SRDMA_PART_QUEUE: a completion queue
 * @SRDMA_PART_VERB: a verb
 */
enum srdma_err_part {
	SRDMA_PART_SEND,
	SRDMA_PART_RECEIVE,
	SRDMA_PART_PEER,
	SRDMA_PART_QUEUE,
	SRDMA_PART_VERB,
};

/**
 * enum srdma_err_fact - numbers that belong to a cause
 * @SRDMA_FACT_KEY: key that was used
 * @SRDMA_FACT_ADDR: first address that was to be accessed by it
 * @SRDMA_FACT_BYTES: so many bytes from there
 * @SRDMA_FACT_START: first address that the key names
 * @SRDMA_FACT_LENGTH: bytes that it names
 * @SRDMA_FACT_HAS: access that there is, enum ibv_access_flags
 * @SRDMA_FACT_NEEDS: access that is needed, likewise
 * @SRDMA_FACT_AGO: so long ago, ns
 * @SRDMA_FACT_BY: by what, enum srdma_err_by
 * @SRDMA_FACT_TIMES: so often
 * @SRDMA_FACT_WAIT: a wait, ns
 * @SRDMA_FACT_STATE: of a QP, enum ibv_qp_state
 * @SRDMA_FACT_INDEX: of a GID, or number of an address handle
 * @SRDMA_FACT_VALUE: what was asked for; SRDMA_ERR_VERB_RULE: enum srdma_nl_verb
 * @SRDMA_FACT_LIMIT: the most that there can be
 * @SRDMA_FACT_NR: number of them
 */
enum srdma_err_fact {
	SRDMA_FACT_KEY,
	SRDMA_FACT_ADDR,
	SRDMA_FACT_BYTES,
	SRDMA_FACT_START,
	SRDMA_FACT_LENGTH,
	SRDMA_FACT_HAS,
	SRDMA_FACT_NEEDS,
	SRDMA_FACT_AGO,
	SRDMA_FACT_BY,
	SRDMA_FACT_TIMES,
	SRDMA_FACT_WAIT,
	SRDMA_FACT_STATE,
	SRDMA_FACT_INDEX,
	SRDMA_FACT_VALUE,
	SRDMA_FACT_LIMIT,
	SRDMA_FACT_NR,
};

/**
 * enum srdma_err_by - what took a key from its users
 * @SRDMA_BY_DEREG: the verb that ends a region or a window
 * @SRDMA_BY_REREG: the verb that changes a region
 * @SRDMA_BY_LOCAL_INV: a work request of its owner
 * @SRDMA_BY_REMOTE_INV: a SEND with invalidation of a peer
 * @SRDMA_BY_BIND: a window that was bound anew, or to nothing
 * @SRDMA_BY_QP: the end or the reset of the QP that a window was bound to
 */
enum srdma_err_by {
	SRDMA_BY_DEREG,
	SRDMA_BY_REREG,
	SRDMA_BY_LOCAL_INV,
	SRDMA_BY_REMOTE_INV,
	SRDMA_BY_BIND,
	SRDMA_BY_QP,
};

/**
 * enum srdma_err_attr - a record, as the netlink family carries it: what there is
 *	of these (softrdma-netlink.h)
 * @SRDMA_ERR_A_UNSPEC: none
 * @SRDMA_ERR_A_PAD: before numbers of 64 bits
 * @SRDMA_ERR_A_NUMBER: u64, of the record: they count up for the device
 * @SRDMA_ERR_A_FIRST: u64, when it happened, ns since 1970
 * @SRDMA_ERR_A_LAST: u64, when it happened for the last time, likewise
 * @SRDMA_ERR_A_TIMES: u32, how often in a row
 * @SRDMA_ERR_A_UID: u32, user who has made the QP or called the verb
 * @SRDMA_ERR_A_PID: u32, process; only where the reader numbers processes as it
 *	does, or as the first PID namespace
 * @SRDMA_ERR_A_COMM: string, its program
 * @SRDMA_ERR_A_PART: u8, enum srdma_err_part
 * @SRDMA_ERR_A_CODE: u32, enum srdma_err
 * @SRDMA_ERR_A_STATUS: u8, enum ibv_wc_status of the completion
 * @SRDMA_ERR_A_OP: u8, SRDMA_PART_SEND: of the work request, as rules have it;
 *	SRDMA_PART_PEER and _RECEIVE: of the packet's BTH
 * @SRDMA_ERR_A_QPN: u32
 * @SRDMA_ERR_A_PEER_QPN: u32
 * @SRDMA_ERR_A_PEER: 16 bytes, its address; IPv4 mapped into IPv6
 * @SRDMA_ERR_A_WR_ID: u64, of the work request
 * @SRDMA_ERR_A_PSN: u32
 * @SRDMA_ERR_A_BYTES: u32, length of the message, or of the packet's part of it
 * @SRDMA_ERR_A_REMOTE_ADDR: u64, what it is about at the peer
 * @SRDMA_ERR_A_RKEY: u32, the key of that
 * @SRDMA_ERR_A_ERRNO: u32, that a verb has failed with
 * @SRDMA_ERR_A_FACTS: nest of u64, each of type enum srdma_err_fact + 1
 */
enum srdma_err_attr {
	SRDMA_ERR_A_UNSPEC,
	SRDMA_ERR_A_PAD,
	SRDMA_ERR_A_NUMBER,
	SRDMA_ERR_A_FIRST,
	SRDMA_ERR_A_LAST,
	SRDMA_ERR_A_TIMES,
	SRDMA_ERR_A_UID,
	SRDMA_ERR_A_PID,
	SRDMA_ERR_A_COMM,
	SRDMA_ERR_A_PART,
	SRDMA_ERR_A_CODE,
	SRDMA_ERR_A_STATUS,
	SRDMA_ERR_A_OP,
	SRDMA_ERR_A_QPN,
	SRDMA_ERR_A_PEER_QPN,
	SRDMA_ERR_A_PEER,
	SRDMA_ERR_A_WR_ID,
	SRDMA_ERR_A_PSN,
	SRDMA_ERR_A_BYTES,
	SRDMA_ERR_A_REMOTE_ADDR,
	SRDMA_ERR_A_RKEY,
	SRDMA_ERR_A_ERRNO,
	SRDMA_ERR_A_FACTS,
};

#define SRDMA_ERR_A_MAX		SRDMA_ERR_A_FACTS

#endif
