/* SPDX-License-Identifier: MIT */
/*
 * wire - IPv4, IPv6 and UDP headers in memory, their checksums, and how a datagram is cut into fragments.
 *
 * RFC 791 (IPv4), RFC 8200 (IPv6, its fragment header and pseudo-header), RFC 768 (UDP), RFC 1071 (the checksum). Pure functions, any thread.
 */
#ifndef NET_WIRE_H
#define NET_WIRE_H

#include "net/addr.h"

/* Bytes of headers. */
#define WIRE_IPV4 20
#define WIRE_IPV6 40
#define WIRE_FRAGMENT 8 /* IPv6 only, in fragments */
#define WIRE_UDP 8
#define WIRE_IP_MOST (WIRE_IPV6 + WIRE_FRAGMENT)

/* What an IP header says. */
struct wire_ip {
	int family;               /* AF_INET, AF_INET6 */
	unsigned char src[16], dst[16]; /* network order; IPv4 in the first four */
	uint8_t tos, ttl;
	bool df;                  /* IPv4 */
	uint32_t id;              /* IPv4: the lower 16 bits; IPv6: in fragments only */
};

/* A run of the bytes that IP carries. */
struct wire_part {
	uint16_t offset, len;     /* offset: a multiple of 8 */
	bool more;                /* others follow */
};

static inline bool wire_is_fragment(const struct wire_part *part)
{
	return part->offset || part->more;
}

/* Bytes of UDP payload in a part: the first one has the UDP header too. */
static inline unsigned wire_payload(const struct wire_part *part)
{
	if (part->offset)
		return part->len;
	return part->len > WIRE_UDP ? part->len - WIRE_UDP : 0;
}

/* Both of one family. */
void wire_addresses(struct wire_ip *ip, const struct addr *src, const struct addr *dst);

/* Bytes that wire_put_ip writes. */
size_t wire_ip_size(int family, const struct wire_part *part);

/* The header of a packet that carries this part of a UDP datagram, with the checksum of IPv4. Returns its bytes. */
size_t wire_put_ip(void *to, const struct wire_ip *ip, const struct wire_part *part);

/* len: header and payload. check: as it lies in memory (wire_udp_check). */
void wire_put_udp(void *to, uint16_t src, uint16_t dst, uint16_t len, uint16_t check);

/* The checksum of a datagram with this payload, as it lies in memory; never 0, which means that there is none. */
uint16_t wire_udp_check(const struct wire_ip *ip, uint16_t src, uint16_t dst, const void *payload, size_t size);

/* RFC 1071: adds data to a sum that begins with 0. Whatever is added before the last piece has an even length. */
uint64_t wire_sum(uint64_t sum, const void *data, size_t size);

/* The complement of the folded sum, as it lies in memory. */
uint16_t wire_fold(uint64_t sum);

/* Fragments of `each` bytes (a multiple of 8) that `total` bytes make; 1: it stays whole. */
static inline unsigned wire_parts(size_t total, unsigned each)
{
	return total > each ? (unsigned)((total + each - 1) / each) : 1;
}

/* Number i of them. */
struct wire_part wire_part(size_t total, unsigned each, unsigned i);

#endif
