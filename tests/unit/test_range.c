/* SPDX-License-Identifier: MIT */
/* Ranges of addresses: both spellings, both families, their ends, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/range.h"

static const char *at(const struct range *range, uint64_t i, char *buf)
{
	struct addr a;

	range_at(range, i, &a);
	assert_int_equal(addr_port(&a), 0);
	assert_int_equal(a.len, range->first.len);
	return addr_format_host(&a, buf, ADDR_TEXT);
}

static void test_ranges(void **state)
{
	static const struct {
		const char *text;
		uint64_t n, i; /* number i ... */
		const char *first, *then; /* ... is this one */
	} rows[] = {
		{ "127.0.0.1", 1, 0, "127.0.0.1", "127.0.0.1" },
		{ "127.0.0.1/32", 1, 0, "127.0.0.1", "127.0.0.1" },
		{ "198.18.0.0/15", 131072, 131071, "198.18.0.0", "198.19.255.255" },
		{ "10.0.0.0/8", 1 << 24, 65536, "10.0.0.0", "10.1.0.0" },
		{ "0.0.0.0/0", UINT64_C(1) << 32, UINT32_MAX, "0.0.0.0", "255.255.255.255" },
		{ "0.0.0.0-255.255.255.255", UINT64_C(1) << 32, UINT32_MAX, "0.0.0.0", "255.255.255.255" },
		{ "198.18.0.250-198.18.1.5", 12, 6, "198.18.0.250", "198.18.1.0" },
		{ "127.0.0.1-127.0.0.1", 1, 0, "127.0.0.1", "127.0.0.1" },
		{ "2001:db8::/120", 256, 255, "2001:db8::", "2001:db8::ff" },
		{ "2001:db8::/65", UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, "2001:db8::", "2001:db8::7fff:ffff:ffff:ffff" },
		{ "2001:db8::/64", UINT64_MAX, UINT64_MAX - 1, "2001:db8::", "2001:db8::ffff:ffff:ffff:fffe" },
		{ "2001:db8::/32", UINT64_MAX, 1, "2001:db8::", "2001:db8::1" },
		{ "::/0", UINT64_MAX, 256, "::", "::100" },
		{ "2001:db8::ffff:ffff:ffff:ffff-2001:db8:0:1::1", 3, 1, "2001:db8::ffff:ffff:ffff:ffff", "2001:db8:0:1::" },
		{ "2001:db8:0:1::5-2001:db8:0:2::4", UINT64_MAX, UINT64_C(1) << 63, "2001:db8:0:1::5", "2001:db8:0:1:8000::5" },
		{ "2001:db8:0:1::5-2001:db8:0:2::3", UINT64_MAX, 0, "2001:db8:0:1::5", "2001:db8:0:1::5" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 2, 1,
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
		{ "fe80::1%lo-fe80::3%lo", 3, 2, "fe80::1%lo", "fe80::3%lo" },
		{ "fe80::%lo/64", UINT64_MAX, 7, "fe80::%lo", "fe80::7%lo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[ADDR_TEXT];
		struct range range;
		struct err err = ERR_INIT;

		if (range_parse(rows[i].text, AF_UNSPEC, &range, &err))
			fail_msg("%s", err.text);
		if (range.n != rows[i].n)
			fail_msg("%s: %llu addresses", rows[i].text, (unsigned long long)range.n);
		assert_string_equal(at(&range, 0, buf), rows[i].first);
		assert_string_equal(at(&range, rows[i].i, buf), rows[i].then);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int family;
		const char *word;
	} rows[] = {
		{ "198.18.0.1/15", AF_UNSPEC, "behind the prefix" },
		{ "2001:db8::1/64", AF_UNSPEC, "behind the prefix" },
		{ "2001:db8:0:1::/63", AF_UNSPEC, "behind the prefix" },
		{ "8000::/0", AF_UNSPEC, "behind the prefix" },
		{ "198.18.0.0/33", AF_UNSPEC, "0 to 32" },
		{ "2001:db8::/129", AF_UNSPEC, "0 to 128" },
		{ "198.18.0.0/", AF_UNSPEC, "prefix length" },
		{ "198.18.0.0/-1", AF_UNSPEC, "prefix length" },
		{ "198.18.0.9-198.18.0.8", AF_UNSPEC, "ends before it begins" },
		{ "2001:db8:1::-2001:db8::ffff", AF_UNSPEC, "ends before it begins" },
		{ "198.18.0.1-2001:db8::1", AF_UNSPEC, "one family to another" },
		{ "198.18.0.1-", AF_UNSPEC, "''" },
		{ "-198.18.0.1", AF_UNSPEC, "''" },
		{ "198.18.0.1:53-198.18.0.2", AF_UNSPEC, "ports do not belong" },
		{ "198.18.0.1-198.18.0.2:53", AF_UNSPEC, "ports do not belong" },
		{ "198.18.0.1:53", AF_UNSPEC, "ports do not belong" },
		{ "[2001:db8::]:53/64", AF_UNSPEC, "ports do not belong" },
		{ "198.18.0.0/24", AF_INET6, "-6" },
		{ "2001:db8::1-2001:db8::2", AF_INET, "-4" },
		{ "fe80::1-fe80::2", AF_UNSPEC, "link-local" },
		{ "fe80::1%lo-fe80::2", AF_UNSPEC, "link-local" },
		{ "localhost", AF_UNSPEC, "localhost" },
		{ "", AF_UNSPEC, "''" },
		{ "11111111112222222222333333333344444444445555555555666666666677777777778888888888/8", AF_UNSPEC, "FIRST-LAST" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct range range;
		struct err err = ERR_INIT;

		if (range_parse(rows[i].text, rows[i].family, &range, &err) != -EINVAL || !strstr(err.text, rows[i].word))
			fail_msg("'%s': %s", rows[i].text, err.text);
	}
}

static void test_every_address_once(void **state)
{
	char seen[1024] = { 0 };
	struct range range;
	struct addr a;

	(void)state;
	assert_int_equal(range_parse("198.18.252.0/22", AF_INET, &range, NULL), 0);
	for (uint64_t i = 0; i < range.n; i++) {
		range_at(&range, i, &a);
		seen[ntohl(a.in.sin_addr.s_addr) - ((198u << 24) + (18u << 16) + (252u << 8))]++;
	}
	for (unsigned i = 0; i < sizeof(seen); i++)
		assert_int_equal(seen[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_every_address_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
