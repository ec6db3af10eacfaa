/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between kernels in generic netlink.
 */
#ifndef SRDMA_COMPAT_GENL_H
#define SRDMA_COMPAT_GENL_H

#include <net/genetlink.h>

/* The family of a request that a dump answers. */
static inline const struct genl_family *
srdma_compat_dump_family(struct netlink_callback *cb)
{
#ifdef SRDMA_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->family;
#else
	return genl_dumpit_info(cb)->family;
#endif
}

/* The attributes of the request that a dump answers. */
static inline struct nlattr **srdma_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef SRDMA_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
