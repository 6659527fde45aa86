/* SPDX-License-Identifier: MIT */
/* Plans of --rate: what is read, when each datagram is due, how many there are. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/rate.h"

static struct rate_plan plan(const char *text, double mean)
{
	struct err err = ERR_INIT;
	struct rate_plan p;

	if (rate_parse(text, mean, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

#define S NSEC_PER_SEC
#define MS NSEC_PER_MSEC

static void test_steady_is_exact(void **state)
{
	/* What is due when at 7 per second, and what long division must not lose. */
	static const struct {
		const char *rate;
		uint64_t k, ns;
	} cases[] = {
		{ "7", 0, 0 },
		{ "7", 1, S / 7 },
		{ "7", 7000000, 1000000 * S },
		{ "7", 7000001, 1000000 * S + S / 7 },
		{ "1G", UINT64_C(86400) * 366 * 1000000000 + 1, UINT64_C(86400) * 366 * S + 1 },
		{ "999999937", UINT64_C(86400) * 366 * 999999937, UINT64_C(86400) * 366 * S },
		{ "999999937", UINT64_C(86400) * 366 * 999999937 + 999999936, UINT64_C(86400) * 366 * S + 999999998 },
		{ "1", UINT64_C(3000000000), UINT64_C(3000000000) * S },
		{ "1", UINT64_C(1) << 60, UINT64_MAX },
		{ "300k", 299999, 299999 * S / 300000 },
		{ "1.2M", 1200001, S + S / 1200000 },
		{ "0.5", 3, 6 * S },
		{ "1.5", 3000000, 2000000 * S },
		{ "0.001", 1, 1000 * S },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rate_plan p = plan(cases[i].rate, 18);

		assert_true(rate_is_steady(&p));
		assert_true(rate_due(&p, cases[i].k) == cases[i].ns);
		assert_true(p.total == UINT64_MAX && p.end_ns == UINT64_MAX && rate_segment_end(&p, cases[i].k) == UINT64_MAX);
	}
}

static void test_bits_are_those_of_the_payload(void **state)
{
	static const struct {
		const char *text;
		double mean, pps;
	} cases[] = {
		{ "30Mbit", 1470, 30e6 / (8 * 1470) }, /* R60 */
		{ "3Gbit", 1472, 3e9 / (8 * 1472) },
		{ "144bit", 18, 1 },
		{ "1kbit", 362.5, 1e3 / (8 * 362.5) },
		{ "1kbit", 65507, 1e3 / (8. * 65507) },
		{ "0.5kbit", 1, 62.5 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rate_plan p = plan(cases[i].text, cases[i].mean);
		double pps = rate_at(&p, 12345);

		assert_true(fabs(pps - cases[i].pps) <= 0.5e-6);
		assert_true(fabs((double)rate_due(&p, 1000000) - 1e15 / pps) <= 1 + 1e-9 * 1e15 / pps);
	}
}

/* The definition itself: the rate summed up to the time of datagram k is k. */
static void check_definition(const char *text)
{
	struct rate_plan p = plan(text, 18);
	uint64_t before = 0, n = p.total == UINT64_MAX ? 100000 : p.total;

	for (uint64_t k = 0; k < n; k += n / 2000 + 1) {
		uint64_t ns = rate_due(&p, k);
		double sum = rate_sum(&p, ns), each = fmax(rate_at(&p, k) / 1e9, 1e-12);

		assert_true(ns >= before && ns < p.end_ns);
		/* One ns of rounding, and near a rate of 0 what double precision can tell. */
		assert_true(fabs(sum - (double)k) <= 2 * each + 1e-9 * (double)(k + 1));
		assert_true(rate_before(&p, ns) <= k && rate_before(&p, ns + 1) > k);
		assert_true(rate_segment_end(&p, k) > k);
		before = ns;
	}
	assert_true(rate_before(&p, 0) == 0 && rate_before(&p, p.end_ns) == p.total);
	if (p.total != UINT64_MAX)
		assert_true(fabs(rate_sum(&p, p.end_ns) + 0.5 - (double)p.total) <= 0.5 + 1e-9 * (double)p.total);
}

static void test_due_is_where_the_sum_of_the_rate_is(void **state)
{
	static const char *const plans[] = {
		"7", "1000:5s", "100k..2M/30s", "2M..100k/30s", "0..100k/10s", "100k..0/10s", "1..3/2500ms", "3..1/2500ms", "0..1/100s",
		"100k:5s,500k:5s", "3:500ms,3:500ms,5:1s", "3:500ms,0:2s,3:1s", "0:1s,0..10/3s,10..0/3s,0:1s", "7:333ms,11..13/777ms,17",
		"100k:5s,100k..1M/10s,1M", "1:1ns,1:1ns,1:1ns,1000:1s", "500bit:10s,1kbit..5kbit/10s", "1G:1h,1..1G/1h", "999999999:1000001ns,7",
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(plans); i++)
		check_definition(plans[i]);
}

static void test_totals(void **state)
{
	static const struct {
		const char *text;
		uint64_t total, end_ns;
	} cases[] = {
		{ "1000:300ms", 300, 300 * MS },
		{ "1000:301ms", 301, 301 * MS },
		{ "7:1s", 7, S },
		{ "3:500ms", 2, 500 * MS },              /* at 0 and 333 ms */
		{ "3:500ms,3:500ms", 3, S },             /* and at 667 ms: the boundary is not seen */
		{ "100k..2M/30s", 31500000, 30 * S },
		{ "0..3/1s", 2, S },
		{ "1:1ns", 1, 1 },
		{ "100k:5s,500k:5s", 3000000, 10 * S },
		{ "333333:1s,0:1s,666667:1s", 1000000, 3 * S },
		{ "999999999:1000000000ns", 999999999, S },
		{ "1G:1000000h", UINT64_C(3600000000000000000), UINT64_C(3600000000) * S },
	};
	struct rate_plan p;

	(void)state;
	for (unsigned i = 0; i + 1 < ARRAY_SIZE(cases); i++) {
		p = plan(cases[i].text, 18);
		assert_true(p.total == cases[i].total && p.end_ns == cases[i].end_ns);
	}
	/* The last one takes longer than a plan may. */
	assert_int_equal(rate_parse(cases[ARRAY_SIZE(cases) - 1].text, 18, &p, NULL), -EINVAL);
}

static void test_segments(void **state)
{
	struct rate_plan p = plan("3:500ms,0:2s,3:1s,5", 18);

	(void)state;
	/* 1.5 datagrams, none, 3, and so on: due at 0, 333 ms; then, half a datagram later, 2.5 s + 167 ms. */
	assert_int_equal(rate_due(&p, 1), 333333333);
	assert_int_equal(rate_due(&p, 2), 2500 * MS + 166666666);
	assert_int_equal(rate_segment_end(&p, 0), 2);
	assert_int_equal(rate_segment_end(&p, 2), 5);
	assert_true(rate_segment_end(&p, 5) == UINT64_MAX);
	/* 4.5 are over at 3.5 s: half a datagram at 5 per second is 100 ms. */
	assert_int_equal(rate_due(&p, 5), 3600 * MS);
	assert_int_equal(rate_due(&p, 10), 4600 * MS);
	assert_int_equal(rate_before(&p, 3600 * MS), 5);
	assert_int_equal(rate_before(&p, 3600 * MS + 1), 6);
	/* --duration ends where it wants. */
	p = plan("1000", 18);
	assert_int_equal(rate_before(&p, 500 * MS), 500);
	assert_int_equal(rate_before(&p, 500 * MS + 1), 501);
	assert_int_equal(rate_before(&p, 1), 1);
	p = plan("0..1000/1s", 18);
	assert_int_equal(rate_before(&p, 500 * MS), 125);
	/* Halfway up a ramp from 0 the rate is half, and a quarter was sent. */
	assert_true(fabs(rate_at(&p, 125) - 500) < 1e-6);
	assert_true(fabs((double)rate_due(&p, 125) - 5e8) <= 1);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "no rate" }, { "x", "'x' is no rate" }, { "-1", "no rate" }, { ".5", "no rate" }, { "0.0", "pause" }, { "1e3", "no rate" }, { "500k ", "no rate" },
		{ "5bits", "no rate" }, { "bit", "no rate" }, { "0", "pause" }, { "0:1s", "no datagram is ever due" }, { "0..0/1s", "no datagram" },
		{ "5:1s,0", "pause" }, { "2G", "more than 1000000000" }, { "20000Gbit", "more than" }, { "100k..2M", "needs a time" },
		{ "100k..2M:5s", "needs a time" }, { "100k..2M/", "no time" }, { "100k:", "no time" }, { "100k:0", "no time" }, { "100k:5x", "no time" },
		{ "0.0009", "1000 s" }, { "0.5x", "no rate" }, { "100k,5k", "only the last" }, { "100k,5k:1s", "only the last" }, { "100k:1s,", "no rate" }, { ",100k", "no rate" },
		{ "..5/1s", "no rate" }, { "5../1s", "no rate" }, { "5...6/1s", "no rate" }, { "1:300000h", "no time" }, { "1:200000h,1:200000h", "31 years" },
		{ "18446744073709551616", "no rate" }, { "1bit:1s,0.0001bit", "no rate" },
	};
	char many[RATE_SEGMENTS * 8 + 8] = "";
	struct rate_plan p;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(rate_parse(cases[i].text, 18, &p, &err), -EINVAL);
		assert_non_null(strstr(err.text, "--rate"));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
	assert_int_equal(rate_parse("1kbit", 0, &p, NULL), -EINVAL); /* datagrams without payload */
	assert_int_equal(rate_parse("1bit", 1470, &p, NULL), -EINVAL); /* one in three hours */
	for (unsigned i = 0; i < RATE_SEGMENTS; i++)
		strcat(many, "1:1s,");
	assert_int_equal(rate_parse(many, 18, &p, NULL), -EINVAL); /* ends with a comma */
	many[strlen(many) - 1] = '\0';
	assert_int_equal(rate_parse(many, 18, &p, NULL), 0);
	assert_true(p.n == RATE_SEGMENTS && p.total == RATE_SEGMENTS);
	strcat(many, ",1:1s");
	assert_int_equal(rate_parse(many, 18, &p, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady_is_exact),
		cmocka_unit_test(test_bits_are_those_of_the_payload),
		cmocka_unit_test(test_due_is_where_the_sum_of_the_rate_is),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
