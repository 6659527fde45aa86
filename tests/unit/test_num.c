/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/util.h"
#include "comma_locale.h"
#include "tap.h"

struct row {
	const char *text;
	int rc;
	uint64_t value;
};

typedef int parse_fn(const char *text, uint64_t *out);

static void run(const struct row *row, size_t n, parse_fn *parse)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 4711;
		int rc = parse(row[i].text, &value);

		if (rc != row[i].rc || value != (rc ? 4711 : row[i].value))
			fail_msg("'%s': rc %d value %llu, expected rc %d value %llu", row[i].text,
				 rc, (unsigned long long)value, row[i].rc,
				 (unsigned long long)row[i].value);
	}
}

static const struct row counts[] = {
	{ "0", 0, 0 },
	{ "100", 0, 100 },
	{ "0100", 0, 100 },
	{ "500k", 0, 500000 },
	{ "500K", 0, 500000 },
	{ "1.2M", 0, 1200000 },
	{ "1.2m", 0, 1200000 },
	{ "0.5k", 0, 500 },
	{ "0.001k", 0, 1 },
	{ "1.000", 0, 1 },
	{ "1.0000000000000000000000000000", 0, 1 },
	{ "0.0010k", 0, 1 },
	{ "0.0001k", -EINVAL, 0 },
	{ "0.5", -EINVAL, 0 },
	{ "1.2345k", -EINVAL, 0 },
	{ "2G", 0, 2000000000 },
	{ "2g", 0, 2000000000 },
	{ "1T", 0, 1000000000000 },
	{ "1.000000000001T", 0, 1000000000001 },
	{ "1.0000000000001T", -EINVAL, 0 },
	{ "0.0000000000000000001T", -EINVAL, 0 },
	{ "18446744073709551615", 0, UINT64_MAX },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "99999999999999999999999999", -ERANGE, 0 },
	{ "18446744073709551.615k", 0, UINT64_MAX },
	{ "18446744073709551.616k", -ERANGE, 0 },
	{ "18446744.1T", -ERANGE, 0 },
	{ "18446744073709551616x", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "k", -EINVAL, 0 },
	{ ".", -EINVAL, 0 },
	{ ".5k", -EINVAL, 0 },
	{ "5.", -EINVAL, 0 },
	{ "5.k", -EINVAL, 0 },
	{ "1.2.3k", -EINVAL, 0 },
	{ "1,2M", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "1 k", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "1kk", -EINVAL, 0 },
	{ "1kB", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
	{ "inf", -EINVAL, 0 },
};

static const struct row bytes[] = {
	{ "4096", 0, 4096 },
	{ "4096B", 0, 4096 },
	{ "64k", 0, 65536 },
	{ "64K", 0, 65536 },
	{ "64KiB", 0, 65536 },
	{ "64kB", 0, 64000 },
	{ "64KB", 0, 64000 },
	{ "1M", 0, 1048576 },
	{ "1m", 0, 1048576 },
	{ "1MiB", 0, 1048576 },
	{ "1MB", 0, 1000000 },
	{ "1G", 0, 1073741824 },
	{ "1g", 0, 1073741824 },
	{ "1GiB", 0, 1073741824 },
	{ "1GB", 0, 1000000000 },
	{ "0.5k", 0, 512 },
	{ "0.25k", 0, 256 },
	{ "1.5M", 0, 1572864 },
	{ "0.1k", -EINVAL, 0 },
	{ "0.1kB", 0, 100 },
	{ "17179869183G", 0, UINT64_C(17179869183) << 30 },
	{ "17179869184G", -ERANGE, 0 },
	{ "64Kb", -EINVAL, 0 },
	{ "64kib", -EINVAL, 0 },
	{ "64T", -EINVAL, 0 },
	{ "64%", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "-64k", -EINVAL, 0 },
};

static const struct row durations[] = {
	{ "10", 0, 10000000000 },
	{ "10s", 0, 10000000000 },
	{ "0", 0, 0 },
	{ "250ms", 0, 250000000 },
	{ "50us", 0, 50000 },
	{ "100ns", 0, 100 },
	{ "2m", 0, 120000000000 },
	{ "1h", 0, 3600000000000 },
	{ "1.5", 0, 1500000000 },
	{ "0.5h", 0, 1800000000000 },
	{ "0.1us", 0, 100 },
	{ "0.5ns", -EINVAL, 0 },
	{ "0.0000000001s", -EINVAL, 0 },
	{ "5124095h", 0, UINT64_C(5124095) * 3600 * 1000000000 },
	{ "5124096h", -ERANGE, 0 },
	{ "10S", -EINVAL, 0 },
	{ "10min", -EINVAL, 0 },
	{ "10 s", -EINVAL, 0 },
	{ "1m30s", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "-1s", -EINVAL, 0 },
};

static void count_rows(void **state)
{
	(void)state;
	run(counts, ARRAY_SIZE(counts), num_count);
}

static void byte_rows(void **state)
{
	(void)state;
	run(bytes, ARRAY_SIZE(bytes), num_bytes);
}

static void duration_rows(void **state)
{
	(void)state;
	run(durations, ARRAY_SIZE(durations), num_duration);
}

static void duration_text_reads_back(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} row[] = {
		{ 0, "0" },
		{ 1, "1ns" },
		{ 1500, "1500ns" },
		{ 50000, "50us" },
		{ 100000000, "100ms" },
		{ 1000000000, "1s" },
		{ 90000000000, "90s" },
		{ 120000000000, "2m" },
		{ 3600000000000, "1h" },
		{ UINT64_MAX, "18446744073709551615ns" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		uint64_t back;

		assert_string_equal(num_duration_text(row[i].ns, buf, sizeof(buf)), row[i].text);
		assert_int_equal(num_duration(buf, &back), 0);
		assert_int_equal(back, row[i].ns);
	}
}

static void commas(void **state)
{
	char buf[32], small[4];

	(void)state;
	assert_string_equal(num_commas(0, buf, sizeof(buf)), "0");
	assert_string_equal(num_commas(999, buf, sizeof(buf)), "999");
	assert_string_equal(num_commas(1000, buf, sizeof(buf)), "1,000");
	assert_string_equal(num_commas(1234567, buf, sizeof(buf)), "1,234,567");
	assert_string_equal(num_commas(UINT64_MAX, buf, sizeof(buf)), "18,446,744,073,709,551,615");
	assert_string_equal(num_commas(1234567, small, sizeof(small)), "1,2");
}

static void check_si(void)
{
	/* clang-format off */
	static const struct {
		double value;
		const char *text;
	} row[] = {
		{ 0, "0" }, { 5, "5" }, { 999, "999" }, { 1000, "1.00k" },
		{ 1762923, "1.76M" }, { 17629230, "17.6M" }, { 176292300, "176M" },
		{ 2e9, "2.00G" },
		{ 3.21e12, "3.21T" }, { 4e15, "4000T" }, { 0.5, "0.500" }, { 9.953, "9.95" },
		{ 9.996, "10.0" }, { 99.96, "100" }, { 567.24, "567" }, { 999.4, "999" },
		{ 999.6, "1.00k" }, { 999600, "1.00M" }, { 12.34, "12.3" }, { 0.00123, "0.00123" },
		{ -1762923, "-1.76M" }, { NAN, "-" }, { INFINITY, "-" }, { -INFINITY, "-" },
		{ 1e-30, "0.000000000" },
	};
	/* clang-format on */
	char buf[32];

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		assert_string_equal(num_si(row[i].value, buf, sizeof(buf)), row[i].text);
}

static void si(void **state)
{
	(void)state;
	check_si();
}

static void R115_decimal_comma_changes_nothing(void **state)
{
	(void)state;
	comma_locale();
	run(counts, ARRAY_SIZE(counts), num_count);
	run(durations, ARRAY_SIZE(durations), num_duration);
	check_si();
	setlocale(LC_ALL, "C");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(count_rows),
		cmocka_unit_test(byte_rows),
		cmocka_unit_test(duration_rows),
		cmocka_unit_test(duration_text_reads_back),
		cmocka_unit_test(commas),
		cmocka_unit_test(si),
		cmocka_unit_test(R115_decimal_comma_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
