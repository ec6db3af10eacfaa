// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The words of the command line. */
#define _GNU_SOURCE
#include "names.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <infiniband/verbs.h>

/* BTH opcodes; RC's, UC's and UD's of one name have one word. */
const struct name packet_ops[] = {
	{ "SEND_FIRST", 0x00 }, { "SEND_FIRST", 0x20 },
	{ "SEND_MIDDLE", 0x01 }, { "SEND_MIDDLE", 0x21 },
	{ "SEND_LAST", 0x02 }, { "SEND_LAST", 0x22 },
	{ "SEND_LAST_IMM", 0x03 }, { "SEND_LAST_IMM", 0x23 },
	{ "SEND_ONLY", 0x04 }, { "SEND_ONLY", 0x24 }, { "SEND_ONLY", 0x64 },
	{ "SEND_ONLY_IMM", 0x05 }, { "SEND_ONLY_IMM", 0x25 },
	{ "SEND_ONLY_IMM", 0x65 },
	{ "WRITE_FIRST", 0x06 }, { "WRITE_FIRST", 0x26 },
	{ "WRITE_MIDDLE", 0x07 }, { "WRITE_MIDDLE", 0x27 },
	{ "WRITE_LAST", 0x08 }, { "WRITE_LAST", 0x28 },
	{ "WRITE_LAST_IMM", 0x09 }, { "WRITE_LAST_IMM", 0x29 },
	{ "WRITE_ONLY", 0x0a }, { "WRITE_ONLY", 0x2a },
	{ "WRITE_ONLY_IMM", 0x0b }, { "WRITE_ONLY_IMM", 0x2b },
	{ "READ_REQUEST", 0x0c },
	{ "READ_RESPONSE_FIRST", 0x0d },
	{ "READ_RESPONSE_MIDDLE", 0x0e },
	{ "READ_RESPONSE_LAST", 0x0f },
	{ "READ_RESPONSE_ONLY", 0x10 },
	{ "ACK", 0x11 },
	{ "ATOMIC_ACK", 0x12 },
	{ "CMP_SWAP", 0x13 },
	{ "FETCH_ADD", 0x14 },
	{ "SEND_LAST_INV", 0x16 },
	{ "SEND_ONLY_INV", 0x17 },
	{ "FLUSH", 0x1c },
	{ "ATOMIC_WRITE", 0x1d },
	{ "CNP", 0x81 },
	{ NULL, 0 }
};

const struct name request_ops[] = {
	{ "WRITE", 0 }, { "WRITE_IMM", 1 }, { "SEND", 2 }, { "SEND_IMM", 3 },
	{ "READ", 4 }, { "CMP_SWAP", 5 }, { "FETCH_ADD", 6 },
	{ "LOCAL_INV", 7 }, { "BIND_MW", 8 }, { "SEND_INV", 9 },
	{ "FLUSH", 14 }, { "ATOMIC_WRITE", 15 }, { "REG_MR", 16 },
	{ NULL, 0 }
};

const struct name actions[] = {
	{ "drop", SRDMA_NL_ACT_DROP },
	{ "duplicate", SRDMA_NL_ACT_DUPLICATE },
	{ "delay", SRDMA_NL_ACT_DELAY },
	{ "reorder", SRDMA_NL_ACT_REORDER },
	{ "corrupt icrc", SRDMA_NL_ACT_ICRC },
	{ "corrupt header", SRDMA_NL_ACT_FIELD },
	{ "corrupt payload", SRDMA_NL_ACT_PAYLOAD },
	{ "truncate", SRDMA_NL_ACT_TRUNCATE },
	{ "ce", SRDMA_NL_ACT_CE },
	{ "answer nak", SRDMA_NL_ACT_NAK },
	{ "answer rnr", SRDMA_NL_ACT_RNR },
	{ "answer nothing", SRDMA_NL_ACT_SILENT },
	{ "cnp", SRDMA_NL_ACT_CNP },
	{ "no-memory", SRDMA_NL_ACT_NO_MEMORY },
	{ "no-route", SRDMA_NL_ACT_NO_ROUTE },
	{ "status", SRDMA_NL_ACT_STATUS },
	{ "errno", SRDMA_NL_ACT_ERRNO },
	{ "qp-error", SRDMA_NL_ACT_QP_ERROR },
	{ "qp-fatal", SRDMA_NL_ACT_QP_FATAL },
	{ "last-wqe", SRDMA_NL_ACT_LAST_WQE },
	{ "cq-overrun", SRDMA_NL_ACT_CQ_OVERRUN },
	{ "cq-error", SRDMA_NL_ACT_CQ_ERROR },
	{ "srq-error", SRDMA_NL_ACT_SRQ_ERROR },
	{ "port-down", SRDMA_NL_ACT_PORT_DOWN },
	{ "port-up", SRDMA_NL_ACT_PORT_UP },
	{ "gid-change", SRDMA_NL_ACT_GID_CHANGE },
	{ "device-fatal", SRDMA_NL_ACT_DEVICE_FATAL },
	{ "remove", SRDMA_NL_ACT_REMOVE },
	{ NULL, 0 }
};

const struct name points[] = {
	{ "tx", SRDMA_NL_POINT_TX },
	{ "rx", SRDMA_NL_POINT_RX },
	{ "wr", SRDMA_NL_POINT_WR },
	{ "verb", SRDMA_NL_POINT_VERB },
	{ "now", SRDMA_NL_POINT_NOW },
	{ NULL, 0 }
};

const struct name fields[] = {
	{ "opcode", SRDMA_NL_FIELD_OPCODE },
	{ "se", SRDMA_NL_FIELD_SE },
	{ "pad", SRDMA_NL_FIELD_PAD },
	{ "tver", SRDMA_NL_FIELD_TVER },
	{ "pkey", SRDMA_NL_FIELD_PKEY },
	{ "qpn", SRDMA_NL_FIELD_QPN },
	{ "ackreq", SRDMA_NL_FIELD_ACKREQ },
	{ "psn", SRDMA_NL_FIELD_PSN },
	{ "va", SRDMA_NL_FIELD_VA },
	{ "rkey", SRDMA_NL_FIELD_RKEY },
	{ "length", SRDMA_NL_FIELD_LENGTH },
	{ "syndrome", SRDMA_NL_FIELD_SYNDROME },
	{ "msn", SRDMA_NL_FIELD_MSN },
	{ "qkey", SRDMA_NL_FIELD_QKEY },
	{ "src-qpn", SRDMA_NL_FIELD_SRC_QPN },
	{ "imm", SRDMA_NL_FIELD_IMM },
	{ "inv-rkey", SRDMA_NL_FIELD_INV_RKEY },
	{ NULL, 0 }
};

const struct name verbs[] = {
	{ "open_device", SRDMA_NL_VERB_OPEN_DEVICE },
	{ "alloc_pd", SRDMA_NL_VERB_ALLOC_PD },
	{ "create_ah", SRDMA_NL_VERB_CREATE_AH },
	{ "create_cq", SRDMA_NL_VERB_CREATE_CQ },
	{ "resize_cq", SRDMA_NL_VERB_RESIZE_CQ },
	{ "create_srq", SRDMA_NL_VERB_CREATE_SRQ },
	{ "modify_srq", SRDMA_NL_VERB_MODIFY_SRQ },
	{ "create_qp", SRDMA_NL_VERB_CREATE_QP },
	{ "modify_qp_reset", SRDMA_NL_VERB_MODIFY_QP_RESET },
	{ "modify_qp_init", SRDMA_NL_VERB_MODIFY_QP_INIT },
	{ "modify_qp_rtr", SRDMA_NL_VERB_MODIFY_QP_RTR },
	{ "modify_qp_rts", SRDMA_NL_VERB_MODIFY_QP_RTS },
	{ "modify_qp_sqd", SRDMA_NL_VERB_MODIFY_QP_SQD },
	{ "modify_qp_sqe", SRDMA_NL_VERB_MODIFY_QP_SQE },
	{ "modify_qp_err", SRDMA_NL_VERB_MODIFY_QP_ERR },
	{ "modify_qp", SRDMA_NL_VERB_MODIFY_QP },
	{ "query_qp", SRDMA_NL_VERB_QUERY_QP },
	{ "reg_mr", SRDMA_NL_VERB_REG_MR },
	{ "rereg_mr", SRDMA_NL_VERB_REREG_MR },
	{ "alloc_mw", SRDMA_NL_VERB_ALLOC_MW },
	{ "attach_mcast", SRDMA_NL_VERB_ATTACH_MCAST },
	{ NULL, 0 }
};

const struct name nak_codes[] = {
	{ "sequence", 0 }, { "invalid-request", 1 }, { "access", 2 },
	{ "operation", 3 }, { "invalid-rd-request", 4 }, { NULL, 0 }
};

const struct name statuses[] = {
	{ "LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR },
	{ "LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR },
	{ "LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR },
	{ "WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR },
	{ "MW_BIND_ERR", IBV_WC_MW_BIND_ERR },
	{ "BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR },
	{ "LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR },
	{ "REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR },
	{ "REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR },
	{ "REM_OP_ERR", IBV_WC_REM_OP_ERR },
	{ "RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR },
	{ "RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR },
	{ "FATAL_ERR", IBV_WC_FATAL_ERR },
	{ NULL, 0 }
};

#define E(word)	{ #word, word }

const struct name errnos[] = {
	E(EPERM), E(EINTR), E(EIO), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT),
	E(EBUSY), E(ENODEV), E(EINVAL), E(ENOSPC), E(ENOSYS), E(EOPNOTSUPP),
	E(ENETUNREACH), E(EHOSTUNREACH), E(ETIMEDOUT), E(ECONNREFUSED),
	{ NULL, 0 }
};

/* As C has them, without a sign. */
bool read_number(const char *word, uint64_t *number)
{
	char *end;

	if (!word || !isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*number = strtoull(word, &end, 0);
	return !errno && !*end;
}

/* A number will do as well. */
bool find_number(const struct name *table, const char *word,
		 unsigned int *number)
{
	uint64_t value;

	for (; table->word; table++) {
		if (strcasecmp(table->word, word))
			continue;
		*number = table->number;
		return true;
	}
	if (!read_number(word, &value) || value > UINT_MAX)
		return false;
	*number = value;
	return true;
}

const char *find_word(const struct name *table, unsigned int number)
{
	for (; table->word; table++)
		if (table->number == number)
			return table->word;
	return NULL;
}

static bool match_one(const struct name *table, const char *pattern,
		      uint8_t ops[SRDMA_NL_OPS_BYTES])
{
	bool any = false;

	for (; table->word; table++) {
		if (fnmatch(pattern, table->word, FNM_CASEFOLD))
			continue;
		ops[table->number / 8] |= 1 << table->number % 8;
		any = true;
	}
	return any;
}

/* Adds those that shell patterns name; false when one of them names none. */
bool match_ops(const struct name *table, const char *patterns,
	       uint8_t ops[SRDMA_NL_OPS_BYTES])
{
	char *copy = strdup(patterns), *rest = copy, *pattern;
	bool good = copy;

	while (good && (pattern = strsep(&rest, ",")))
		good = match_one(table, pattern, ops);
	free(copy);
	return good;
}

/* What may stand there, for who has written something else. */
void say_words(const struct name *table, const char *what)
{
	const char *last = "";

	fprintf(stderr, "%s:", what);
	for (; table->word; table++) {
		if (strcasecmp(last, table->word))
			fprintf(stderr, " %s", table->word);
		last = table->word;
	}
	fprintf(stderr, "\n");
}
