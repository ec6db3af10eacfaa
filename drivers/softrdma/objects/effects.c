// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Records the effects of rules on a QP or a device.
 */
#include "objects/device.h"
#include "objects/effects.h"
#include "objects/qp.h"

static void cause_to_qp(struct srdma_qp *qp, bool receives, u8 action)
{
	set_bit(action - SRDMA_NL_ACT_QP_ERROR +
		(receives ? SRDMA_EFFECT_RECEIVES : 0), &qp->effects);
	srdma_engine_kick_later(&qp->send, SRDMA_EVENT_EFFECT);
}

static bool takes_port_down(u8 action)
{
	return action == SRDMA_NL_ACT_PORT_DOWN ||
	       action == SRDMA_NL_ACT_DEVICE_FATAL;
}

static void cause_to_dev(struct srdma_effects *effects,
			 const struct srdma_order *order)
{
	spin_lock_bh(&effects->lock);
	if (!effects->ended) {
		effects->due |= BIT(order->action - SRDMA_NL_ACT_PORT_DOWN);
		if (takes_port_down(order->action)) {
			effects->due &= ~SRDMA_EFFECT_UP;
			effects->down_for =
				order->action == SRDMA_NL_ACT_PORT_DOWN ?
					order->time : 0;
		}
		schedule_work(&effects->work);
	}
	spin_unlock_bh(&effects->lock);
}

/**
 * srdma_effects_cause - a rule has hit: leave word, if it is about more than what
 *	it has hit
 * @dev: device
 * @qp: QP that it has hit something of, with a reference; or NULL
 * @receives: what was hit was on its way to @qp
 * @order: what is to be done
 *
 * Return: false when it is about what was hit, and nothing else.
 */
bool srdma_effects_cause(struct srdma_dev *dev, struct srdma_qp *qp,
			 bool receives, const struct srdma_order *order)
{
	switch (order->action) {
	case SRDMA_NL_ACT_QP_ERROR:
	case SRDMA_NL_ACT_QP_FATAL:
	case SRDMA_NL_ACT_LAST_WQE:
	case SRDMA_NL_ACT_CQ_OVERRUN:
	case SRDMA_NL_ACT_CQ_ERROR:
	case SRDMA_NL_ACT_SRQ_ERROR:
		if (qp)
			cause_to_qp(qp, receives, order->action);
		return true;
	case SRDMA_NL_ACT_PORT_DOWN:
	case SRDMA_NL_ACT_PORT_UP:
	case SRDMA_NL_ACT_GID_CHANGE:
	case SRDMA_NL_ACT_DEVICE_FATAL:
	case SRDMA_NL_ACT_REMOVE:
		cause_to_dev(&dev->effects, order);
		return true;
	}
	return false;
}
