/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Operations of the peer on our memory.
 */
#ifndef SRDMA_REMOTE_H
#define SRDMA_REMOTE_H

#include "responder/request.h"

enum srdma_outcome srdma_remote_read(struct srdma_request *r);
enum srdma_outcome srdma_remote_atomic(struct srdma_request *r);
enum srdma_outcome srdma_remote_atomic_write(struct srdma_request *r);
enum srdma_outcome srdma_remote_flush(struct srdma_request *r);

#endif
