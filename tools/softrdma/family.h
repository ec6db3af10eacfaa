/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The generic netlink family of the driver.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include <libmnl/libmnl.h>

int family_open(void);
void family_close(void);

struct nlmsghdr *family_request(void *buf, int cmd, int flags);
int family_wait(int timeout_ms);
int family_put_link(struct nlmsghdr *nlh, const char *link);
int family_talk(struct nlmsghdr *request, mnl_cb_t heard, void *data);

#endif
