/* SPDX-License-Identifier: MIT */
/* Control messages for sending, and received ones turned round for an answer. */
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

static void test_put(void **state)
{
	unsigned char bytes[2 * CMSG_SPACE(4)];
	const int value = 7;
	size_t used = 0;
	struct msghdr h = { .msg_control = bytes, .msg_controllen = sizeof(bytes) };
	struct cmsghdr *c;
	int got;

	(void)state;
	assert_true(cmsg_put(bytes, sizeof(bytes), &used, IPPROTO_IP, IP_TTL, &value, 4));
	assert_int_equal(used, CMSG_SPACE(4));
	assert_true(cmsg_put(bytes, sizeof(bytes), &used, IPPROTO_IP, IP_TOS, &value, 4));
	assert_int_equal(used, sizeof(bytes));
	assert_false(cmsg_put(bytes, sizeof(bytes), &used, IPPROTO_IP, IP_TOS, &value, 4));
	assert_int_equal(used, sizeof(bytes));
	used = 1;
	assert_false(cmsg_put(bytes, CMSG_SPACE(4), &used, IPPROTO_IP, IP_TOS, &value, 4));
	used = 0;
	assert_false(
		cmsg_put(bytes, sizeof(bytes), &used, IPPROTO_IP, IP_TOS, &value, SIZE_MAX - 4));
	/* As the C library reads it. */
	c = CMSG_NXTHDR(&h, CMSG_FIRSTHDR(&h));
	assert_non_null(c);
	assert_int_equal(c->cmsg_type, IP_TOS);
	assert_int_equal(c->cmsg_len, CMSG_LEN(4));
	memcpy(&got, CMSG_DATA(c), 4);
	assert_int_equal(got, 7);
}

/* What cmsg_reply wrote, as fields. level 0: nothing. */
struct turned {
	int level, ifindex;
	char source[INET6_ADDRSTRLEN], other[INET6_ADDRSTRLEN];
};

static struct turned reply(const struct cmsg_info *info, int family, bool keep)
{
	_Alignas(struct cmsghdr) unsigned char bytes[128];
	size_t used = cmsg_reply(bytes, sizeof(bytes), info, family, keep);
	struct cmsghdr h;
	struct turned out = { .level = 0 };
	struct in_pktinfo four;
	struct in6_pktinfo six;

	if (!used)
		return out;
	memcpy(&h, bytes, sizeof(h));
	out.level = h.cmsg_level;
	if (h.cmsg_level == IPPROTO_IP) {
		assert_int_equal(h.cmsg_type, IP_PKTINFO);
		assert_int_equal(used, CMSG_SPACE(sizeof(four)));
		memcpy(&four, bytes + CMSG_LEN(0), sizeof(four));
		out.ifindex = four.ipi_ifindex;
		inet_ntop(AF_INET, &four.ipi_spec_dst, out.source, sizeof(out.source));
		inet_ntop(AF_INET, &four.ipi_addr, out.other, sizeof(out.other));
	} else {
		assert_int_equal(h.cmsg_type, IPV6_PKTINFO);
		assert_int_equal(used, CMSG_SPACE(sizeof(six)));
		memcpy(&six, bytes + CMSG_LEN(0), sizeof(six));
		out.ifindex = (int)six.ipi6_ifindex;
		inet_ntop(AF_INET6, &six.ipi6_addr, out.source, sizeof(out.source));
	}
	return out;
}

static struct cmsg_info asked4(const char *spec_dst, const char *dst)
{
	struct in_pktinfo four = pktinfo4(7, spec_dst, dst);

	return parse_one(IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
}

static struct cmsg_info asked6(const char *dst)
{
	struct in6_pktinfo six = { .ipi6_addr = in6(dst), .ipi6_ifindex = 7 };

	return parse_one(IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
}

/* R04: the source of the answer goes into ipi_spec_dst; ipi_addr is for receiving. R10: on an AF_INET6 socket too. */
static void test_reply4(void **state)
{
	static const int families[] = { AF_INET, AF_INET6 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		struct cmsg_info info = asked4("198.18.0.2", "198.18.0.2");
		struct turned t = reply(&info, families[i], false);

		assert_int_equal(t.level, IPPROTO_IP);
		assert_string_equal(t.source, "198.18.0.2");
		assert_string_equal(t.other, "0.0.0.0");
		assert_int_equal(t.ifindex, 0);
		assert_int_equal(reply(&info, families[i], true).ifindex, 7);
		/* Broadcast and multicast: the address of ours that the kernel named, never the destination. */
		info = asked4("198.18.0.2", "198.18.255.255");
		assert_string_equal(reply(&info, families[i], false).source, "198.18.0.2");
		info = asked4("198.18.0.2", "239.1.2.3");
		assert_string_equal(reply(&info, families[i], false).source, "198.18.0.2");
		info = asked4("169.254.0.9", "169.254.0.9");
		assert_int_equal(reply(&info, families[i], false).ifindex, 7);
	}
}

/* Only the IPv6 option was on: the kernel names no address of ours. */
static void test_reply_mapped_only(void **state)
{
	struct cmsg_info info = asked6("::ffff:127.0.0.2");
	struct turned t = reply(&info, AF_INET6, false);

	(void)state;
	assert_int_equal(t.level, IPPROTO_IP);
	assert_string_equal(t.source, "127.0.0.2");
	info = asked6("::ffff:239.1.2.3");
	assert_int_equal(reply(&info, AF_INET6, false).level, 0);
	info = asked6("::ffff:255.255.255.255");
	assert_int_equal(reply(&info, AF_INET6, false).level, 0);
	assert_string_equal(reply(&info, AF_INET6, true).source, "0.0.0.0");
	assert_int_equal(reply(&info, AF_INET6, true).ifindex, 7);
}

/* R13: a link-local source is nothing without its interface. */
static void test_reply6(void **state)
{
	struct cmsg_info info = asked6("2001:db8::7"), none = { 0 };
	struct turned t = reply(&info, AF_INET6, false);
	unsigned char tiny[CMSG_SPACE(4)];

	(void)state;
	assert_int_equal(t.level, IPPROTO_IPV6);
	assert_string_equal(t.source, "2001:db8::7");
	assert_int_equal(t.ifindex, 0);
	assert_int_equal(reply(&info, AF_INET6, true).ifindex, 7);
	assert_int_equal(reply(&info, AF_INET, false).level, 0);
	assert_int_equal(cmsg_reply(tiny, sizeof(tiny), &info, AF_INET6, false), 0);
	info = asked6("fe80::7");
	assert_string_equal(reply(&info, AF_INET6, false).source, "fe80::7");
	assert_int_equal(reply(&info, AF_INET6, false).ifindex, 7);
	info = asked6("ff05::7");
	assert_int_equal(reply(&info, AF_INET6, false).level, 0);
	info = asked6("ff02::7");
	assert_string_equal(reply(&info, AF_INET6, false).source, "::");
	assert_int_equal(reply(&info, AF_INET6, false).ifindex, 7);
	assert_int_equal(reply(&none, AF_INET6, false).level, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "put", test_put, NULL, NULL, NULL },
		{ "R04 R10 reply to IPv4", test_reply4, NULL, NULL, NULL },
		{ "R10 reply to IPv4 known by IPv6 pktinfo only", test_reply_mapped_only, NULL,
		  NULL, NULL },
		{ "R13 reply to IPv6", test_reply6, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cmsg_send", tests, NULL, NULL);
}
