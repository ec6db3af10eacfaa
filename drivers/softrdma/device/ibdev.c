// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ib_device: its operations, its attributes, and its life from creation
 * to the core's last call.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "base/version.h"
#include "compat/compat.h"
#include "device/counters.h"
#include "device/gids.h"
#include "device/effects.h"
#include "device/ibdev.h"
#include "device/link.h"
#include "device/port_counters.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "posting/completion.h"
#include "posting/post.h"
#include "posting/srq.h"
#include "queues/ring.h"
#include "responder/drain.h"
#include "verbs/ah.h"
#include "verbs/cq.h"
#include "verbs/mcast.h"
#include "verbs/mr.h"
#include "verbs/mw.h"
#include "verbs/qp.h"
#include "verbs/srq.h"
#include "verbs/ucontext.h"
#include "wire/addresses.h"
#include "wire/netns.h"
#include "wire/tamper.h"

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	const struct srdma_bounds *bounds = &to_sdev(ib)->bounds;
	const u32 *most = bounds->objects;

	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.fw_ver = SRDMA_VERSION_WORDS,
		.sys_image_guid = ib->node_guid,
		/*
		 * No bound that anybody meets: adapters say this, and rtrs before 6.19
		 * counts its pages in 32 bits, of which it would find none.
		 */
		.max_mr_size = ~0ULL,
		/* A region may start at any multiple of a page. */
		.page_size_cap = ~(u64)(PAGE_SIZE - 1),
		.vendor_id = 0xffffff,
		.max_qp = most[SRDMA_OBJ_QP],
		.max_qp_wr = bounds->wr,
		.device_cap_flags = IB_DEVICE_CHANGE_PHY_PORT |
				    IB_DEVICE_UD_AV_PORT_ENFORCE |
				    IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    SRDMA_COMPAT_CAP_FLUSH |
				    SRDMA_COMPAT_CAP_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY |
				    IBK_ALLOW_USER_UNREG,
		.max_send_sge = SRDMA_MAX_SGE,
		.max_recv_sge = SRDMA_MAX_SGE,
		.max_sge_rd = SRDMA_MAX_SGE,
		.max_cq = most[SRDMA_OBJ_CQ],
		.max_cqe = bounds->cqe,
		.max_mr = most[SRDMA_OBJ_MR],
		.max_pd = most[SRDMA_OBJ_PD],
		.max_qp_rd_atom = SRDMA_MAX_RD_ATOMIC,
		.max_res_rd_atom = SRDMA_MAX_RD_ATOMIC * most[SRDMA_OBJ_QP],
		.max_qp_init_rd_atom = SRDMA_MAX_RD_ATOMIC,
		/*
		 * More is true: they are atomic to every CPU. But nearly every
		 * adapter says this, and programs look for nothing else (UCX
		 * 1.13 finds no atomics in a device that says GLOB).
		 */
		.atomic_cap = IB_ATOMIC_HCA,
		.max_mw = most[SRDMA_OBJ_MW],
		.max_mcast_grp = most[SRDMA_OBJ_MCAST],
		.max_mcast_qp_attach = SRDMA_MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach =
			most[SRDMA_OBJ_MCAST] * SRDMA_MAX_MCAST_QP_ATTACH,
		.max_ah = most[SRDMA_OBJ_AH],
		.max_srq = most[SRDMA_OBJ_SRQ],
		.max_srq_wr = bounds->wr,
		.max_srq_sge = SRDMA_MAX_SGE,
		.max_fast_reg_page_list_len = SRDMA_MAX_FRMR_PAGES,
		.max_pkeys = SRDMA_PKEY_TABLE_LEN,
		.local_ca_ack_delay = 15,
	};
	return 0;
}

/**
 * srdma_dev_path_mtu - the path MTU that an interface can carry
 * @ndev: the interface
 *
 * Return: the largest that fits with all headers, 256 bytes at least.
 */
enum ib_mtu srdma_dev_path_mtu(const struct net_device *ndev)
{
	/* The core takes off all headers; rdma_cm picks its MTU the same way. */
	return iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
}

bool srdma_dev_port_is_up(const struct srdma_dev *dev)
{
	return netif_running(dev->ndev) && netif_carrier_ok(dev->ndev) &&
	       !READ_ONCE(dev->rules.port_down);
}

/*
 * The core complains of each query of an interface that has no speed. One that is
 * being unregistered must not be asked: its driver may have freed what it needs.
 */
static bool has_speed(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings;
	int err = -ENODEV;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		err = __ethtool_get_link_ksettings(ndev, &settings);
	rtnl_unlock();
	return !err && settings.base.speed &&
	       settings.base.speed != (u32)SPEED_UNKNOWN;
}

/* That of the interface; of one that has none the 10 Gb/s that veth claims. */
static int query_speed(struct ib_device *ib, u32 port,
		       struct ib_port_attr *attr)
{
	if (has_speed(to_sdev(ib)->gid_ndev))
		return ib_get_eth_speed(ib, port, &attr->active_speed,
					&attr->active_width);
	attr->active_speed = IB_SPEED_FDR10;
	attr->active_width = IB_WIDTH_1X;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port,
		      struct ib_port_attr *attr)
{
	struct srdma_dev *dev = to_sdev(ib);
	bool up = srdma_dev_port_is_up(dev);

	/* The core has cleared it and set what it knows itself. */
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
		netif_running(dev->ndev) ? IB_PORT_PHYS_STATE_POLLING :
					   IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = READ_ONCE(dev->active_mtu);
	attr->phys_mtu = READ_ONCE(dev->ndev->mtu);
	attr->gid_tbl_len = SRDMA_GID_TABLE_LEN;
	attr->ip_gids = 1;
	attr->port_cap_flags = IB_UVERBS_PCF_CM_SUP |
			       IB_UVERBS_PCF_DEVICE_MGMT_SUP;
	attr->max_msg_sz = SRDMA_MAX_MESSAGE;
	attr->pkey_tbl_len = SRDMA_PKEY_TABLE_LEN;
	attr->max_vl_num = 1;
	return query_speed(ib, port, attr);
}

static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = SRDMA_PKEY_TABLE_LEN;
	immutable->gid_tbl_len = SRDMA_GID_TABLE_LEN;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= SRDMA_PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/*
 * The in-tree driver finds "its" devices by the interface given to
 * ib_device_set_netdev() and would take this one for its own: hence this.
 */
static struct net_device *get_netdev(struct ib_device *ib, u32 port)
{
	struct net_device *ndev = to_sdev(ib)->gid_ndev;

	/* An interface that is going must not get new users. */
	if (READ_ONCE(ndev->reg_state) != NETREG_REGISTERED)
		return NULL;
	dev_hold(ndev);
	return ndev;
}

static int modify_device(struct ib_device *ib, int mask,
			 struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ib->node_desc, attr->node_desc, sizeof(ib->node_desc));
	return 0;
}

static void get_fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, SRDMA_VERSION, IB_FW_VERSION_NAME_MAX);
}

static const struct ib_device_ops dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = SRDMA_ABI_VERSION,

	.query_device = query_device,
	.modify_device = modify_device,
	.get_dev_fw_str = get_fw_str,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.get_netdev = get_netdev,
	.query_pkey = query_pkey,
	.add_gid = srdma_addresses_add,
	.del_gid = srdma_addresses_del,
	.alloc_hw_port_stats = srdma_stats_alloc,
	.get_hw_stats = srdma_stats_get,
	.process_mad = srdma_port_counters_answer,
	.dealloc_driver = srdma_link_dealloc,

	.alloc_ucontext = srdma_ucontext_alloc,
	.dealloc_ucontext = srdma_ucontext_dealloc,
	.disassociate_ucontext = srdma_ucontext_disassociate,
	.mmap = srdma_ring_mmap,
	.mmap_free = srdma_ring_mmap_free,
	.alloc_pd = srdma_pd_alloc,
	.dealloc_pd = srdma_pd_dealloc,

	.create_ah = srdma_ah_create,
	.create_user_ah = srdma_ah_create,
	.modify_ah = srdma_ah_modify,
	.query_ah = srdma_ah_query,
	.destroy_ah = srdma_ah_destroy,

	.create_cq = _Generic(SRDMA_OP(create_cq),
		srdma_create_cq_udata_t: srdma_cq_create,
		default: srdma_cq_create_attrs),
#ifdef SRDMA_HAVE_CREATE_USER_CQ
	.create_user_cq = srdma_cq_create_attrs,
#endif
#ifdef SRDMA_HAVE_RESIZE_USER_CQ
	.resize_user_cq = srdma_cq_resize,
#else
	.resize_cq = srdma_cq_resize,
#endif
	.destroy_cq = srdma_cq_destroy,
	.poll_cq = srdma_cq_poll,
	.peek_cq = srdma_cq_peek,
	.req_notify_cq = srdma_cq_arm,

	.create_srq = srdma_srq_create,
	.modify_srq = srdma_srq_modify,
	.query_srq = srdma_srq_query,
	.destroy_srq = srdma_srq_destroy,
	.post_srq_recv = srdma_srq_post,

	.get_dma_mr = srdma_mr_get_dma,
	.reg_user_mr = _Generic(SRDMA_OP(reg_user_mr),
		srdma_reg_user_mr_t: srdma_mr_reg_user,
		default: srdma_mr_reg_user_dmah),
	.rereg_user_mr = srdma_mr_rereg_user,
	.alloc_mr = srdma_mr_alloc,
	.map_mr_sg = srdma_mr_map_sg,
	.dereg_mr = srdma_mr_dereg,
	.alloc_mw = srdma_mw_alloc,
	.dealloc_mw = srdma_mw_dealloc,

	.create_qp = srdma_qp_create,
	.modify_qp = srdma_qp_modify,
	.query_qp = srdma_qp_query,
	.destroy_qp = srdma_qp_destroy,
	.post_send = srdma_qp_post_send,
	.post_recv = srdma_qp_post_recv,
	.attach_mcast = srdma_mcast_attach,
	.detach_mcast = srdma_mcast_detach,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, srdma_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, srdma_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ah, srdma_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, srdma_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, srdma_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, srdma_mw_handle, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, srdma_qp_handle, ib),
};

/* May be called from any context. */
void srdma_dev_event(struct srdma_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = SRDMA_PORT,
		.event = type,
	};

	ib_dispatch_event(&event);
}

/* An interface without a MAC still gives its device an identity. */
static void set_node_guid(struct srdma_dev *dev)
{
	u8 mac[ETH_ALEN];

	if (dev->ndev->addr_len == ETH_ALEN &&
	    !is_zero_ether_addr(dev->ndev->dev_addr))
		ether_addr_copy(mac, dev->ndev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48((u8 *)&dev->ib.node_guid, mac);
}

static struct srdma_dev *create_in(struct net *net, struct net_device *ndev)
{
	struct srdma_dev *dev;
	int err = -ENOMEM;

	dev = srdma_compat_alloc_device(srdma_dev, ib, net);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->stats = alloc_percpu(struct srdma_stats);
	if (!dev->stats)
		goto err_dealloc;
	if (srdma_errors_init(&dev->errors))
		goto err_stats;
	dev->net = srdma_netns_get(net);
	if (IS_ERR(dev->net)) {
		err = PTR_ERR(dev->net);
		goto err_errors;
	}

	dev_hold(ndev);
	dev->ndev = ndev;
	dev->gid_ndev = is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
	INIT_LIST_HEAD(&dev->link_entry);
	srdma_gids_begin(dev);
	srdma_bounds_init(&dev->bounds);
	xa_init_flags(&dev->qp_numbers, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ |
		      XA_FLAGS_ACCOUNT);
	srdma_keys_init(&dev->keys);
	srdma_rules_init(&dev->rules);
	srdma_tamper_init(dev);
	srdma_dev_effects_init(dev);
	srdma_drain_init(&dev->drain);
	mutex_init(&dev->mcast_lock);
	hash_init(dev->mcast);
	dev->mcast_seed = get_random_u32();

	strscpy(dev->ib.node_desc, "softrdma", sizeof(dev->ib.node_desc));
	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = 1;
	dev->ib.num_comp_vectors = num_possible_cpus();
	dev->ib.local_dma_lkey = 0;
	dev->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				   BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	set_node_guid(dev);
	srdma_compat_name_by_user(&dev->ib);
	ib_set_device_ops(&dev->ib, &dev_ops);
	return dev;

err_errors:
	srdma_errors_uninit(&dev->errors);
err_stats:
	free_percpu(dev->stats);
err_dealloc:
	ib_dealloc_device(&dev->ib);
	return ERR_PTR(err);
}

/* It may move meanwhile, and the namespace go: then the link finds no place there. */
static struct net *get_net_of(const struct net_device *ndev)
{
	struct net *net;

	rcu_read_lock();
	net = maybe_get_net(dev_net(ndev));
	rcu_read_unlock();
	return net;
}

/**
 * srdma_dev_create - allocate a device, not yet visible
 * @ndev: interface it will be on
 *
 * Return: the device, or an error: -EADDRINUSE when the RoCE port is taken.
 */
struct srdma_dev *srdma_dev_create(struct net_device *ndev)
{
	struct net *net = get_net_of(ndev);
	struct srdma_dev *dev;

	if (!net)
		return ERR_PTR(-ENODEV);
	/* From then on the end of the namespace waits for the device. */
	dev = create_in(net, ndev);
	put_net(net);
	return dev;
}

/**
 * srdma_dev_destroy - undo srdma_dev_create()
 * @dev: device that the core has let go of, or that was never registered. Its
 *	memory is the core's to free.
 */
void srdma_dev_destroy(struct srdma_dev *dev)
{
	WARN_ON_ONCE(!xa_empty(&dev->qp_numbers));
	WARN_ON_ONCE(!xa_empty(&dev->ahs));
	WARN_ON_ONCE(!hash_empty(dev->mcast));
	srdma_drain_uninit(&dev->drain);
	srdma_tamper_uninit(dev);
	srdma_netns_leave(dev->net);
	/*
	 * A packet that found the device by an address may still look at its
	 * interface, and be counted.
	 */
	synchronize_rcu();
	srdma_rules_uninit(&dev->rules);
	srdma_errors_uninit(&dev->errors);
	dev_put(dev->ndev);
	srdma_table_free(&dev->qps);
	srdma_keys_uninit(&dev->keys);
	free_percpu(dev->stats);
	/* Last: nobody else waits for what is above, nor for us to leave this code. */
	srdma_netns_put(dev->net);
}

int srdma_dev_register(struct srdma_dev *dev, const char *name)
{
	return ib_register_device(&dev->ib, name, NULL);
}
