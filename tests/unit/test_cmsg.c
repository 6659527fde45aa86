/* SPDX-License-Identifier: MIT */
/* Control messages as received: widths, layouts and hostile buffers. What the kernel really delivers is tested in
 * test_sock_family.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netinet/udp.h>

#include "base/util.h"
#include "control.h"

/* Numbers of include/uapi/asm-generic/socket.h: what arrives, whatever names the C library has for them. */
enum {
	STAMP_OLD = 29,
	STAMPNS_OLD = 35,
	STAMPING_OLD = 37,
	STAMP_NEW = 63,
	STAMPNS_NEW = 64,
	STAMPING_NEW = 65
};
enum { GRO = 104 };

/* R09: the kernel sends both pktinfo messages for an IPv4 packet on a dual-stack socket; the room is for all at
 * once. */
static void test_space(void **state)
{
	const unsigned all = CMSG_WANT_PKTINFO | CMSG_WANT_TTL | CMSG_WANT_TOS | CMSG_WANT_DROPS |
			     CMSG_WANT_STAMP | CMSG_WANT_GRO;
	const size_t p4 = CMSG_SPACE(sizeof(struct in_pktinfo)),
		     p6 = CMSG_SPACE(sizeof(struct in6_pktinfo));
	size_t sum = 0;

	(void)state;
	assert_int_equal(cmsg_space(0, AF_INET, false), 0);
	assert_int_equal(cmsg_space(0, AF_INET6, true), 0);
	assert_int_equal(cmsg_space(CMSG_WANT_PKTINFO, AF_INET, false), p4);
	assert_int_equal(cmsg_space(CMSG_WANT_PKTINFO, AF_INET6, false), p6);
	assert_int_equal(cmsg_space(CMSG_WANT_PKTINFO, AF_INET6, true), p4 + p6);
	assert_true(cmsg_space(CMSG_WANT_STAMP, AF_INET, false) >= CMSG_SPACE(48));
	for (unsigned bit = 1; bit <= CMSG_WANT_GRO; bit <<= 1)
		sum += cmsg_space(bit, AF_INET6, true);
	assert_int_equal(cmsg_space(all, AF_INET6, true), sum);
}

static void test_pktinfo(void **state)
{
	struct in_pktinfo four = pktinfo4(3, "127.0.0.1", "127.255.255.255");
	struct in6_pktinfo six = { .ipi6_addr = in6("2001:db8::7"), .ipi6_ifindex = 4 };
	struct in6_addr dst = in6("::ffff:127.255.255.255");
	struct cmsg_info info = parse_one(IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));

	(void)state;
	assert_int_equal(info.valid, CMSG_WANT_PKTINFO);
	assert_int_equal(info.family, AF_INET);
	assert_int_equal(info.ifindex, 3);
	assert_memory_equal(&info.dst, &dst, sizeof(dst));
	assert_int_equal(info.spec_dst.s_addr, htonl(INADDR_LOOPBACK));

	info = parse_one(IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
	assert_int_equal(info.valid, CMSG_WANT_PKTINFO);
	assert_int_equal(info.family, AF_INET6);
	assert_int_equal(info.ifindex, 4);
	assert_memory_equal(&info.dst, &six.ipi6_addr, sizeof(six.ipi6_addr));
}

/* R10: both messages of one IPv4 packet, in either order: the family is the packet's. */
static void test_pktinfo_both(void **state)
{
	struct in_pktinfo four = pktinfo4(1, "127.0.0.2", "127.0.0.2");
	struct in6_pktinfo six = { .ipi6_addr = in6("::ffff:127.0.0.2"), .ipi6_ifindex = 1 };

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct buffer b = { .used = 0 };
		struct cmsg_info info;

		if (order)
			put(&b, IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
		put(&b, IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
		if (!order)
			put(&b, IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
		info = parse(b.bytes, b.used);
		assert_int_equal(info.family, AF_INET);
		assert_memory_equal(&info.dst, &six.ipi6_addr, sizeof(six.ipi6_addr));
		assert_int_equal(info.spec_dst.s_addr, four.ipi_spec_dst.s_addr);
		assert_int_equal(info.malformed, 0);
	}
}

/* R15: TOS of 1 and of 4 bytes give the same; any other length is malformed and not read. */
static void test_tos_widths(void **state)
{
	static const int levels[][2] = { { IPPROTO_IP, IP_TOS }, { IPPROTO_IPV6, IPV6_TCLASS } };
	const unsigned char bytes[9] = { 0xb8, 0xb8, 0xb8, 0xb8, 0xb8, 0xb8, 0xb8, 0xb8, 0xb8 };
	const int whole = 0xb8;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct cmsg_info info =
			parse_one(levels[i][0], levels[i][1], &whole, sizeof(whole));

		assert_int_equal(info.tos, 0xb8);
		assert_int_equal(info.valid, CMSG_WANT_TOS);
		for (size_t len = 0; len <= 9; len++) {
			info = parse_one(levels[i][0], levels[i][1], bytes, len);
			if (len == 1 || len == 4) {
				assert_int_equal(info.tos, 0xb8);
				continue;
			}
			assert_int_equal(info.valid, 0);
			assert_int_equal(info.malformed, 1);
		}
	}
}

/* R18: the GRO size is an int. The bytes as a big-endian and as a little-endian kernel writes them; each host reads
 * its own, and a value above 16 bits shows that all four are read. */
static void test_gro_is_int(void **state)
{
	static const unsigned char big[4] = { 0, 0, 0x04, 0xb0 }, little[4] = { 0xb0, 0x04, 0, 0 };
	const bool be = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const int wide = 0x12345678, negative = -1, zero = 0;
	const uint16_t half = 1200;

	(void)state;
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, be ? big : little, 4).gro_segment, 1200);
	/* In the other order it is a negative number. */
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, be ? little : big, 4).valid, 0);
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &wide, 4).gro_segment, wide);
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &wide, 4).valid, CMSG_WANT_GRO);
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &half, 2).malformed, 1);
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &half, 2).valid, 0);
	/* Segments of nothing would never end. */
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &zero, 4).valid, 0);
	assert_int_equal(parse_one(IPPROTO_UDP, GRO, &negative, 4).valid, 0);
}

/* R19: every layout of a receive time. 2001-09-09 01:46:40.5 UTC = 1000000000.5 s. */
static void test_stamp_layouts(void **state)
{
	static const int64_t ns64[] = { 1000000000, 500000000 }, us64[] = { 1000000000, 500000 };
	static const int32_t ns32[] = { 1000000000, 500000000 }, us32[] = { 1000000000, 500000 };
	static const int64_t three64[] = { 1000000000, 500000000, 0, 0, 77, 88 };
	static const int32_t three32[] = { 1000000000, 500000000, 0, 0, 77, 88 };
	static const struct {
		int type;
		const void *data;
		size_t len;
	} rows[] = {
		{ STAMPNS_OLD, ns64, sizeof(ns64) },
		{ STAMPNS_OLD, ns32, sizeof(ns32) },
		{ STAMPNS_NEW, ns64, sizeof(ns64) },
		{ STAMP_OLD, us64, sizeof(us64) },
		{ STAMP_OLD, us32, sizeof(us32) },
		{ STAMP_NEW, us64, sizeof(us64) },
		{ STAMPING_OLD, three64, sizeof(three64) },
		{ STAMPING_OLD, three32, sizeof(three32) },
		{ STAMPING_NEW, three64, sizeof(three64) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmsg_info info =
			parse_one(SOL_SOCKET, rows[i].type, rows[i].data, rows[i].len);

		assert_int_equal(info.valid, CMSG_WANT_STAMP);
		assert_true(info.stamp_ns == UINT64_C(1000000000500000000));
	}
}

static void test_stamp_refused(void **state)
{
	static const int64_t late[] = { 1, 1000000000 }, before[] = { -1, 0 },
			     huge[] = { INT64_MAX, 0 };
	static const int64_t hardware[] = { 0, 0, 0, 0, 77, 88 };
	struct cmsg_info info;

	(void)state;
	assert_int_equal(parse_one(SOL_SOCKET, STAMPNS_NEW, late, sizeof(late)).malformed, 1);
	assert_int_equal(parse_one(SOL_SOCKET, STAMP_NEW, late, sizeof(late)).malformed, 1);
	assert_int_equal(parse_one(SOL_SOCKET, STAMPNS_NEW, before, sizeof(before)).malformed, 1);
	assert_int_equal(parse_one(SOL_SOCKET, STAMPNS_NEW, huge, sizeof(huge)).malformed, 1);
	assert_int_equal(parse_one(SOL_SOCKET, STAMPNS_NEW, late, 12).malformed, 1);
	assert_int_equal(parse_one(SOL_SOCKET, STAMPING_NEW, hardware, 16).malformed, 1);
	/* A hardware clock alone is no time of day: not valid, and not malformed either. */
	info = parse_one(SOL_SOCKET, STAMPING_NEW, hardware, sizeof(hardware));
	assert_int_equal(info.valid, 0);
	assert_int_equal(info.malformed, 0);
}

/* R19: 32-bit musl adds a translated message; the two say the same, and unknown types are stepped over. */
static void test_several(void **state)
{
	static const int64_t ns64[] = { 1000000000, 500000000 };
	static const int32_t ns32[] = { 1000000000, 500000000 };
	const uint32_t drops = 0xfffffff0u;
	const int ttl = 64;
	struct buffer b = { .used = 0 };
	struct cmsg_info info;

	(void)state;
	put(&b, SOL_SOCKET, STAMPNS_OLD, ns32, sizeof(ns32));
	put(&b, SOL_SOCKET, STAMPNS_NEW, ns64, sizeof(ns64));
	put(&b, SOL_SOCKET, 9999, "unknown", 7);
	put(&b, 9999, IP_TTL, &ttl, sizeof(ttl));
	put(&b, SOL_SOCKET, 40, &drops, sizeof(drops));
	put(&b, IPPROTO_IPV6, IPV6_HOPLIMIT, &ttl, sizeof(ttl));
	info = parse(b.bytes, b.used);
	assert_int_equal(info.valid, CMSG_WANT_STAMP | CMSG_WANT_DROPS | CMSG_WANT_TTL);
	assert_int_equal(info.malformed, 0);
	assert_true(info.stamp_ns == UINT64_C(1000000000500000000));
	assert_int_equal(info.drops, drops);
	assert_int_equal(info.ttl, 64);
}

/* R20: lengths that lie. Each one is written over the second of three messages. */
static void test_lying_lengths(void **state)
{
	static const size_t lies[] = {
		0, 1, sizeof(struct cmsghdr) - 1, 4096, (size_t)INT32_MAX,
		UINT32_MAX, SIZE_MAX, SIZE_MAX - sizeof(struct cmsghdr), SIZE_MAX - 7,
	};
	const int ttl = 64, tos = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct buffer b = { .used = 0 };
		struct cmsghdr h;
		struct cmsg_info info;
		size_t second;

		put(&b, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
		second = b.used;
		put(&b, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
		put(&b, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
		memcpy(&h, b.bytes + second, sizeof(h));
		h.cmsg_len = lies[i];
		memcpy(b.bytes + second, &h, sizeof(h));
		info = parse(b.bytes, b.used);
		assert_int_equal(info.valid, CMSG_WANT_TTL);
		assert_int_equal(info.malformed, 1);
	}
}

/* The kernel ends the last message without padding, and cuts it where the buffer ends (MSG_CTRUNC). */
static void test_every_cut(void **state)
{
	struct in6_pktinfo six = { .ipi6_addr = in6("2001:db8::7"), .ipi6_ifindex = 4 };
	const int ttl = 64;
	struct buffer b = { .used = 0 };

	(void)state;
	put(&b, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
	put(&b, IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
	for (size_t len = 0; len <= b.used; len++) {
		struct cmsg_info info = parse(b.bytes, len);
		bool first = len >= CMSG_LEN(sizeof(ttl));
		bool second = len >= CMSG_SPACE(sizeof(ttl)) + CMSG_LEN(sizeof(six));

		assert_int_equal(info.valid,
				 (first ? CMSG_WANT_TTL : 0) | (second ? CMSG_WANT_PKTINFO : 0));
	}
}

/* xorshift64 (Marsaglia 2003): the same sequence on every host. */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* R20: random bytes, half of them behind headers that make sense as far as they go. */
static void test_random_buffers(void **state)
{
	static const int types[][2] = {
		{ IPPROTO_IP, IP_PKTINFO },  { IPPROTO_IPV6, IPV6_PKTINFO }, { IPPROTO_IP, IP_TTL },
		{ IPPROTO_IP, IP_TOS },	     { IPPROTO_IPV6, IPV6_TCLASS },  { SOL_SOCKET, 40 },
		{ SOL_SOCKET, STAMPNS_NEW }, { SOL_SOCKET, STAMPING_OLD },   { IPPROTO_UDP, GRO },
		{ SOL_SOCKET, STAMP_OLD },
	};
	uint64_t x = 20;
	unsigned understood = 0, malformed = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		unsigned char bytes[160];
		size_t len = next_random(&x) % sizeof(bytes);
		struct cmsg_info info;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (unsigned char)next_random(&x);
		for (size_t at = 0; round % 2 && at + sizeof(struct cmsghdr) <= len;) {
			const int *type = types[next_random(&x) % ARRAY_SIZE(types)];
			struct cmsghdr h = { .cmsg_level = type[0], .cmsg_type = type[1] };

			h.cmsg_len = CMSG_LEN(next_random(&x) % 24);
			memcpy(bytes + at, &h, sizeof(h));
			at += CMSG_ALIGN(h.cmsg_len);
		}
		info = parse(bytes, len);
		understood += info.valid != 0;
		malformed += info.malformed != 0;
		/* Fewer messages than headers fit. */
		assert_true(info.malformed <= len / sizeof(struct cmsghdr) + 1);
	}
	/* The loop is worth its name only if it reached both ends. */
	assert_true(understood > 1000 && malformed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R09 room for everything asked for together", test_space, NULL, NULL, NULL },
		{ "pktinfo of both families", test_pktinfo, NULL, NULL, NULL },
		{ "R10 both pktinfo messages of one packet", test_pktinfo_both, NULL, NULL, NULL },
		{ "R15 TOS of 1 and 4 bytes", test_tos_widths, NULL, NULL, NULL },
		{ "R18 R135 GRO size is an int", test_gro_is_int, NULL, NULL, NULL },
		{ "R19 every layout of a time stamp", test_stamp_layouts, NULL, NULL, NULL },
		{ "R19 times that cannot be", test_stamp_refused, NULL, NULL, NULL },
		{ "R19 doubled and unknown messages", test_several, NULL, NULL, NULL },
		{ "R20 lengths that lie", test_lying_lengths, NULL, NULL, NULL },
		{ "R20 a buffer cut at every byte", test_every_cut, NULL, NULL, NULL },
		{ "R20 random buffers", test_random_buffers, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cmsg", tests, NULL, NULL);
}
