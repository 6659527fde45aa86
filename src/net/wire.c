/* SPDX-License-Identifier: MIT */
#include "net/wire.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/util.h"

/* Fields of the second 32-bit word of an IPv4 header, and of the last 16 bits of the first half of a fragment header. */
#define IPV4_DF 0x4000
#define IPV4_MF 0x2000
#define IPV6_MF 1

static unsigned char *put16(unsigned char *to, unsigned value)
{
	to[0] = (unsigned char)(value >> 8);
	to[1] = (unsigned char)value;
	return to + 2;
}

static unsigned char *put32(unsigned char *to, uint32_t value)
{
	return put16(put16(to, value >> 16), value & 0xffff);
}

static unsigned char *put(unsigned char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static size_t address_size(int family)
{
	return family == AF_INET ? 4 : 16;
}

static void take_address(unsigned char *to, const struct addr *from)
{
	if (from->sa.sa_family == AF_INET)
		memcpy(to, &from->in.sin_addr, 4);
	else
		memcpy(to, &from->in6.sin6_addr, 16);
}

void wire_addresses(struct wire_ip *ip, const struct addr *src, const struct addr *dst)
{
	ip->family = dst->sa.sa_family;
	take_address(ip->src, src);
	take_address(ip->dst, dst);
}

uint64_t wire_sum(uint64_t sum, const void *data, size_t size)
{
	const unsigned char *at = data;
	uint32_t word;

	/* Words in the order of this machine: RFC 1071, 2 (B). 2^32 of them fit into the sum. */
	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, at, size);
	return sum + word;
}

uint16_t wire_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

size_t wire_ip_size(int family, const struct wire_part *part)
{
	if (family == AF_INET)
		return WIRE_IPV4;
	return WIRE_IPV6 + (wire_is_fragment(part) ? WIRE_FRAGMENT : 0);
}

static size_t put_ipv4(unsigned char *to, const struct wire_ip *ip, const struct wire_part *part)
{
	unsigned char *at = put16(to, 0x4500u | ip->tos); /* version 4, five words */
	uint16_t check;

	at = put16(at, WIRE_IPV4 + part->len);
	at = put16(at, ip->id & 0xffff);
	at = put16(at, (ip->df ? IPV4_DF : 0) | (part->more ? IPV4_MF : 0) | part->offset / 8u);
	at = put16(at, (unsigned)ip->ttl << 8 | IPPROTO_UDP);
	at = put16(at, 0);
	at = put(at, ip->src, 4);
	put(at, ip->dst, 4);
	check = wire_fold(wire_sum(0, to, WIRE_IPV4));
	memcpy(to + 10, &check, sizeof(check));
	return WIRE_IPV4;
}

static size_t put_ipv6(unsigned char *to, const struct wire_ip *ip, const struct wire_part *part)
{
	bool fragment = wire_is_fragment(part);
	unsigned char *at = put32(to, 6u << 28 | (uint32_t)ip->tos << 20);

	at = put16(at, part->len + (fragment ? WIRE_FRAGMENT : 0));
	at = put16(at, (unsigned)(fragment ? IPPROTO_FRAGMENT : IPPROTO_UDP) << 8 | ip->ttl);
	at = put(at, ip->src, 16);
	at = put(at, ip->dst, 16);
	if (!fragment)
		return WIRE_IPV6;
	at = put16(at, IPPROTO_UDP << 8);
	at = put16(at, part->offset | (part->more ? IPV6_MF : 0));
	put32(at, ip->id);
	return WIRE_IPV6 + WIRE_FRAGMENT;
}

size_t wire_put_ip(void *to, const struct wire_ip *ip, const struct wire_part *part)
{
	return ip->family == AF_INET ? put_ipv4(to, ip, part) : put_ipv6(to, ip, part);
}

void wire_put_udp(void *to, uint16_t src, uint16_t dst, uint16_t len, uint16_t check)
{
	unsigned char *at = put16(put16(put16(to, src), dst), len);

	memcpy(at, &check, sizeof(check));
}

uint16_t wire_udp_check(const struct wire_ip *ip, uint16_t src, uint16_t dst, const void *payload, size_t size)
{
	/* The length stands in the pseudo-header and in the header, as 16 bits or with zeros before them: the sum is the same for both families. */
	const uint16_t words[] = { htons(IPPROTO_UDP), htons((uint16_t)(size + WIRE_UDP)), htons(src), htons(dst),
				   htons((uint16_t)(size + WIRE_UDP)) };
	uint64_t sum = wire_sum(0, ip->src, address_size(ip->family));
	uint16_t check;

	sum = wire_sum(sum, ip->dst, address_size(ip->family));
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		sum = wire_sum(sum, &words[i], sizeof(words[i]));
	check = wire_fold(wire_sum(sum, payload, size));
	return check ? check : 0xffff; /* RFC 768 */
}

struct wire_part wire_part(size_t total, unsigned each, unsigned i)
{
	size_t offset = (size_t)i * each;

	return (struct wire_part){ .offset = (uint16_t)offset, .len = (uint16_t)MIN(each, total - offset), .more = total - offset > each };
}
