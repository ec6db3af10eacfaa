// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The work request decoder on arbitrary slots and limits. Slot and result
 * lie in blocks of their exact size, so that a byte too far is noticed.
 */
#include "fuzz.h"
#include "proto/wire.h"
#include "queues/wqe.h"

static void check_send(struct srdma_wqe *wqe,
		       const struct srdma_wqe_limits *lim)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(wqe->msg.op);
	uint64_t sum = 0;
	uint32_t i;

	CHECK(info && wqe->msg.op < SRDMA_WR_USER_NR);
	CHECK(srdma_wr_may_post(lim->qpt, wqe->msg.op));
	CHECK(!(wqe->msg.flags & ~SRDMA_MSG_DRAIN & ~info->wr_flags));
	CHECK(wqe->msg.len <= SRDMA_MSG_MAX);
	CHECK(!wqe->msg.npsn && !wqe->msg.done && !wqe->msg.answered);
	if (wqe->is_inline) {
		CHECK(info->wr_flags & SRDMA_WR_INLINE);
		CHECK(wqe->msg.len <= lim->max_inline ||
		      wqe->msg.op == SRDMA_WR_ATOMIC_WRITE);
		CHECK(!wqe->num_sge);
		return;
	}
	CHECK(wqe->num_sge <= lim->max_sge);
	for (i = 0; i < wqe->num_sge; i++)
		sum += wqe->sge[i].length;
	if (info->flags & SRDMA_WRI_ATOMIC)
		CHECK(wqe->msg.len == 8 && sum >= 8);
	else if (wqe->msg.op != SRDMA_WR_FLUSH)
		CHECK(wqe->msg.len == sum);
}

static void fuzz_send(const uint8_t *slot, uint32_t size,
		      const struct srdma_wqe_limits *lim)
{
	struct srdma_wqe *wqe = malloc(srdma_wqe_size(lim));
	enum srdma_wqe_why why;
	uint64_t wr_id;

	CHECK(wqe);
	why = srdma_wqe_decode(wqe, slot, size, lim);
	CHECK(why < SRDMA_WQE_NR);
	memcpy(&wr_id, slot, sizeof(wr_id));
	CHECK(wqe->wr_id == wr_id);
	CHECK((srdma_wqe_status(why) == SRDMA_ST_OK) == (why == SRDMA_WQE_OK));
	if (why == SRDMA_WQE_OK)
		check_send(wqe, lim);
	free(wqe);
}

static void fuzz_recv(const uint8_t *slot, uint32_t size, uint32_t max_sge)
{
	struct srdma_rwqe *rwqe = malloc(srdma_rwqe_size(max_sge));
	uint64_t sum = 0;
	uint32_t i;

	CHECK(rwqe);
	if (srdma_rwqe_decode(rwqe, slot, size, max_sge) == SRDMA_WQE_OK) {
		CHECK(rwqe->num_sge <= max_sge);
		for (i = 0; i < rwqe->num_sge; i++)
			sum += rwqe->sge[i].length;
		CHECK(rwqe->length == sum);
	}
	free(rwqe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct srdma_wqe_limits lim = {
		.qpt = in_u8(&in) % SRDMA_QPT_NR,
		.max_sge = in_u8(&in) % 33,
		.max_inline = in_u16(&in) % 1025,
	};
	uint32_t slot_size = 256u << in_u8(&in) % 3;
	uint8_t *slot = calloc(1, slot_size);

	CHECK(slot);
	memcpy(slot, in.p, in.left < slot_size ? in.left : slot_size);
	fuzz_send(slot, slot_size, &lim);
	fuzz_recv(slot, slot_size >> 2, lim.max_sge);
	free(slot);
	return 0;
}
