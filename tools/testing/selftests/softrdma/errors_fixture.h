/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program about requests that fail: the link of fixture.h,
 * and for each test two ends on it (fixture "errors") that the test connects.
 */
#ifndef SRT_ERRORS_FIXTURE_H
#define SRT_ERRORS_FIXTURE_H

#include "fixture.h"

#include <rdma/softrdma-errors.h>

#include "duo.h"
#include "errlog.h"
#include "rules.h"

FIXTURE(errors)
{
	struct verbs_set set;
	struct duo duo;
	struct duo_end *tx;
	struct duo_end *rx;
};

FIXTURE_SETUP(errors)
{
	memset(&self->duo, 0, sizeof(self->duo));
	self->tx = &self->duo.end[0];
	self->rx = &self->duo.end[1];
	ASSERT_EQ(0, rules_flush(TOPO_LINK));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(errors)
{
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* The request just posted fails so, and the log says @words of it. */
#define FAILS(status, code, words)					\
	do {								\
		EXPECT_TRUE(errlog_completes(self->tx->send_cq,		\
					     IBV_WC_##status,		\
					     SRDMA_ERR_##code));	\
		EXPECT_TRUE(errlog_says(TOPO_LINK, self->tx->qp->qp_num, \
					SRDMA_ERR_##code, words));	\
	} while (0)

#endif
