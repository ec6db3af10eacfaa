/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The path from an engine to a peer: looked up once, and kept while it is
 * valid.
 */
#ifndef SRDMA_WIRE_PATH_H
#define SRDMA_WIRE_PATH_H

#include "objects/path.h"

struct srdma_burst;
struct srdma_dev;

void srdma_path_init(struct srdma_path *path);
int srdma_path_find(struct srdma_path *path, struct srdma_dev *dev,
		    const struct srdma_av *av);
int srdma_path_to_peer(struct srdma_path *path, struct srdma_dev *dev,
		       const struct srdma_av *av);
bool srdma_path_is_to(const struct srdma_path *path, const struct srdma_av *av);
void srdma_path_fill(struct srdma_path *path);
void srdma_path_drop(struct srdma_path *path);
void srdma_path_heard(struct srdma_path *path, u32 psn, u32 after);
u32 srdma_path_train(struct srdma_path *path, const struct srdma_burst *burst,
		     u32 packet_len);

#endif
