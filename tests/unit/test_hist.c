/* SPDX-License-Identifier: MIT */
/* Percentiles of a histogram: bounds, exactness of small values and of the largest, sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hist.h"
#include "base/util.h"

static void test_empty(void **state)
{
	static struct hist h;

	(void)state;
	assert_int_equal(hist_permille(&h, 0), 0);
	assert_int_equal(hist_permille(&h, 500), 0);
	assert_int_equal(hist_permille(&h, 1000), 0);
}

/* One value below a larger one: its percentile is itself or up to 1/16 more. */
static void test_bound_of_each_value(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < UINT64_C(1) << 38; value += value < 5000 ? 1 : value / 1000 + 7) {
		static struct hist h;
		uint64_t got;

		h = (struct hist){ 0 };
		hist_record(&h, value);
		hist_record(&h, UINT64_MAX);
		got = hist_permille(&h, 500);
		if (value < 32)
			assert_int_equal(got, value);
		assert_true(got >= value && got - value <= value / 16);
		assert_true(hist_permille(&h, 501) == UINT64_MAX);
	}
}

static void test_percentiles_and_the_largest(void **state)
{
	static struct hist h, sum;

	(void)state;
	for (unsigned i = 1; i <= 1000; i++)
		hist_record(&h, i * 1000);
	assert_int_equal(h.n, 1000);
	assert_in_range(hist_permille(&h, 500), 500000, 531250);
	assert_in_range(hist_permille(&h, 990), 990000, 1000000);
	assert_in_range(hist_permille(&h, 999), 999000, 1000000);
	assert_int_equal(hist_permille(&h, 1000), 1000000);
	hist_add(&sum, &h);
	hist_record(&sum, UINT64_C(1) << 50); /* beyond the buckets */
	hist_add(&sum, &h);
	assert_int_equal(sum.n, 2001);
	assert_int_equal(hist_permille(&sum, 500), hist_permille(&h, 500));
	assert_int_equal(hist_permille(&sum, 1000), UINT64_C(1) << 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bound_of_each_value),
		cmocka_unit_test(test_percentiles_and_the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
