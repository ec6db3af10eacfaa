// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that work requests register and invalidate. */
#include "consumer.h"

static void end_mr(void *arg)
{
	ib_dereg_mr(arg);
}

static int mr_new(struct end *e, u32 blocks, struct ib_mr **mr)
{
	*mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, blocks);
	if (IS_ERR(*mr))
		return FAIL(e->w, "no MR: %ld", PTR_ERR(*mr));
	return world_own(e->w, end_mr, *mr);
}

static int reg(struct end *e, struct ib_mr *mr, int access,
	       enum ib_wc_status status)
{
	struct req *req = req_new(e->w);
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	CHECK(e->w, req);
	wr.wr.wr_cqe = &req->cqe;
	TRY(post_list(e, &wr.wr));
	TRY(req_expect(e->w, req, status));
	if (status == IB_WC_SUCCESS)
		CHECK_EQ(e->w, IB_WC_REG_MR, req->wc.opcode);
	return 0;
}

static int invalidate(struct end *e, u32 key, enum ib_wc_status status)
{
	struct req *req = req_new(e->w);
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	CHECK(e->w, req);
	wr.wr_cqe = &req->cqe;
	TRY(post_list(e, &wr));
	TRY(req_expect(e->w, req, status));
	if (status == IB_WC_SUCCESS)
		CHECK_EQ(e->w, IB_WC_LOCAL_INV, req->wc.opcode);
	return 0;
}

static int write_to(struct world *w, struct buf *from, u32 len, u64 to,
		    u32 rkey, enum ib_wc_status status)
{
	struct ib_sge sge = buf_sge(from, 0, len);
	struct req *req = req_new(w);

	TRY(post_rdma(&w->a, req, IB_WR_RDMA_WRITE, &sge, 1, to, rkey));
	return req_expect(w, req, status);
}

static int read_from(struct world *w, struct buf *to, u32 len, u64 from,
		     u32 rkey, enum ib_wc_status status)
{
	struct ib_sge sge = buf_sge(to, 0, len);
	struct req *req = req_new(w);

	TRY(post_rdma(&w->a, req, IB_WR_RDMA_READ, &sge, 1, from, rkey));
	return req_expect(w, req, status);
}

/* Registers @p of b from byte @skip on in blocks of @block bytes. */
static int map_pages(struct world *w, struct ib_mr *mr, struct pages *p,
		     u32 skip, u32 block)
{
	unsigned int offset = skip;

	CHECK_EQ(w, p->nents, ib_map_mr_sg(mr, p->sgt.sgl, p->nents, &offset,
					   block));
	CHECK_EQ(w, block, mr->page_size);
	CHECK_EQ(w, p->nents * (PAGE_SIZE << p->order) - skip, mr->length);
	return 0;
}

static int each_block_size(struct world *w)
{
	static const struct {
		unsigned int order;
		u32 nents;
		u32 skip;
	} cases[] = {
		{ 0, 1, 0 }, { 0, 16, 0 }, { 0, 16, 1 }, { 0, 16, 4095 },
		{ 1, 8, 0 }, { 1, 8, 5000 }, { 4, 3, 0 }, { 4, 3, 65535 },
		{ 8, 1, 0 }, { 8, 1, 777 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 block = PAGE_SIZE << cases[i].order;
		u32 len = cases[i].nents * block - cases[i].skip;
		struct buf *here = buf_new(&w->a, len);
		struct pages *p;
		struct ib_mr *mr;

		p = pages_new(&w->b, cases[i].nents, cases[i].order);
		CHECK(w, here && p);
		TRY(mr_new(&w->b, cases[i].nents, &mr));
		TRY(map_pages(w, mr, p, cases[i].skip, block));
		TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));

		buf_fill(here, 0, len, i);
		TRY(write_to(w, here, len, mr->iova, mr->rkey, IB_WC_SUCCESS));
		TRY(pages_expect(w, p, cases[i].skip, len, i));
		memset(here->va, 0, len);
		TRY(read_from(w, here, len, mr->iova, mr->rkey,
			      IB_WC_SUCCESS));
		TRY(buf_expect(w, here, 0, len, i));
	}
	return 0;
}

/* Large pieces may also be registered in small blocks. */
static int small_blocks_of_large_pieces(struct world *w)
{
	struct pages *p = pages_new(&w->b, 2, 3);
	struct buf *here = buf_new(&w->a, 65536 - 100);
	struct ib_mr *mr;

	CHECK(w, here && p);
	TRY(mr_new(&w->b, 16, &mr));
	TRY(map_pages(w, mr, p, 100, SZ_4K));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	buf_fill(here, 0, 65536 - 100, 5);
	TRY(write_to(w, here, 65536 - 100, mr->iova, mr->rkey, IB_WC_SUCCESS));
	return pages_expect(w, p, 100, 65536 - 100, 5);
}

/* More than it has room for is mapped as far as it goes. */
static int more_than_fits(struct world *w)
{
	struct pages *p = pages_new(&w->b, 16, 0);
	struct ib_mr *mr;

	CHECK(w, p);
	TRY(mr_new(&w->b, 4, &mr));
	CHECK_EQ(w, 4, ib_map_mr_sg(mr, p->sgt.sgl, 16, NULL, SZ_4K));
	CHECK_EQ(w, 4 * SZ_4K, mr->length);
	return 0;
}

/* The address that peers use is the consumer's to choose. */
static int chosen_iova(struct world *w)
{
	static const u64 iovas[] = { 0, 0x1000, 0x123456789000ULL,
				     0xffffffffffff0000ULL - SZ_64K };
	struct pages *p = pages_new(&w->b, 8, 0);
	struct buf *here = buf_new(&w->a, SZ_32K);
	int i;

	CHECK(w, here && p);
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		u32 skip = i * 11, len = SZ_32K - skip;
		struct ib_mr *mr;

		TRY(mr_new(&w->b, 8, &mr));
		TRY(map_pages(w, mr, p, skip, SZ_4K));
		mr->iova = iovas[i] + skip;
		TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
		buf_fill(here, 0, len, i);
		TRY(write_to(w, here, len, mr->iova, mr->rkey, IB_WC_SUCCESS));
		TRY(pages_expect(w, p, skip, len, i));
		/* Its middle. */
		memset(here->va, 0, SZ_32K);
		TRY(read_from(w, here, 100, mr->iova + 4500, mr->rkey,
			      IB_WC_SUCCESS));
		CHECK_EQ(w, 0, memcmp(here->va, (u8 *)page_address(
			sg_page(&p->sgt.sgl[(4500 + skip) / SZ_4K])) +
			(4500 + skip) % SZ_4K, 100));
	}
	return 0;
}

/* Two QPs of each end would tell the same; one tells it after a reconnect. */
static int revive(struct world *w)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	CHECK_EQ(w, 0, ib_modify_qp(w->a.qp, &attr, IB_QP_STATE));
	CHECK_EQ(w, 0, ib_modify_qp(w->b.qp, &attr, IB_QP_STATE));
	TRY(end_qp_connect(&w->a, w->a.qp, &w->b, w->b.qp->qp_num, false));
	return end_qp_connect(&w->b, w->b.qp, &w->a, w->a.qp->qp_num, false);
}

static int bounds_and_access(struct world *w)
{
	static const struct {
		int access;
		s32 at;
		u32 len;
		bool write;
		bool ok;
	} cases[] = {
		{ ALL_ACCESS, 0, SZ_16K, true, true },
		{ ALL_ACCESS, 0, SZ_16K + 1, true, false },
		{ ALL_ACCESS, -1, 1, true, false },
		{ ALL_ACCESS, SZ_16K, 1, false, false },
		{ ALL_ACCESS, SZ_16K - 1, 1, false, true },
		{ IB_ACCESS_REMOTE_READ, 0, 100, false, true },
		{ IB_ACCESS_REMOTE_READ, 0, 100, true, false },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, 0, 100, true,
		  true },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, 0, 100, false,
		  false },
		{ IB_ACCESS_LOCAL_WRITE, 0, 1, true, false },
		{ 0, 0, 1, false, false },
	};
	struct buf *here = buf_new(&w->a, SZ_32K);
	struct pages *p = pages_new(&w->b, 4, 0);
	struct ib_mr *mr;
	int i;

	CHECK(w, here && p);
	TRY(mr_new(&w->b, 4, &mr));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		enum ib_wc_status status = IB_WC_REM_ACCESS_ERR;

		if (cases[i].ok)
			status = IB_WC_SUCCESS;
		ib_update_fast_reg_key(mr, i);
		TRY(map_pages(w, mr, p, 0, SZ_4K));
		TRY(reg(&w->b, mr, cases[i].access, IB_WC_SUCCESS));
		if (cases[i].write)
			TRY(write_to(w, here, cases[i].len,
				     mr->iova + cases[i].at, mr->rkey, status));
		else
			TRY(read_from(w, here, cases[i].len,
				      mr->iova + cases[i].at, mr->rkey, status));
		if (!cases[i].ok)
			TRY(revive(w));
		TRY(invalidate(&w->b, mr->rkey, IB_WC_SUCCESS));
	}
	return 0;
}

/* Every key once round; the one before is refused. */
static int each_key(struct world *w)
{
	struct buf *here = buf_new(&w->a, 64);
	struct pages *p = pages_new(&w->b, 1, 0);
	struct ib_mr *mr;
	u32 before;
	int i;

	CHECK(w, here && p);
	TRY(mr_new(&w->b, 1, &mr));
	for (i = 0; i < 260; i++) {
		before = mr->rkey;
		ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
		CHECK_EQ(w, before >> 8, mr->rkey >> 8);
		CHECK_EQ(w, (before + 1) & 0xff, mr->rkey & 0xff);
		CHECK_EQ(w, mr->rkey, mr->lkey);
		TRY(map_pages(w, mr, p, 0, SZ_4K));
		TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
		buf_fill(here, 0, 64, i);
		TRY(write_to(w, here, 64, mr->iova, mr->rkey, IB_WC_SUCCESS));
		TRY(pages_expect(w, p, 0, 64, i));
		if (i % 65 == 0) {
			TRY(write_to(w, here, 64, mr->iova, before,
				     IB_WC_REM_ACCESS_ERR));
			TRY(revive(w));
		}
		TRY(invalidate(&w->b, mr->rkey, IB_WC_SUCCESS));
	}
	return 0;
}

/* An index that is not the region's own, a region that is valid, bad flags. */
static int bad_registrations(struct world *w)
{
	struct pages *p = pages_new(&w->b, 1, 0);
	struct ib_mr *mr, *other;
	u32 key;

	CHECK(w, p);
	TRY(mr_new(&w->b, 1, &mr));
	TRY(mr_new(&w->b, 1, &other));
	TRY(map_pages(w, mr, p, 0, SZ_4K));
	key = mr->rkey;
	mr->rkey = other->rkey;
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_MW_BIND_ERR));
	mr->rkey = key;
	TRY(revive(w));
	TRY(reg(&w->b, mr, IB_ACCESS_REMOTE_WRITE, IB_WC_MW_BIND_ERR));
	TRY(revive(w));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_MW_BIND_ERR));
	TRY(revive(w));
	/* What was valid before still is. */
	TRY(invalidate(&w->b, mr->rkey ^ 1, IB_WC_MW_BIND_ERR));
	TRY(revive(w));
	TRY(invalidate(&w->b, mr->rkey, IB_WC_SUCCESS));
	TRY(invalidate(&w->b, mr->rkey, IB_WC_MW_BIND_ERR));
	TRY(revive(w));
	return exchange(w, 1000, 1);
}

static int invalidated_locally(struct world *w)
{
	struct buf *here = buf_new(&w->a, SZ_4K);
	struct pages *p = pages_new(&w->b, 1, 0);
	struct ib_mr *mr;

	CHECK(w, here && p);
	TRY(mr_new(&w->b, 1, &mr));
	TRY(map_pages(w, mr, p, 0, SZ_4K));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	TRY(invalidate(&w->b, mr->rkey, IB_WC_SUCCESS));
	buf_fill(here, 0, SZ_4K, 1);
	TRY(write_to(w, here, SZ_4K, mr->iova, mr->rkey, IB_WC_REM_ACCESS_ERR));
	CHECK(w, !memchr_inv(page_address(sg_page(p->sgt.sgl)), 0, SZ_4K));
	TRY(revive(w));
	TRY(read_from(w, here, 1, mr->iova, mr->rkey, IB_WC_REM_ACCESS_ERR));
	TRY(revive(w));
	/* Registered as it was mapped, it serves again. */
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	TRY(write_to(w, here, SZ_4K, mr->iova, mr->rkey, IB_WC_SUCCESS));
	return pages_expect(w, p, 0, SZ_4K, 1);
}

static int send_with_inv(struct end *e, struct req *req, u32 key)
{
	struct ib_send_wr wr = {
		.wr_cqe = req ? &req->cqe : NULL,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	CHECK(e->w, req);
	return post_list(e, &wr);
}

static int invalidated_by_peer(struct world *w)
{
	struct buf *here = buf_new(&w->a, SZ_4K);
	struct pages *p = pages_new(&w->b, 1, 0);
	struct req *got = req_new(w), *sent = req_new(w);
	struct ib_mr *mr;

	CHECK(w, here && p);
	TRY(mr_new(&w->b, 1, &mr));
	TRY(map_pages(w, mr, p, 0, SZ_4K));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	TRY(post_recv(&w->b, got, NULL, 0));
	TRY(send_with_inv(&w->a, sent, mr->rkey));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_RECV, got->wc.opcode);
	CHECK_EQ(w, IB_WC_WITH_INVALIDATE, got->wc.wc_flags);
	CHECK_EQ(w, mr->rkey, got->wc.ex.invalidate_rkey);
	TRY(write_to(w, here, 1, mr->iova, mr->rkey, IB_WC_REM_ACCESS_ERR));
	TRY(revive(w));

	/* A key that is not valid cannot be invalidated. */
	TRY(post_recv(&w->b, got, NULL, 0));
	TRY(send_with_inv(&w->a, sent, mr->rkey));
	TRY(req_wait(w, sent));
	CHECK(w, sent->wc.status == IB_WC_REM_ACCESS_ERR ||
		 sent->wc.status == IB_WC_REM_OP_ERR ||
		 sent->wc.status == IB_WC_REM_INV_REQ_ERR);
	TRY(req_wait(w, got));
	CHECK(w, got->wc.status != IB_WC_SUCCESS);
	TRY(revive(w));

	/* Nor one that gives peers no right. */
	TRY(reg(&w->b, mr, IB_ACCESS_LOCAL_WRITE, IB_WC_SUCCESS));
	TRY(post_recv(&w->b, got, NULL, 0));
	TRY(send_with_inv(&w->a, sent, mr->rkey));
	TRY(req_wait(w, sent));
	CHECK(w, sent->wc.status != IB_WC_SUCCESS);
	TRY(req_wait(w, got));
	CHECK(w, got->wc.status != IB_WC_SUCCESS);
	TRY(revive(w));
	return invalidate(&w->b, mr->rkey, IB_WC_SUCCESS);
}

/*
 * What storage does for each I/O: register, ask, be served, be told, with the
 * registration and the request in one list.
 */
static int io_cycle(struct world *w)
{
	struct buf *data = buf_new(&w->a, SZ_32K);
	struct pages *p = pages_new(&w->b, 8, 0);
	struct req *asked = req_new(w), *told = req_new(w), *heard = req_new(w);
	struct req *served = req_new(w), *ended = req_new(w);
	struct ib_sge sge;
	struct ib_mr *mr;
	int i;

	CHECK(w, data && p && asked && told && heard && served && ended);
	TRY(mr_new(&w->b, 8, &mr));
	sge = buf_sge(data, 0, SZ_32K);
	for (i = 0; i < 100; i++) {
		struct ib_send_wr ask = {
			.wr_cqe = &asked->cqe,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		};
		struct ib_reg_wr wr = {
			.wr.opcode = IB_WR_REG_MR,
			.wr.next = &ask,
			.mr = mr,
			.access = ALL_ACCESS,
		};

		ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
		TRY(map_pages(w, mr, p, 0, SZ_4K));
		wr.key = mr->rkey;
		wr.wr.wr_cqe = &ended->cqe;
		buf_fill(data, 0, SZ_32K, i);
		TRY(post_recv(&w->a, heard, NULL, 0));
		TRY(post_recv(&w->b, told, NULL, 0));
		TRY(post_list(&w->b, &wr.wr));
		TRY(req_expect(w, heard, IB_WC_SUCCESS));
		/* The answer follows the data on its heels. */
		TRY(post_rdma(&w->a, served, IB_WR_RDMA_WRITE, &sge, 1,
			      mr->iova, mr->rkey));
		TRY(send_with_inv(&w->a, served, mr->rkey));
		TRY(req_expect(w, told, IB_WC_SUCCESS));
		CHECK_EQ(w, mr->rkey, told->wc.ex.invalidate_rkey);
		TRY(pages_expect(w, p, 0, SZ_32K, i));
		TRY(req_expect(w, asked, IB_WC_SUCCESS));
		TRY(req_expect(w, served, IB_WC_SUCCESS));
		TRY(req_expect(w, served, IB_WC_SUCCESS));
	}
	CHECK_EQ(w, 0, atomic_read(&ended->times));
	return 0;
}

/* Registered memory as local memory of a request, by its lkey. */
static int as_local_memory(struct world *w)
{
	struct pages *p = pages_new(&w->a, 4, 0);
	struct buf *to = buf_new(&w->b, SZ_16K);
	struct req *got = req_new(w), *sent = req_new(w);
	struct ib_sge sge, to_sge;
	struct ib_mr *mr;

	CHECK(w, p && to);
	TRY(mr_new(&w->a, 4, &mr));
	TRY(map_pages(w, mr, p, 0, SZ_4K));
	TRY(reg(&w->a, mr, IB_ACCESS_LOCAL_WRITE, IB_WC_SUCCESS));
	pages_fill(p, 0, SZ_16K, 4);
	sge = (struct ib_sge) { mr->iova, SZ_16K, mr->lkey };
	to_sge = buf_sge(to, 0, SZ_16K);
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_send(&w->a, sent, &sge, 1, 0));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(buf_expect(w, to, 0, SZ_16K, 4));
	TRY(invalidate(&w->a, mr->lkey, IB_WC_SUCCESS));
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_send(&w->a, sent, &sge, 1, 0));
	return req_expect(w, sent, IB_WC_LOC_PROT_ERR);
}

static int atomics(struct world *w)
{
	struct pages *p = pages_new(&w->b, 1, 0);
	struct buf *old = buf_new(&w->a, 8);
	struct req *req = req_new(w);
	struct ib_atomic_wr wr;
	struct ib_sge sge;
	struct ib_mr *mr;
	u64 *word;

	CHECK(w, p && old && req);
	TRY(mr_new(&w->b, 1, &mr));
	TRY(map_pages(w, mr, p, 0, SZ_4K));
	TRY(reg(&w->b, mr, ALL_ACCESS, IB_WC_SUCCESS));
	word = page_address(sg_page(p->sgt.sgl)) + 16;
	sge = buf_sge(old, 0, 8);
	wr = (struct ib_atomic_wr) {
		.wr.wr_cqe = &req->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = mr->iova + 16,
		.rkey = mr->rkey,
		.compare_add = 5,
	};
	*word = 37;
	TRY(post_list(&w->a, &wr.wr));
	TRY(req_expect(w, req, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_FETCH_ADD, req->wc.opcode);
	CHECK_EQ(w, 37, *(u64 *)old->va);
	CHECK_EQ(w, 42, *word);

	wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	wr.compare_add = 42;
	wr.swap = 7;
	TRY(post_list(&w->a, &wr.wr));
	TRY(req_expect(w, req, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_COMP_SWAP, req->wc.opcode);
	CHECK_EQ(w, 42, *(u64 *)old->va);
	CHECK_EQ(w, 7, *word);
	return 0;
}

#define RC	.how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ }

const struct test frwr_tests[] = {
	{ "frwr__each_block_size", each_block_size, RC },
	{ "frwr__small_blocks_of_large_pieces", small_blocks_of_large_pieces,
	  RC },
	{ "frwr__more_than_fits", more_than_fits, RC },
	{ "frwr__chosen_iova", chosen_iova, RC },
	{ "frwr__bounds_and_access", bounds_and_access, RC },
	{ "frwr__each_key", each_key, RC },
	{ "frwr__bad_registrations", bad_registrations, RC },
	{ "frwr__invalidated_locally", invalidated_locally, RC },
	{ "frwr__invalidated_by_peer", invalidated_by_peer, RC },
	{ "frwr__io_cycle", io_cycle, RC },
	{ "frwr__atomics", atomics, RC },
	{ "frwr__as_local_memory", as_local_memory, RC },
	{}
};
