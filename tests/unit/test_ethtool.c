/* SPDX-License-Identifier: MIT */
/* Statistics of drivers: names and values as the kernel answers them, increments by name, and the lines of ethtool_stats.pl. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "counters/ethtool.h"
#include "counters/ethtool_show.h"
#include "text_of.h"

#define MOST 8

struct pair {
	const char *name;
	uint64_t value;
};

/* What the kernel would answer: `names` of them have a name, `values` a value. */
static void take(struct ethtool *e, const struct pair *list, unsigned names, unsigned values)
{
	struct ethtool_gstrings *n = calloc(1, sizeof(*n) + MOST * ETH_GSTRING_LEN);
	struct ethtool_stats *v = calloc(1, sizeof(*v) + MOST * sizeof(v->data[0]));

	assert_true(n && v && MAX(names, values) <= MOST);
	n->len = names;
	v->n_stats = values;
	for (unsigned i = 0; i < names; i++)
		memcpy(n->data + i * ETH_GSTRING_LEN, list[i].name, strnlen(list[i].name, ETH_GSTRING_LEN));
	for (unsigned i = 0; i < values; i++)
		v->data[i] = list[i].value;
	assert_int_equal(ethtool_take(e, n, v), 0);
	free(n);
	free(v);
}

static void test_names_and_values(void **state)
{
	/* The second has 32 bytes: no zero byte follows it. */
	static const struct pair list[] = { { "rx_packets", 5 }, { "a_name_of_thirty-two_characters_", UINT64_MAX }, { "", 3 } };
	struct ethtool e = { 0 };

	(void)state;
	for (unsigned n = 3; n; n--) {
		take(&e, list, n, 3);
		assert_int_equal(e.n, n);
		take(&e, list, 3, n);
		assert_int_equal(e.n, n);
		for (unsigned i = 0; i < n; i++) {
			assert_string_equal(e.stat[i].name, list[i].name);
			assert_true(e.stat[i].value == list[i].value);
		}
	}
	ethtool_free(&e);
}

static const struct pair before[] = { { "rx_packets", 1000 }, { "gone", 7 }, { "tx_packets", 5 }, { "errors", 9 }, { "twice", 1 }, { "twice", 100 } };
static const struct pair after[] = { { "new", 70 }, { "tx_packets", 5 }, { "twice", 3 }, { "twice", 104 }, { "rx_packets", 2469134 }, { "errors", 2 } };

static void test_increments_by_name(void **state)
{
	static const struct {
		bool known, wrapped;
		uint64_t increment;
	} expected[] = { { false, false, 0 }, { true, false, 0 }, { true, false, 2 }, { true, false, 4 }, { true, false, 2468134 }, { true, true, 0 } };
	struct ethtool from = { 0 }, to = { 0 };
	unsigned hint = 0;

	(void)state;
	take(&from, before, ARRAY_SIZE(before), ARRAY_SIZE(before));
	take(&to, after, ARRAY_SIZE(after), ARRAY_SIZE(after));
	for (unsigned i = 0; i < to.n; i++) {
		uint64_t increment = 0;
		bool wrapped = false;

		assert_int_equal(ethtool_since(&from, &to, i, &hint, &increment, &wrapped), expected[i].known);
		if (increment != expected[i].increment || wrapped != expected[i].wrapped)
			fail_msg("%s", to.stat[i].name);
	}
	ethtool_free(&from);
	hint = 0;
	assert_false(ethtool_since(&from, &to, 0, &hint, &(uint64_t){ 0 }, &(bool){ false })); /* there was none at all */
	ethtool_free(&to);
}

static void test_print(void **state)
{
	struct ethtool from = { .device = "eth0" }, to = { .device = "eth0" };

	(void)state;
	take(&from, before, ARRAY_SIZE(before), ARRAY_SIZE(before));
	take(&to, after, ARRAY_SIZE(after), ARRAY_SIZE(after));
	text_begin();
	assert_int_equal(ethtool_show_text(text_out, &from, &to, 2 * NSEC_PER_SEC), 0);
	assert_string_equal(text_end(), "\nShow adapter(s) (eth0) statistics (ONLY that changed!)\n"
					"Ethtool(eth0    ) stat:            0 (              0) <= errors /sec (overflow)\n"
					"Ethtool(eth0    ) stat:      1234067 (      1,234,067) <= rx_packets /sec\n"
					"Ethtool(eth0    ) stat:            3 (              3) <= twice /sec\n");
	text_begin();
	assert_int_equal(ethtool_show_json(text_out, &from, &to, 2 * NSEC_PER_SEC), 0);
	assert_string_equal(text_end(), "{\"type\":\"ethtool\",\"device\":\"eth0\",\"counters\":{\"errors\":0,\"rx_packets\":2468134,\"twice\":6},"
					"\"rate\":{\"errors\":null,\"rx_packets\":1234067.0,\"twice\":3.0},\"interval_ns\":2000000000,\"wrapped\":[\"errors\"]}\n");
	text_begin();
	assert_int_equal(ethtool_show_text(text_out, &to, &to, 2 * NSEC_PER_SEC), 0);
	assert_string_equal(text_end(), "\nShow adapter(s) (eth0) statistics (ONLY that changed!)\n ***WARN***: No counters changed\n");
	text_free();
	ethtool_free(&from);
	ethtool_free(&to);
}

static void test_devices_without(void **state)
{
	struct ethtool e = { 0 };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(ethtool_read(&e, "lo", &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "lo: "));
	assert_int_equal(ethtool_read(&e, "no-such-dev", &err), -ENODEV);
	assert_non_null(strstr(err.text, "no-such-dev: "));
	ethtool_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_values), cmocka_unit_test(test_increments_by_name), cmocka_unit_test(test_print),
		cmocka_unit_test(test_devices_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
