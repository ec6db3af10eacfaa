/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Effects of rules on single packets (observe/rule.h).
 */
#ifndef SRDMA_TAMPER_H
#define SRDMA_TAMPER_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>

#include "observe/rule.h"

struct srdma_dev;
struct srdma_qp;

/**
 * typedef srdma_forward_t - sends a frame on, as if nothing had happened
 * @dev: device
 * @frame: consumed; what @dev's rules think of it has been asked
 */
typedef void (*srdma_forward_t)(struct srdma_dev *dev, struct sk_buff *frame);

void srdma_tamper(struct srdma_dev *dev, enum srdma_nl_point point,
		  struct srdma_qp *sender, struct sk_buff_head *frames,
		  srdma_forward_t forward);
bool srdma_tamper_burst(struct srdma_qp *qp, const struct in6_addr *peer,
			u8 opcode, u32 psn, u8 *action);

void srdma_tamper_init(struct srdma_dev *dev);
void srdma_tamper_uninit(struct srdma_dev *dev);

#endif
