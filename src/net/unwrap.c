/* SPDX-License-Identifier: MIT */
#include "net/unwrap.h"

#include <stdbool.h>

#include "base/util.h"
#include "net/wire.h"

const char *const unwrap_name[UNWRAP_N] = { "udp", "not_udp", "fragments", "cut", "bad" };

/* A stretch of the frame: `size` bytes of it were captured, `wire` there were. */
struct view {
	const unsigned char *data;
	size_t size, wire;
};

static unsigned get16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* The first n bytes go. False when they were not all captured. */
static bool skip(struct view *v, size_t n)
{
	if (n > v->size)
		return false;
	v->data += n;
	v->size -= n;
	v->wire -= MIN(n, v->wire);
	return true;
}

/* What follows the first n bytes is padding. False when there are not so many. */
static bool limit(struct view *v, size_t n)
{
	if (n > v->wire)
		return false;
	v->wire = n;
	v->size = MIN(v->size, n);
	return true;
}

/* Link header and VLAN tags go. type_at: where the EtherType is; SIZE_MAX: there is none. */
static enum unwrap skip_link(struct view *v, size_t header, size_t type_at)
{
	unsigned type;

	if (v->size < header)
		return UNWRAP_CUT;
	if (type_at == SIZE_MAX)
		return skip(v, header) ? UNWRAP_UDP : UNWRAP_CUT;
	type = get16(v->data + type_at);
	skip(v, header);
	while (type == 0x8100 || type == 0x88a8 || type == 0x9100) {
		if (v->size < 4)
			return UNWRAP_CUT;
		type = get16(v->data + 2);
		skip(v, 4);
	}
	return type == 0x0800 || type == 0x86dd ? UNWRAP_UDP : UNWRAP_OTHER;
}

static enum unwrap skip_ipv4(struct view *v)
{
	size_t header, total;
	bool fragment;

	if (v->size < WIRE_IPV4)
		return UNWRAP_CUT;
	header = 4 * (size_t)(v->data[0] & 15);
	total = get16(v->data + 2);
	fragment = get16(v->data + 6) & 0x3fff; /* more fragments, or an offset */
	if (v->data[9] != 17)
		return UNWRAP_OTHER;
	if (header < WIRE_IPV4 || (total && (total < header || !limit(v, total))))
		return UNWRAP_BAD;
	if (fragment)
		return UNWRAP_FRAGMENT;
	return skip(v, header) ? UNWRAP_UDP : UNWRAP_CUT;
}

/* Bytes of an extension header that can be passed over, from its first two; 0: what follows is not known. */
static size_t extension(unsigned kind, const unsigned char *p)
{
	switch (kind) {
	case 0:  /* hop-by-hop options */
	case 43: /* routing */
	case 60: /* destination options */
		return 8 * ((size_t)p[1] + 1);
	case 44: /* fragment */
		return WIRE_FRAGMENT;
	case 51: /* authentication: in units of four, less two */
		return 4 * ((size_t)p[1] + 2);
	default:
		return 0;
	}
}

static enum unwrap skip_ipv6(struct view *v)
{
	unsigned kind, payload;
	bool fragment = false;

	if (v->size < WIRE_IPV6)
		return UNWRAP_CUT;
	payload = get16(v->data + 4);
	kind = v->data[6];
	skip(v, WIRE_IPV6);
	if (payload && !limit(v, payload))
		return UNWRAP_BAD;
	while (kind != 17) {
		size_t size = v->size >= 8 ? extension(kind, v->data) : 0;

		if (!size)
			return v->size < 8 && v->size < v->wire ? UNWRAP_CUT : UNWRAP_OTHER;
		if (kind == 44 && get16(v->data + 2) & 0xfff9)
			fragment = true;
		kind = v->data[0];
		if (fragment)
			return kind == 17 ? UNWRAP_FRAGMENT : UNWRAP_OTHER;
		if (!skip(v, size))
			return UNWRAP_CUT;
	}
	return UNWRAP_UDP;
}

static enum unwrap skip_udp(struct view *v, struct unwrap_payload *out)
{
	size_t length;

	if (v->size < WIRE_UDP)
		return v->wire < WIRE_UDP ? UNWRAP_BAD : UNWRAP_CUT;
	length = get16(v->data + 4);
	if (length && (length < WIRE_UDP || !limit(v, length)))
		return UNWRAP_BAD;
	if (v->size < v->wire)
		return UNWRAP_CUT;
	skip(v, WIRE_UDP);
	*out = (struct unwrap_payload){ v->data, v->size };
	return UNWRAP_UDP;
}

enum unwrap unwrap_udp(enum unwrap_link link, const void *frame, size_t captured, size_t wire, struct unwrap_payload *out)
{
	static const struct {
		size_t header, type_at;
	} links[] = {
		[UNWRAP_ETHERNET] = { 14, 12 }, [UNWRAP_IP] = { 0, SIZE_MAX }, [UNWRAP_SLL] = { 16, 14 },
		[UNWRAP_SLL2] = { 20, 0 },	[UNWRAP_NULL] = { 4, SIZE_MAX },
	};
	struct view v = { frame, MIN(captured, wire), wire };
	enum unwrap result = skip_link(&v, links[link].header, links[link].type_at);

	if (result != UNWRAP_UDP)
		return result;
	if (!v.size)
		return UNWRAP_CUT;
	switch (v.data[0] >> 4) {
	case 4:
		result = skip_ipv4(&v);
		break;
	case 6:
		result = skip_ipv6(&v);
		break;
	default:
		return UNWRAP_OTHER;
	}
	return result == UNWRAP_UDP ? skip_udp(&v, out) : result;
}
