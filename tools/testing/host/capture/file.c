// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capture files: pcap of either byte order and clock, and pcapng. Nothing in them
 * is believed: each length is held against what there is.
 */
#include "capture/file.h"

#define PCAP_HEADER	24
#define PCAP_RECORD	16
#define NG_SECTION	0x0a0d0d0au
#define NG_INTERFACE	1
#define NG_SIMPLE	3
#define NG_PACKET	6
#define NG_LEAST	12

static const uint32_t pcap_magics[] = { 0xa1b2c3d4, 0xa1b23c4d };

/* Link types, by their numbers of tcpdump.org/linktypes.html. */
enum link_type {
	LINK_ETHERNET = 1,
	LINK_RAW_BSD = 12,
	LINK_RAW = 101,
	LINK_SLL = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_SLL2 = 276,
};

static uint32_t get32(const struct capture *c, size_t at)
{
	const uint8_t *p = c->data + at;

	if (c->swapped)
		return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

static uint16_t get16(const struct capture *c, size_t at)
{
	const uint8_t *p = c->data + at;

	return c->swapped ? p[0] << 8 | p[1] : p[1] << 8 | p[0];
}

static bool has(const struct capture *c, size_t bytes)
{
	return bytes <= c->len - c->at;
}

static bool open_pcap(struct capture *c)
{
	unsigned int i, j;

	for (i = 0; i < 2; i++) {
		c->swapped = i;
		for (j = 0; j < 2; j++) {
			if (get32(c, 0) != pcap_magics[j])
				continue;
			/* The upper half says how long a check sequence is. */
			c->links[0] = get32(c, 20) & 0xffff;
			c->count = 1;
			c->at = PCAP_HEADER;
			return true;
		}
	}
	return false;
}

/**
 * capture_open - begin to read a file
 * @c: filled
 * @data: the file, which stays
 * @len: bytes of it
 *
 * Return: false when it is neither kind of file.
 */
bool capture_open(struct capture *c, const uint8_t *data, size_t len)
{
	*c = (struct capture) { .data = data, .len = len };
	if (len < PCAP_HEADER)
		return false;
	c->is_ng = get32(c, 0) == NG_SECTION;
	return c->is_ng || open_pcap(c);
}

/* ---- what a frame begins with ---- */

static bool is_ip(uint32_t type)
{
	return type == 0x0800 || type == 0x86dd;
}

static bool is_tag(uint32_t type)
{
	return type == 0x8100 || type == 0x88a8;
}

/* The IP packet behind a header of @skip bytes with its type at @type_at. */
static bool behind(struct capture_packet *p, size_t type_at, size_t skip)
{
	uint32_t type;

	for (;;) {
		if (p->len < skip || p->len < type_at + 2)
			return false;
		type = p->ip[type_at] << 8 | p->ip[type_at + 1];
		if (!is_tag(type))
			break;
		type_at = skip + 2;
		skip += 4;
	}
	p->ip += skip;
	p->len -= skip;
	return is_ip(type);
}

static enum capture_next find_ip(uint32_t link, struct capture_packet *p)
{
	bool found = false;

	switch (link) {
	case LINK_ETHERNET:
		found = behind(p, 12, 14);
		break;
	case LINK_SLL:
		found = behind(p, 14, 16);
		break;
	case LINK_SLL2:
		found = behind(p, 0, 20);
		break;
	case LINK_RAW_BSD:
	case LINK_RAW:
	case LINK_IPV4:
	case LINK_IPV6:
		found = true;
		break;
	}
	return found && p->len ? CAPTURE_PACKET : CAPTURE_OTHER;
}

/* ---- records ---- */

static enum capture_next next_pcap(struct capture *c, struct capture_packet *p)
{
	uint32_t kept;

	if (c->at == c->len)
		return CAPTURE_END;
	if (!has(c, PCAP_RECORD))
		return CAPTURE_BROKEN;
	kept = get32(c, c->at + 8);
	c->at += PCAP_RECORD;
	if (!has(c, kept))
		return CAPTURE_BROKEN;
	p->ip = c->data + c->at;
	p->len = kept;
	c->at += kept;
	c->frames++;
	return find_ip(c->links[0], p);
}

/* A section may be of another byte order than the one before. */
static bool begin_section(struct capture *c)
{
	if (!has(c, 28))
		return false;
	c->count = 0;
	c->swapped = c->data[c->at + 8] == 0x1a;
	return get32(c, c->at + 8) == 0x1a2b3c4d;
}

/* @len: of the block at @c->at, all of which is there. */
static enum capture_next take_block(struct capture *c, uint32_t type,
				    uint32_t len, struct capture_packet *p)
{
	size_t body = c->at + 8;
	uint32_t link, kept;

	if (type == NG_INTERFACE && len >= 20) {
		if (c->count < CAPTURE_LINKS)
			c->links[c->count++] = get16(c, body);
		return CAPTURE_OTHER;
	}
	if (type == NG_PACKET && len >= 32) {
		link = get32(c, body);
		kept = get32(c, body + 12);
		if (link >= c->count || kept > len - 32)
			return CAPTURE_BROKEN;
		p->ip = c->data + body + 20;
	} else if (type == NG_SIMPLE && len >= 16 && c->count) {
		link = 0;
		kept = get32(c, body);
		if (kept > len - 16)
			kept = len - 16;
		p->ip = c->data + body + 4;
	} else {
		return CAPTURE_OTHER;
	}
	p->len = kept;
	c->frames++;
	return find_ip(c->links[link], p);
}

static enum capture_next next_ng(struct capture *c, struct capture_packet *p)
{
	enum capture_next what;
	uint32_t type, len;

	if (c->at == c->len)
		return CAPTURE_END;
	if (!has(c, NG_LEAST))
		return CAPTURE_BROKEN;
	type = get32(c, c->at);
	if (type == NG_SECTION && !begin_section(c))
		return CAPTURE_BROKEN;
	len = get32(c, c->at + 4);
	if (len < NG_LEAST || len % 4 || !has(c, len))
		return CAPTURE_BROKEN;
	what = take_block(c, type, len, p);
	c->at += len;
	return what;
}

/**
 * capture_next - the next frame, or block, of a file
 * @c: the file
 * @p: filled for CAPTURE_PACKET
 */
enum capture_next capture_next(struct capture *c, struct capture_packet *p)
{
	return c->is_ng ? next_ng(c, p) : next_pcap(c, p);
}
