/* SPDX-License-Identifier: MIT */
/* Socket addresses as text and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>

#include "net/addr.h"

static struct addr parsed(const char *text, uint16_t port)
{
	struct err err = ERR_INIT;
	struct addr a;

	if (addr_parse(text, AF_UNSPEC, port, &a, &err))
		fail_msg("%s", err.text);
	return a;
}

static void test_forms(void **state)
{
	static const struct {
		const char *in, *out;
		socklen_t len;
	} good[] = {
		{ "1.2.3.4", "1.2.3.4:9", sizeof(struct sockaddr_in) },
		{ "1.2.3.4:53", "1.2.3.4:53", sizeof(struct sockaddr_in) },
		{ "0.0.0.0:0", "0.0.0.0:0", sizeof(struct sockaddr_in) },
		{ "255.255.255.255:65535", "255.255.255.255:65535", sizeof(struct sockaddr_in) },
		{ "::1", "[::1]:9", sizeof(struct sockaddr_in6) },
		{ "[::1]", "[::1]:9", sizeof(struct sockaddr_in6) },
		{ "[::1]:53", "[::1]:53", sizeof(struct sockaddr_in6) },
		{ "2001:db8::1:2", "[2001:db8::1:2]:9", sizeof(struct sockaddr_in6) },
		{ "*", "[::]:9", sizeof(struct sockaddr_in6) },
		{ "*:53", "[::]:53", sizeof(struct sockaddr_in6) },
		{ "[::]:53", "[::]:53", sizeof(struct sockaddr_in6) },
		{ "::ffff:1.2.3.4", "[::ffff:1.2.3.4]:9", sizeof(struct sockaddr_in6) },
		{ "fe80::1%lo", "[fe80::1%lo]:9", sizeof(struct sockaddr_in6) },
		{ "[fe80::1%lo]:53", "[fe80::1%lo]:53", sizeof(struct sockaddr_in6) },
		{ "[fe80::1%1]:53", "[fe80::1%lo]:53", sizeof(struct sockaddr_in6) },
		{ "ff02::1%lo", "[ff02::1%lo]:9", sizeof(struct sockaddr_in6) },
	};
	char text[ADDR_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct addr a = parsed(good[i].in, 9);

		assert_string_equal(addr_format(&a, text, sizeof(text)), good[i].out);
		assert_int_equal(a.len, good[i].len);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *in;
		int family, code;
		const char *says;
	} bad[] = {
		{ "", AF_UNSPEC, EINVAL, "has no address" },
		{ ":53", AF_UNSPEC, EINVAL, "has no address" },
		{ "[]:53", AF_UNSPEC, EINVAL, "has no address" },
		{ "localhost", AF_UNSPEC, EINVAL, "host names" },
		{ "localhost:53", AF_UNSPEC, EINVAL, "host names" },
		{ "127.1", AF_UNSPEC, EINVAL, "host names" },
		{ "1.2.3.256", AF_UNSPEC, EINVAL, "host names" },
		{ "1.2.3.4:", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4:65536", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4:99999999999999999999", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4:-1", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4: 53", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4:53x", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "1.2.3.4%lo", AF_UNSPEC, EINVAL, "only an IPv6" },
		{ "[1.2.3.4]:53", AF_UNSPEC, EINVAL, "brackets" },
		{ "[::1", AF_UNSPEC, EINVAL, "[IPv6]:PORT" },
		{ "[::1]53", AF_UNSPEC, EINVAL, "[IPv6]:PORT" },
		{ "[::1]:", AF_UNSPEC, EINVAL, "0 to 65535" },
		{ "::g", AF_UNSPEC, EINVAL, "host names" },
		{ "[*]:53", AF_UNSPEC, EINVAL, "brackets" },
		{ "fe80::1", AF_UNSPEC, EINVAL, "link-local" },
		{ "[fe80::1]:53", AF_UNSPEC, EINVAL, "link-local" },
		{ "ff02::1", AF_UNSPEC, EINVAL, "link-local" },
		{ "fe80::1%", AF_UNSPEC, EINVAL, "after '%'" },
		{ "fe80::1%a_name_that_is_too_long_for_any", AF_UNSPEC, EINVAL, "after '%'" },
		{ "fe80::1%nosuchif0", AF_UNSPEC, ENODEV, "nosuchif0" },
		{ "fe80::1%4000000000", AF_UNSPEC, ENODEV, "4000000000" },
		{ "fe80::1%1x", AF_UNSPEC, ENODEV, "1x" },
		{ "1.2.3.4", AF_INET6, EINVAL, "-6" },
		{ "::1", AF_INET, EINVAL, "-4" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaaaa",
		  AF_UNSPEC, EINVAL, "host names" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = ERR_INIT;
		struct addr a;
		int rc = addr_parse(bad[i].in, bad[i].family, 9, &a, &err);

		if (rc != -bad[i].code || !strstr(err.text, bad[i].says) ||
		    !strstr(err.text, bad[i].in) || a.len)
			fail_msg("'%s' -> %d, '%s'", bad[i].in, rc, err.text);
	}
}

static void test_star_by_family(void **state)
{
	struct addr a;

	(void)state;
	assert_int_equal(addr_parse("*:53", AF_INET, 0, &a, NULL), 0);
	assert_int_equal(a.sa.sa_family, AF_INET);
	assert_true(addr_is_wildcard(&a));
	assert_int_equal(addr_port(&a), 53);
	assert_int_equal(addr_parse("*", AF_INET6, 7, &a, NULL), 0);
	assert_int_equal(a.sa.sa_family, AF_INET6);
	assert_int_equal(addr_port(&a), 7);
}

static void test_format(void **state)
{
	struct addr none = { 0 }, a = parsed("fe80::1%lo", 9);
	char text[ADDR_TEXT], tiny[6];

	(void)state;
	assert_string_equal(addr_format(&none, text, sizeof(text)), "-");
	assert_string_equal(addr_format_host(&a, text, sizeof(text)), "fe80::1%lo");
	a.in6.sin6_scope_id = 4000000000u; /* an interface that is gone: its number */
	assert_string_equal(addr_format(&a, text, sizeof(text)), "[fe80::1%4000000000]:9");
	a = parsed("127.0.0.1:53", 0);
	assert_string_equal(addr_format_host(&a, text, sizeof(text)), "127.0.0.1");
	assert_string_equal(addr_format(&a, tiny, sizeof(tiny)), "127.0");
}

static void test_equal(void **state)
{
	struct addr v4 = parsed("1.2.3.4:53", 0), mapped = parsed("[::ffff:1.2.3.4]:53", 0),
		    other = parsed("1.2.3.5:53", 0);
	struct addr port = parsed("1.2.3.4:54", 0), v6 = parsed("[2001:db8::1]:53", 0),
		    none = { 0 };

	(void)state;
	assert_true(addr_equal(&v4, &mapped));
	assert_true(addr_equal(&mapped, &v4));
	assert_int_equal(addr_hash(&v4), addr_hash(&mapped));
	assert_false(addr_equal(&v4, &other));
	assert_false(addr_equal(&v4, &port));
	assert_true(addr_equal_host(&v4, &port));
	assert_false(addr_equal(&v4, &v6));
	assert_false(addr_equal(&v4, &none));
	assert_true(addr_equal(&none, &none));
}

/* R13: the same link-local address on two links is two peers; one side without a scope matches either. */
static void test_scope(void **state)
{
	struct addr a = parsed("[fe80::1%lo]:53", 0), b = a, bare = a;

	(void)state;
	b.in6.sin6_scope_id = 4000000000u;
	bare.in6.sin6_scope_id = 0;
	assert_false(addr_equal(&a, &b));
	assert_true(addr_hash(&a) != addr_hash(&b));
	assert_true(addr_equal(&a, &bare));
	assert_true(addr_equal(&bare, &b));
}

static void test_classes(void **state)
{
	static const struct {
		const char *text;
		bool wildcard, loopback, multicast, mapped;
		int packet;
	} rows[] = {
		{ "0.0.0.0", true, false, false, false, AF_INET },
		{ "::", true, false, false, false, AF_INET6 },
		{ "::ffff:0.0.0.0", true, false, false, true, AF_INET },
		{ "127.0.0.5", false, true, false, false, AF_INET },
		{ "::1", false, true, false, false, AF_INET6 },
		{ "::ffff:127.0.0.1", false, true, false, true, AF_INET },
		{ "224.0.0.1", false, false, true, false, AF_INET },
		{ "239.255.0.1", false, false, true, false, AF_INET },
		{ "240.0.0.1", false, false, false, false, AF_INET },
		{ "ff05::1", false, false, true, false, AF_INET6 },
		{ "198.18.0.1", false, false, false, false, AF_INET },
		{ "2001:db8::1", false, false, false, false, AF_INET6 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct addr a = parsed(rows[i].text, 1);

		assert_int_equal(addr_is_wildcard(&a), rows[i].wildcard);
		assert_int_equal(addr_is_loopback(&a), rows[i].loopback);
		assert_int_equal(addr_is_multicast(&a), rows[i].multicast);
		assert_int_equal(addr_is_mapped(&a), rows[i].mapped);
		assert_int_equal(addr_packet_family(&a), rows[i].packet);
	}
}

static void test_to_family(void **state)
{
	struct addr a = parsed("1.2.3.4:53", 0), b = parsed("[2001:db8::1]:53", 0);
	char text[ADDR_TEXT];

	(void)state;
	assert_true(addr_to_family(&a, AF_INET6));
	assert_string_equal(addr_format(&a, text, sizeof(text)), "[::ffff:1.2.3.4]:53");
	assert_int_equal(a.len, sizeof(a.in6));
	assert_true(addr_to_family(&a, AF_INET6));
	assert_true(addr_to_family(&a, AF_INET));
	assert_string_equal(addr_format(&a, text, sizeof(text)), "1.2.3.4:53");
	assert_int_equal(a.len, sizeof(a.in));
	assert_false(addr_to_family(&b, AF_INET));
	assert_string_equal(addr_format(&b, text, sizeof(text)), "[2001:db8::1]:53");
}

static void test_from_in6(void **state)
{
	struct in6_addr ip;
	struct addr a;
	char text[ADDR_TEXT];

	(void)state;
	inet_pton(AF_INET6, "::ffff:127.0.0.2", &ip);
	addr_from_in6(&a, &ip, 53, 1);
	assert_string_equal(addr_format(&a, text, sizeof(text)), "127.0.0.2:53");
	inet_pton(AF_INET6, "fe80::1", &ip);
	addr_from_in6(&a, &ip, 53, 1);
	assert_string_equal(addr_format(&a, text, sizeof(text)), "[fe80::1%lo]:53");
	inet_pton(AF_INET6, "2001:db8::1", &ip);
	addr_from_in6(&a, &ip, 53, 1); /* no scope where none is needed */
	assert_string_equal(addr_format(&a, text, sizeof(text)), "[2001:db8::1]:53");
}

/* Flows that differ in one port must spread over a table of any power of two. */
static void test_hash_spreads(void **state)
{
	struct addr a = parsed("127.0.0.1", 0);
	unsigned low[256] = { 0 }, high[256] = { 0 };

	(void)state;
	for (unsigned port = 0; port < 65536; port++) {
		addr_set_port(&a, (uint16_t)port);
		low[addr_hash(&a) & 255]++;
		high[addr_hash(&a) >> 24]++;
	}
	/* 256 expected, standard deviation 16: eight of them either way. */
	for (unsigned i = 0; i < 256; i++) {
		assert_in_range(low[i], 128, 384);
		assert_in_range(high[i], 128, 384);
	}
}

/* R21: names handed to the kernel have room for any family. */
static void test_name_size(void **state)
{
	(void)state;
	assert_true(sizeof(((struct addr *)0)->ss) == sizeof(struct sockaddr_storage));
	assert_true(offsetof(struct addr, sa) == offsetof(struct addr, ss));
	assert_true(offsetof(struct sockaddr_in, sin_port) ==
		    offsetof(struct sockaddr_in6, sin6_port));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "every form is read and printed", test_forms, NULL, NULL, NULL },
		{ "R13 what is refused, and the sentence", test_refused, NULL, NULL, NULL },
		{ "the star follows the family", test_star_by_family, NULL, NULL, NULL },
		{ "print", test_format, NULL, NULL, NULL },
		{ "equal, also mapped and plain", test_equal, NULL, NULL, NULL },
		{ "R13 scope of link-local addresses", test_scope, NULL, NULL, NULL },
		{ "classes", test_classes, NULL, NULL, NULL },
		{ "to the family of a socket and back", test_to_family, NULL, NULL, NULL },
		{ "from what control messages give", test_from_in6, NULL, NULL, NULL },
		{ "hash spreads ports", test_hash_spreads, NULL, NULL, NULL },
		{ "R21 names have the size of sockaddr_storage", test_name_size, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("addr", tests, NULL, NULL);
}
