/* SPDX-License-Identifier: MIT */
/* --flow-order: whose turn it is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "chi.h"
#include "source/order.h"

#define DRAWS 100000

static void test_understood(void **state)
{
	static const struct {
		const char *text;
		enum order_kind kind;
		double exponent;
	} rows[] = {
		{ "round-robin", ORDER_ROUND_ROBIN, 1 }, { "random", ORDER_RANDOM, 1 }, { "zipf", ORDER_ZIPF, 1 },
		{ "zipf:1.1", ORDER_ZIPF, 1.1 },	 { "zipf:0", ORDER_ZIPF, 0 },   { "zipf:10", ORDER_ZIPF, 10 },
	};
	static const char *const wrong[] = { "", "rr", "Random", "zipf:", "zipf:x", "zipf:-1", "zipf:10.1", "zipf:1e1", "zipfs", "zipf:1,1" };
	struct order_plan plan;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(order_parse(rows[i].text, &plan, NULL), 0);
		assert_int_equal(plan.kind, rows[i].kind);
		if (plan.kind == ORDER_ZIPF)
			assert_true(fabs(plan.exponent - rows[i].exponent) < 1e-12);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(order_parse(wrong[i], &plan, &err), -EINVAL);
		assert_non_null(strstr(err.text, "--flow-order"));
	}
}

static void test_round_robin(void **state)
{
	const struct order_plan plan = { .kind = ORDER_ROUND_ROBIN };
	struct random r = { { 1, 2, 3, 4 } };

	(void)state;
	for (unsigned n = 1; n < 6; n++) {
		struct order o;

		assert_int_equal(order_init(&o, &plan, n), 0);
		for (unsigned k = 0; k < 20; k++)
			assert_int_equal(order_next(&o, &r), k % n);
		order_free(&o);
	}
}

/* weight NULL: all alike. */
static void drawn(const char *text, unsigned n, const double *weight)
{
	uint64_t *seen = calloc(n, sizeof(*seen));
	struct order_plan plan;
	struct random r;
	struct order o;

	assert_non_null(seen);
	random_seed(&r, 11, n);
	assert_int_equal(order_parse(text, &plan, NULL), 0);
	assert_int_equal(order_init(&o, &plan, n), 0);
	for (unsigned k = 0; k < DRAWS; k++) {
		unsigned i = order_next(&o, &r);

		assert_true(i < n);
		seen[i]++;
	}
	assert_true(chi_fits(seen, weight, n, DRAWS));
	order_free(&o);
	free(seen);
}

static void test_random_and_zipf(void **state)
{
	static const double exponents[] = { 0, 0.5, 1, 1.1, 3 };
	static const char *const texts[] = { "zipf:0", "zipf:0.5", "zipf", "zipf:1.1", "zipf:3" };
	double weight[200];

	(void)state;
	drawn("random", 1, NULL);
	drawn("random", 7, NULL);
	drawn("random", 1000, NULL);
	for (unsigned e = 0; e < ARRAY_SIZE(texts); e++) {
		for (unsigned i = 0; i < ARRAY_SIZE(weight); i++)
			weight[i] = 1 / pow(i + 1., exponents[e]);
		drawn(texts[e], 1, weight);
		/* Chi-square wants some of each: fewer flows where the last are rare. */
		drawn(texts[e], exponents[e] < 2 ? ARRAY_SIZE(weight) : 10, weight);
	}
	drawn("zipf:0", 50, NULL);
}

static void test_steepest_with_most_flows(void **state)
{
	const struct order_plan plan = { .kind = ORDER_ZIPF, .exponent = 10 };
	unsigned first = 0;
	struct random r;
	struct order o;

	(void)state;
	random_seed(&r, 12, 0);
	assert_int_equal(order_init(&o, &plan, 65535), 0);
	for (unsigned k = 0; k < DRAWS; k++)
		first += order_next(&o, &r) == 0;
	assert_in_range(first, DRAWS * 998 / 1000, DRAWS); /* 1/zeta(10) = 0.99901 */
	order_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood),
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_random_and_zipf),
		cmocka_unit_test(test_steepest_with_most_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
