/* SPDX-License-Identifier: MIT */
/* The hash of receive side scaling, keys as text, and what ETHTOOL_GRSSH answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/rss.h"

static struct addr at(const char *text, uint16_t port)
{
	struct addr a = { .len = sizeof(a.in6) };

	if (strchr(text, ':')) {
		a.in6.sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, &a.in6.sin6_addr), 1);
	} else {
		a.len = sizeof(a.in);
		a.in.sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text, &a.in.sin_addr), 1);
	}
	addr_set_port(&a, port);
	return a;
}

/* Microsoft, "Verifying the RSS hash calculation": the columns with ports. */
static const struct {
	const char *dst;
	uint16_t dst_port;
	const char *src;
	uint16_t src_port;
	uint32_t hash;
} vectors[] = {
	{ "161.142.100.80", 1766, "66.9.149.187", 2794, 0x51ccc178 },
	{ "65.69.140.83", 4739, "199.92.111.2", 14230, 0xc626b0ea },
	{ "12.22.207.184", 38024, "24.19.198.95", 12898, 0x5c2b394a },
	{ "209.142.163.6", 2217, "38.27.205.30", 48228, 0xafc7327f },
	{ "202.188.127.2", 1303, "153.39.163.191", 44251, 0x10e828a2 },
	{ "3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x40207d3d },
	{ "ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0xdde51bbf },
	{ "fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x02d1feef },
	/* mapped addresses: packets of IPv4, as the first */
	{ "::ffff:161.142.100.80", 1766, "::ffff:66.9.149.187", 2794, 0x51ccc178 },
	{ "161.142.100.80", 1766, "::ffff:66.9.149.187", 2794, 0x51ccc178 },
};

static void test_vectors_of_the_specification(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct addr src = at(vectors[i].src, vectors[i].src_port), dst = at(vectors[i].dst, vectors[i].dst_port);

		assert_int_equal(toeplitz_udp(&toeplitz_standard, &src, &dst), vectors[i].hash);
	}
}

/* The bytes 1, 2, ..., n as ethtool prints them. */
static char *key_text(unsigned n, char *buf)
{
	for (unsigned i = 0; i < n; i++)
		sprintf(buf + 3 * i, "%02x%s", (i + 1) & 255, i + 1 < n ? ":" : "");
	return buf;
}

static void test_keys(void **state)
{
	static const unsigned lengths[] = { 40, 52, 256 };
	struct toeplitz_key key;
	char text[3 * 300];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		assert_int_equal(toeplitz_parse_key("rss-key", key_text(lengths[i], text), &key, NULL), 0);
		assert_int_equal(key.len, lengths[i]);
		for (unsigned k = 0; k < key.len; k++)
			assert_int_equal(key.byte[k], (k + 1) & 255);
	}
	key_text(40, text);
	for (char *c = text; *c; c++)
		*c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
	assert_int_equal(toeplitz_parse_key("rss-key", text, &key, NULL), 0);
}

static void test_wrong_keys_r16(void **state)
{
	static const char *const wrong[] = { "", ":", "6", "6d:", ":6d", "6d5a", "6d:5", "6d:5a:", "6d::5a", "xx:yy", "6d:5a", " 6d", "6d:5a " };
	struct toeplitz_key key;
	char text[3 * 300];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong) + 4; i++) {
		struct err err = ERR_INIT;
		const char *one = i < ARRAY_SIZE(wrong) ? wrong[i] : text;

		if (i >= ARRAY_SIZE(wrong))
			key_text(i % 2 ? 39 : 257, text);
		if (i >= ARRAY_SIZE(wrong) + 2)
			strcat(key_text(40, text), i % 2 ? ":" : ":0");
		assert_int_equal(toeplitz_parse_key("rss-key", one, &key, &err), -EINVAL);
		assert_non_null(strstr(err.text, "--rss-key"));
	}
}

static void test_the_standard_table(void **state)
{
	static const unsigned queues[] = { 1, 3, 8, 128, 200, 1024 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(queues); i++) {
		unsigned seen = 0;
		struct rss rss;

		assert_int_equal(rss_standard(&rss, queues[i], NULL), 0);
		assert_true(rss.n >= RSS_TABLE && rss.n >= queues[i] && !(rss.n & (rss.n - 1)));
		for (unsigned k = 0; k < rss.n; k++) {
			assert_int_equal(rss.table[k], k % queues[i]);
			seen = MAX(seen, rss.table[k] + 1);
		}
		assert_int_equal(seen, queues[i]);
		assert_int_equal(rss_queue(&rss, 0xabcd0000 + rss.n + 2), 2 % queues[i]);
		rss_free(&rss);
	}
}

/* What a device says. */
static struct ethtool_rxfh *answer(unsigned n, const uint32_t *table, unsigned key)
{
	struct ethtool_rxfh *a = calloc(1, sizeof(*a) + n * sizeof(*table) + key);

	assert_non_null(a);
	a->indir_size = n;
	a->key_size = key;
	if (n)
		memcpy(a->rss_config, table, n * sizeof(*table));
	memset(a->rss_config + n, 0x3c, key);
	return a;
}

static void test_what_a_device_tells(void **state)
{
	static const uint32_t table[] = { 1, 0, 2, 2 };
	struct ethtool_rxfh *a;
	struct rss rss;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = i & 1 ? 4 : 0, key = i & 2 ? 52 : 0;

		assert_int_equal(rss_standard(&rss, 3, NULL), 0);
		a = answer(n, table, key);
		a->hfunc = i & 1; /* old drivers do not say which */
		assert_int_equal(rss_take(&rss, "dev", a, NULL), 0);
		assert_int_equal(rss.own_table, n != 0);
		assert_int_equal(rss.own_key, key != 0);
		assert_int_equal(rss.n, n ? n : RSS_TABLE);
		assert_int_equal(rss_queue(&rss, 0x12345674), n ? 1 : 0x74 % 3);
		assert_int_equal(rss.key.len, key ? 52 : TOEPLITZ_KEY);
		assert_int_equal(rss.key.byte[51], key ? 0x3c : 0);
		assert_int_equal(rss.key.byte[0], key ? 0x3c : 0x6d);
		free(a);
		rss_free(&rss);
	}
}

static void test_what_is_not_computed_here(void **state)
{
	static const uint32_t table[] = { 0, 1, 2, 0 };
	static const struct {
		unsigned queues;
		unsigned char hfunc, transform;
		const char *word;
	} cases[] = { { 2, 1, 0, "queue 2" }, { 4, 1, 0, "queue 3" }, { 3, 2, 0, "Toeplitz" }, { 3, 1, 1, "symmetric" } };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ethtool_rxfh *a = answer(4, table, 40);
		struct err err = ERR_INIT;
		struct rss rss;

		a->hfunc = cases[i].hfunc;
		((unsigned char *)a)[offsetof(struct ethtool_rxfh, hfunc) + 1] = cases[i].transform;
		assert_int_equal(rss_standard(&rss, cases[i].queues, NULL), 0);
		assert_true(rss_take(&rss, "dev0", a, &err) < 0);
		assert_non_null(strstr(err.text, cases[i].word));
		assert_non_null(strstr(err.text, "dev0"));
		rss_free(&rss);
		free(a);
	}
}

static void test_devices(void **state)
{
	struct err err = ERR_INIT;
	struct rss rss;

	(void)state;
	assert_int_equal(rss_standard(&rss, 2, NULL), 0);
	assert_int_equal(rss_read(&rss, "no-such-dev", &err), -ENODEV);
	assert_non_null(strstr(err.text, "no-such-dev"));
	assert_int_equal(rss_read(&rss, "lo", &err), 0); /* it has neither */
	assert_false(rss.own_key || rss.own_table);
	rss_free(&rss);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_of_the_specification), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_wrong_keys_r16),		     cmocka_unit_test(test_the_standard_table),
		cmocka_unit_test(test_what_a_device_tells),	     cmocka_unit_test(test_what_is_not_computed_here),
		cmocka_unit_test(test_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
