/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Setup for the KUnit tests of trains: a message, and a sender whose packets
 * are examined and not sent.
 */
#ifndef SRDMA_TRAIN_WORLD_H
#define SRDMA_TRAIN_WORLD_H

#include <kunit/test.h>
#include <net/dst.h>

#include "objects/path.h"
#include "wire/train.h"
#include "wire/tx.h"

#define MESSAGE		SZ_128K
#define NO_FAULT	U32_MAX

/**
 * struct train_world - a sender whose packets are looked at and not sent
 * @payload: of the message; first, so that its operations find the rest
 * @ndev: interface that the path leads to
 * @dst: route that it has
 * @dev: device
 * @qp: queue pair
 * @path: its path
 * @hdr: headers
 * @burst: packets
 * @nth: which packet of its skb the first of @burst is
 * @tx: all of it
 * @builder: builds it
 * @message: what is sent
 * @wire: what became of it
 * @fault_at: offset in the message that cannot be had
 * @opens: how often the payload was walked over
 */
struct train_world {
	struct srdma_payload payload;
	struct net_device *ndev;
	struct dst_entry dst;
	struct srdma_dev *dev;
	struct srdma_qp *qp;
	struct srdma_path path;
	struct srdma_pkt hdr;
	struct srdma_burst burst;
	u32 nth;
	struct srdma_tx tx;
	struct srdma_builder builder;
	u8 *message;
	u8 wire[SRDMA_MTU_MAX + 256];
	u32 fault_at;
	u32 opens;
};

int srdma_train_world_init(struct kunit *test);
void srdma_train_world_exit(struct kunit *test);
void srdma_train_world_aim(struct train_world *w, bool is_v6);

#endif
