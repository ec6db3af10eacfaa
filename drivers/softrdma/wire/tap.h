/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Captures of what is looped: packet sockets on a link's interface are shown the
 * frames that it would have been.
 */
#ifndef SRDMA_TAP_H
#define SRDMA_TAP_H

#include <linux/skbuff.h>

struct srdma_dev;
struct srdma_tx;

bool srdma_tap_listens(struct srdma_dev *dev);
void srdma_tap_show_burst(const struct srdma_tx *tx, const struct sk_buff *skb);
void srdma_tap_show_frame(struct srdma_dev *dev, const struct sk_buff *frame);

#endif
