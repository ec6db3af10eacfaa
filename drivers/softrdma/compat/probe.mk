# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What the headers of this kernel offer, where no macro or type shows it:
# $(call has,PATTERN,HEADER,NAME) defines NAME when HEADER matches PATTERN.

inc := $(srctree)/include
has = $(if $(shell grep -qE '$(1)' $(inc)/$(2) 2>/dev/null && echo y),-D$(3))

ccflags-y += $(call has,resize_user_cq,rdma/ib_verbs.h,SRDMA_HAVE_RESIZE_USER_CQ)
ccflags-y += $(call has,create_user_cq,rdma/ib_verbs.h,SRDMA_HAVE_CREATE_USER_CQ)
ccflags-y += $(call has,uverbs_robust_udata,rdma/ib_verbs.h,SRDMA_HAVE_ROBUST_UDATA)
ccflags-y += $(call has,_ib_alloc_device.*struct net ,rdma/ib_verbs.h,SRDMA_HAVE_ALLOC_DEVICE_WITH_NET)
ccflags-y += $(call has,ib_mark_name_assigned_by_user,rdma/ib_verbs.h,SRDMA_HAVE_MARK_NAME_USER)
ccflags-y += $(call has,ib_umem_get_va,rdma/ib_umem.h,SRDMA_HAVE_UMEM_GET_VA)
ccflags-y += $(call has,.,net/gso.h,SRDMA_HAVE_GSO_H)
ccflags-y += $(call has,int .\*confirm..struct sk_buff,linux/netfilter.h,SRDMA_HAVE_CT_CONFIRM)
ccflags-y += $(call has,hrtimer_setup,linux/hrtimer.h,SRDMA_HAVE_HRTIMER_SETUP)
ccflags-y += $(call has,roce_del_all_netdev_gids,rdma/ib_verbs.h,SRDMA_HAVE_DEL_NETDEV_GIDS)
ccflags-y += $(call has,genl_info_dump,net/genetlink.h,SRDMA_HAVE_GENL_INFO_DUMP)
ccflags-y += $(call has,WQ_PERCPU,linux/workqueue.h,SRDMA_HAVE_WQ_PERCPU)
ccflags-y += $(call has,IB_ACCESS_FLUSH_GLOBAL,rdma/ib_verbs.h,SRDMA_HAVE_FLUSH)
ccflags-y += $(call has,vm_flags_set.struct vm_area_struct,linux/mm.h,SRDMA_HAVE_VM_FLAGS_SET)
