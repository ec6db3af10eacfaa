/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A capture file, pcap or pcapng, in memory: frames one after another. */
#ifndef HOST_CAPTURE_FILE_H
#define HOST_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Interfaces that a pcapng file may describe. */
#define CAPTURE_LINKS	64

/**
 * struct capture - a file, and how far it was read
 * @data: the file
 * @len: bytes of it
 * @at: where the next record begins
 * @frames: how many were read, of whatever kind
 * @is_ng: pcapng
 * @swapped: written by a machine of the other byte order
 * @links: link types by interface; pcap has one
 * @count: how many
 */
struct capture {
	const uint8_t *data;
	size_t len;
	size_t at;
	unsigned long frames;
	bool is_ng;
	bool swapped;
	uint32_t links[CAPTURE_LINKS];
	uint32_t count;
};

/**
 * struct capture_packet - an IP packet in it
 * @ip: from the IP header on
 * @len: bytes that there are
 */
struct capture_packet {
	const uint8_t *ip;
	size_t len;
};

enum capture_next {
	CAPTURE_PACKET,		/* an IP packet */
	CAPTURE_OTHER,		/* a frame that is none */
	CAPTURE_END,		/* there is no more */
	CAPTURE_BROKEN,		/* this is no such file, from here on */
};

bool capture_open(struct capture *c, const uint8_t *data, size_t len);
enum capture_next capture_next(struct capture *c, struct capture_packet *p);

#endif
