/* SPDX-License-Identifier: MIT */
/* control - control buffers written by hand, and what the parser makes of them. After <cmocka.h>. */
#ifndef TESTS_CONTROL_H
#define TESTS_CONTROL_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "net/cmsg.h"

/* A control buffer under construction. */
struct buffer {
	_Alignas(struct cmsghdr) unsigned char bytes[512];
	size_t used;
};

static inline void put(struct buffer *b, int level, int type, const void *data, size_t len)
{
	assert_true(cmsg_put(b->bytes, sizeof(b->bytes), &b->used, level, type, data, len));
}

/* Parses a copy in a heap block of just the right size, so that a sanitizer sees each byte read behind it. */
static inline struct cmsg_info parse(const void *bytes, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct cmsg_info info;

	memcpy(copy, bytes, len);
	cmsg_parse(copy, len, &info);
	free(copy);
	return info;
}

static inline struct cmsg_info parse_one(int level, int type, const void *data, size_t len)
{
	struct buffer b = { .used = 0 };

	put(&b, level, type, data, len);
	return parse(b.bytes, b.used);
}

static inline struct in6_addr in6(const char *text)
{
	struct in6_addr ip;

	assert_int_equal(inet_pton(AF_INET6, text, &ip), 1);
	return ip;
}

static inline struct in_pktinfo pktinfo4(int ifindex, const char *spec_dst, const char *dst)
{
	struct in_pktinfo p = { .ipi_ifindex = ifindex };

	inet_pton(AF_INET, spec_dst, &p.ipi_spec_dst);
	inet_pton(AF_INET, dst, &p.ipi_addr);
	return p;
}

#endif
