/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a work request ended. The numbers are those of the verbs' completion
 * status, so that the caller needs no table; the kernel side asserts it.
 */
#ifndef SRDMA_PROTO_STATUS_H
#define SRDMA_PROTO_STATUS_H

/* Completion status of a work request (section 11.6.2). */
enum srdma_status {
	SRDMA_ST_OK		= 0,
	SRDMA_ST_LOC_LEN	= 1,	/* message and local buffer disagree */
	SRDMA_ST_LOC_QP_OP	= 2,	/* the request makes no sense here */
	SRDMA_ST_LOC_PROT	= 4,	/* local key, range or access */
	SRDMA_ST_FLUSH		= 5,	/* not done: the queue had failed */
	SRDMA_ST_MW_BIND	= 6,	/* memory window could not be bound */
	SRDMA_ST_BAD_RESP	= 7,	/* the peer answered nonsense */
	SRDMA_ST_LOC_ACCESS	= 8,	/* own memory taken from a peer's write */
	SRDMA_ST_REM_INV_REQ	= 9,	/* NAK: invalid request */
	SRDMA_ST_REM_ACCESS	= 10,	/* NAK: remote access error */
	SRDMA_ST_REM_OP		= 11,	/* NAK: remote operational error */
	SRDMA_ST_RETRY_EXC	= 12,	/* transport retries used up */
	SRDMA_ST_RNR_RETRY_EXC	= 13,	/* receiver-not-ready retries used up */
	SRDMA_ST_FATAL		= 19,	/* the queue pair is broken */
};

#endif
