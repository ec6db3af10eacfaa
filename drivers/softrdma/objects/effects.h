/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Effects of rules on a QP, its queues or its device. They are recorded where
 * the rule matches, and executed later where that is allowed.
 */
#ifndef SRDMA_EFFECTS_H
#define SRDMA_EFFECTS_H

#include <linux/bits.h>
#include <linux/types.h>

struct srdma_dev;
struct srdma_order;
struct srdma_qp;

/*
 * Bits of struct srdma_qp.effects: for each action from SRDMA_NL_ACT_QP_ERROR on
 * one that is about what the QP sends, and one about what it receives.
 */
#define SRDMA_EFFECT_RECEIVES	8

/* Bit of struct srdma_effects.due: the port is to come up. */
#define SRDMA_EFFECT_UP \
	BIT(SRDMA_NL_ACT_PORT_UP - SRDMA_NL_ACT_PORT_DOWN)

bool srdma_effects_cause(struct srdma_dev *dev, struct srdma_qp *qp,
			 bool receives, const struct srdma_order *order);

#endif
