/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A packet socket, as a program that captures has one. */
#ifndef SRT_TAP_H
#define SRT_TAP_H

#include "wire.h"

/**
 * struct tap_seen - a frame that was captured
 * @frame: its bytes; the IP header is at WIRE_IP whether there is one before it
 *	or not
 * @mac_len: bytes of that
 * @vlan: VLAN of the tag that it had, beside its bytes or among them, or 0
 * @outgoing: it is said to be sent, not received
 */
struct tap_seen {
	struct wire_frame frame;
	size_t mac_len;
	unsigned int vlan;
	bool outgoing;
};

/* On an interface, or with NULL on all of the namespace. A descriptor, -errno. */
int tap_open(const char *netdev);

/* The next RoCE frame that is there; @has_mac: as the interface has it. */
bool tap_next(int fd, bool has_mac, struct tap_seen *seen);

#endif
