// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_modify_qp: which transitions there are, and which attributes each needs
 * and allows. The tables are typed from ibv_modify_qp(3) and from chapter 11.2.5
 * of the InfiniBand specification, not from any driver.
 */
#include "fixture.h"

#include <sys/wait.h>

#define STATES (IBV_QPS_ERR + 1)

FIXTURE(type)
{
	struct verbs_set set;
	struct ibv_qp *qp;
};

FIXTURE_VARIANT(type)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(type, rc) { .type = IBV_QPT_RC };
FIXTURE_VARIANT_ADD(type, uc) { .type = IBV_QPT_UC };
FIXTURE_VARIANT_ADD(type, ud) { .type = IBV_QPT_UD };

FIXTURE_SETUP(type)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->qp = verbs_qp(&self->set, variant->type);
	ASSERT_NE(NULL, self->qp);
}

FIXTURE_TEARDOWN(type)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static const char * const state_names[STATES] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

/* SQE is entered by an error only, so no row starts there. */
static const bool legal[STATES][STATES] = {
	[IBV_QPS_RESET] = { [IBV_QPS_RESET] = true, [IBV_QPS_INIT] = true },
	[IBV_QPS_INIT] = { [IBV_QPS_RESET] = true, [IBV_QPS_INIT] = true,
			   [IBV_QPS_RTR] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_RTR] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_ERR] = true },
	[IBV_QPS_RTS] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_SQD] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_SQD] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_SQD] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_ERR] = { [IBV_QPS_RESET] = true, [IBV_QPS_ERR] = true },
};

/* The specification lets any state fail; the kernel's table leaves this out. */
static bool is_disputed(int from, int to)
{
	return from == IBV_QPS_RESET && to == IBV_QPS_ERR;
}

static int modify(struct verbs_set *set, struct ibv_qp *qp,
		  enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr;

	verbs_attr(set, &attr, to, qp->qp_num);
	return ibv_modify_qp(qp, &attr, mask);
}

TEST_F(type, every_transition_is_as_specified)
{
	int from, to, mask, ret;

	for (from = 0; from < STATES; from++) {
		if (from == IBV_QPS_SQE)
			continue;
		for (to = 0; to < STATES; to++) {
			if (is_disputed(from, to))
				continue;
			ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, from,
						 self->qp->qp_num));
			mask = verbs_mask(variant->type, from, to);
			ret = modify(&self->set, self->qp, to, mask);
			EXPECT_EQ(legal[from][to] ? 0 : EINVAL, ret) {
				TH_LOG("%s to %s", state_names[from],
				       state_names[to]);
			}
			EXPECT_EQ(legal[from][to] ? to : from,
				  verbs_qp_state(self->qp));
		}
	}
}

/* Leave out each attribute in turn, and one that is not ours to give. */
static void lacking(struct __test_metadata *_metadata, struct verbs_set *set,
		    struct ibv_qp *qp, enum ibv_qp_state from,
		    enum ibv_qp_state to)
{
	int mask = verbs_mask(qp->qp_type, from, to) & ~IBV_QP_STATE;
	int bit;

	ASSERT_EQ(0, verbs_qp_to(set, qp, from, qp->qp_num));
	for (bit = 1; bit <= mask; bit <<= 1) {
		if (!(mask & bit))
			continue;
		EXPECT_EQ(EINVAL, modify(set, qp, to,
					 IBV_QP_STATE | (mask & ~bit))) {
			TH_LOG("%s to %s without attribute %#x",
			       state_names[from], state_names[to], bit);
		}
		EXPECT_EQ(from, verbs_qp_state(qp));
	}
	EXPECT_EQ(0, modify(set, qp, to, IBV_QP_STATE | mask));
}

TEST_F(type, each_required_attribute_is_required)
{
	lacking(_metadata, &self->set, self->qp, IBV_QPS_RESET, IBV_QPS_INIT);
	lacking(_metadata, &self->set, self->qp, IBV_QPS_INIT, IBV_QPS_RTR);
	lacking(_metadata, &self->set, self->qp, IBV_QPS_RTR, IBV_QPS_RTS);
}

/* What ibv_modify_qp(3) lists as optional, less alternate paths. */
static int optional_mask(enum ibv_qp_type type, int from, int to)
{
	int access = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	int rnr = type == IBV_QPT_RC ? IBV_QP_MIN_RNR_TIMER : 0;

	if (from == IBV_QPS_INIT && to == IBV_QPS_INIT)
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | access;
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		return IBV_QP_PKEY_INDEX | access;
	if ((from == IBV_QPS_RTR || from == IBV_QPS_RTS ||
	     from == IBV_QPS_SQD) && to == IBV_QPS_RTS)
		return IBV_QP_CUR_STATE | access | rnr;
	return 0;
}

TEST_F(type, optional_attributes_are_taken_together_and_alone)
{
	static const int steps[][2] = {
		{ IBV_QPS_INIT, IBV_QPS_INIT }, { IBV_QPS_INIT, IBV_QPS_RTR },
		{ IBV_QPS_RTR, IBV_QPS_RTS }, { IBV_QPS_RTS, IBV_QPS_RTS },
		{ IBV_QPS_SQD, IBV_QPS_RTS },
	};
	int from, to, bit, required, optional;
	struct ibv_qp_attr attr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		from = steps[i][0];
		to = steps[i][1];
		required = verbs_mask(variant->type, from, to);
		optional = optional_mask(variant->type, from, to);
		verbs_attr(&self->set, &attr, to, self->qp->qp_num);
		attr.cur_qp_state = from;
		for (bit = 1; bit <= optional; bit <<= 1) {
			if (!(optional & bit))
				continue;
			ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, from,
						 self->qp->qp_num));
			EXPECT_EQ(0, ibv_modify_qp(self->qp, &attr,
						   required | bit)) {
				TH_LOG("%s to %s with attribute %#x",
				       state_names[from], state_names[to],
				       bit);
			}
		}
		ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, from,
					 self->qp->qp_num));
		EXPECT_EQ(0, ibv_modify_qp(self->qp, &attr,
					   required | optional));
	}
}

TEST_F(type, foreign_attributes_are_refused)
{
	static const int steps[][3] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_SQ_PSN },
		{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_AV },
		{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_DEST_QPN },
		{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_SQ_PSN },
		{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_TIMEOUT },
		{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_PORT },
		{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_DEST_QPN },
		{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_RQ_PSN },
		{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_PATH_MTU },
		{ IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_AV },
		{ IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_SQ_PSN },
	};
	unsigned int i;
	int mask;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		mask = verbs_mask(variant->type, steps[i][0], steps[i][1]);
		ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, steps[i][0],
					 self->qp->qp_num));
		EXPECT_EQ(EINVAL, modify(&self->set, self->qp, steps[i][1],
					 mask | steps[i][2])) {
			TH_LOG("%s to %s with attribute %#x",
			       state_names[steps[i][0]],
			       state_names[steps[i][1]], steps[i][2]);
		}
	}
}

TEST_F(type, attributes_of_another_type_are_refused)
{
	int foreign = variant->type == IBV_QPT_UD ? IBV_QP_ACCESS_FLAGS :
						    IBV_QP_QKEY;
	int mask = verbs_mask(variant->type, IBV_QPS_RESET, IBV_QPS_INIT);

	EXPECT_EQ(EINVAL, modify(&self->set, self->qp, IBV_QPS_INIT,
				 mask | foreign));
	EXPECT_EQ(IBV_QPS_RESET, verbs_qp_state(self->qp));
}

TEST_F(type, wrong_current_state_is_refused)
{
	struct ibv_qp_attr attr;
	int mask;

	ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, IBV_QPS_RTR,
				 self->qp->qp_num));
	verbs_attr(&self->set, &attr, IBV_QPS_RTS, self->qp->qp_num);
	attr.cur_qp_state = IBV_QPS_INIT;
	mask = verbs_mask(variant->type, IBV_QPS_RTR, IBV_QPS_RTS);
	EXPECT_EQ(EINVAL, ibv_modify_qp(self->qp, &attr,
					mask | IBV_QP_CUR_STATE));
	EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));
}

TEST_F(type, port_and_pkey_index_are_checked)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	int mask = verbs_mask(variant->type, IBV_QPS_RESET, IBV_QPS_INIT);

	ASSERT_EQ(0, ibv_query_port(self->set.ctx, VERBS_PORT, &port));
	verbs_attr(&self->set, &attr, IBV_QPS_INIT, 0);
	attr.port_num = 2;
	EXPECT_EQ(EINVAL, ibv_modify_qp(self->qp, &attr, mask));
	attr.port_num = 0;
	EXPECT_EQ(EINVAL, ibv_modify_qp(self->qp, &attr, mask));
	attr.port_num = VERBS_PORT;
	attr.pkey_index = port.pkey_tbl_len;
	EXPECT_EQ(EINVAL, ibv_modify_qp(self->qp, &attr, mask));
	attr.pkey_index = 0;
	EXPECT_EQ(0, ibv_modify_qp(self->qp, &attr, mask));
}

/* The qp goes around all states often: nothing is used up by it. */
TEST_F(type, reset_and_reuse)
{
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, IBV_QPS_RTS,
					 self->qp->qp_num));
		ASSERT_EQ(0, modify(&self->set, self->qp, IBV_QPS_ERR,
				    IBV_QP_STATE));
	}
	EXPECT_EQ(0, modify(&self->set, self->qp, IBV_QPS_RESET,
			    IBV_QP_STATE));
	EXPECT_EQ(IBV_QPS_RESET, verbs_qp_state(self->qp));
}

/* One attribute out of its range, the others legal. */
#define BAD_VALUE(member, value, from, to)				\
do {									\
	struct ibv_qp_attr attr;					\
									\
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, from, qp->qp_num));	\
	verbs_attr(&self->set, &attr, to, qp->qp_num);			\
	attr.member = value;						\
	EXPECT_EQ(EINVAL, ibv_modify_qp(qp, &attr,			\
			verbs_mask(qp->qp_type, from, to))) {		\
		TH_LOG(#member " = " #value " was taken");		\
	}								\
} while (0)

TEST_F(dev, values_out_of_range_are_refused)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_device_attr device;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &device));
	BAD_VALUE(path_mtu, 0, IBV_QPS_INIT, IBV_QPS_RTR);
	BAD_VALUE(path_mtu, 6, IBV_QPS_INIT, IBV_QPS_RTR);
	BAD_VALUE(min_rnr_timer, 32, IBV_QPS_INIT, IBV_QPS_RTR);
	BAD_VALUE(ah_attr.port_num, 2, IBV_QPS_INIT, IBV_QPS_RTR);
	BAD_VALUE(ah_attr.is_global, 0, IBV_QPS_INIT, IBV_QPS_RTR);
	BAD_VALUE(timeout, 32, IBV_QPS_RTR, IBV_QPS_RTS);
	BAD_VALUE(retry_cnt, 8, IBV_QPS_RTR, IBV_QPS_RTS);
	BAD_VALUE(rnr_retry, 8, IBV_QPS_RTR, IBV_QPS_RTS);
	if (device.max_qp_rd_atom < 255)
		BAD_VALUE(max_dest_rd_atomic, device.max_qp_rd_atom + 1,
			  IBV_QPS_INIT, IBV_QPS_RTR);
	if (device.max_qp_init_rd_atom < 255)
		BAD_VALUE(max_rd_atomic, device.max_qp_init_rd_atom + 1,
			  IBV_QPS_RTR, IBV_QPS_RTS);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* The core answers for this one, and not with EINVAL in every kernel. */
TEST_F(dev, empty_gid_index_is_refused)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_attr attr;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
	attr.ah_attr.grh.sgid_index = 63;
	EXPECT_NE(0, ibv_modify_qp(qp, &attr,
				   verbs_mask(IBV_QPT_RC, IBV_QPS_INIT,
					      IBV_QPS_RTR)));
	EXPECT_EQ(IBV_QPS_INIT, verbs_qp_state(qp));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, path_mtu_above_the_port_is_refused)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	/* The netdev's MTU is 1500, so 1024 fits and 2048 does not. */
	BAD_VALUE(path_mtu, IBV_MTU_2048, IBV_QPS_INIT, IBV_QPS_RTR);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* To INIT with a Q_Key of those that have bit 31: 0 or errno. */
static int take_controlled_qkey(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = VERBS_PORT,
		.qkey = 0x80000001,
	};
	struct verbs_set set;
	struct ibv_qp *qp;
	int ret;

	if (verbs_open_set(&set, TOPO_LINK))
		return ENODEV;
	qp = verbs_qp(&set, IBV_QPT_UD);
	ret = qp ? ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_QKEY) : ENOMEM;
	if (qp)
		ibv_destroy_qp(qp);
	verbs_close_set(&set);
	return ret;
}

TEST_F(dev, controlled_qkey_is_not_for_everybody)
{
	int status;
	pid_t pid;

	EXPECT_EQ(0, take_controlled_qkey());
	ASSERT_EQ(0, topo_run("chmod a+rw /dev/infiniband/uverbs*"));
	pid = fork();
	if (!pid)
		_exit(setresuid(101, 101, 101) ? EIO : take_controlled_qkey());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
