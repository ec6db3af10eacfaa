/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Network topology of a test program: its own namespace, netdevs and links. */
#ifndef SRT_TOPO_H
#define SRT_TOPO_H

#include <stdbool.h>

/* The link every test program makes, and what it stands on. */
#define TOPO_LINK	"srt0"
#define TOPO_NETDEV	"srtd0"
#define TOPO_IPV4	"10.77.0.1"
#define TOPO_IPV6	"fd77::1"

/* "softrdma", or what SRT_TYPE says (rxe, to try a test against). */
const char *topo_type(void);

/* Enter a network namespace of our own, with lo up and /sys of it. 0, -errno. */
int topo_enter_netns(void);

/*
 * The whole of it: namespace, TOPO_NETDEV (a dummy with both addresses), and
 * TOPO_LINK on it. What an earlier program left behind is removed first.
 */
int topo_setup(void);
void topo_teardown(void);

/* TOPO_LINK, made again after a test took it away. */
int topo_link_add(const char *name, const char *netdev);

/* "ip" or "tc" with the given batch lines; 0, or -1 with its complaint on stderr. */
int topo_ip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int topo_tc(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A command, by a shell if it takes one (program.h); its exit status. */
int topo_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The module of ../kernel, which is beside the driver's or where modprobe finds it,
 * and the device by which it is told what to do.
 */
#define TOPO_CONSUMER	"/dev/srt_consumer"
int topo_load_consumer(void);

/* Writes text to a file that is there, of /sys or so. 0 or -errno. */
int topo_put(const char *path, const char *text);

/* Netdev settings without exec; 0 or -errno. */
int topo_set_up(const char *netdev, bool up);
int topo_set_mtu(const char *netdev, int mtu);
int topo_set_name(const char *netdev, const char *name);

/* "ethtool -K", by the kernel's name of the feature. 0 or -errno. */
int topo_set_feature(const char *netdev, const char *name, bool on);

/* Does the device exist, as libibverbs would see it? */
bool topo_link_exists(const char *name);

/* Wait until a device is there, or is gone. 0, or -ETIMEDOUT. */
int topo_wait_link(const char *name, bool there, int timeout_ms);

/* Monotonic milliseconds. */
long topo_now_ms(void);

#endif
