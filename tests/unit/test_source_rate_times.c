/* SPDX-License-Identifier: MIT */
/* A plan made of the times of a capture: when each datagram is due, over and over and at other speeds, and what the pacer asks of a plan. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/pacer.h"
#include "source/rate.h"

static const uint64_t times[] = { 0, 0, 1000, 5000, 900000 };
#define N ARRAY_SIZE(times)
#define GAP (900000 / 4)

static void test_due(void **state)
{
	struct rate_plan p;

	(void)state;
	rate_from_times(&p, times, N, 1);
	for (uint64_t k = 0; k < 3 * N; k++)
		assert_int_equal(rate_due(&p, k), k / N * (900000 + GAP) + times[k % N]);
	assert_false(rate_is_steady(&p));
	assert_true(p.end_ns == UINT64_MAX && p.total == UINT64_MAX && p.n);
	assert_true(rate_due(&p, UINT64_MAX / 2) == UINT64_MAX); /* beyond all times */
	rate_from_times(&p, times, N, 2);
	assert_int_equal(rate_due(&p, N + 3), (900000 + GAP + 5000) / 2);
	rate_from_times(&p, times, N, 0.5);
	assert_int_equal(rate_due(&p, N + 3), (900000 + GAP + 5000) * 2);
}

static void test_before(void **state)
{
	static const struct {
		uint64_t ns, before;
	} cases[] = { { 0, 0 }, { 1, 2 }, { 1000, 2 }, { 1001, 3 }, { 900000, 4 }, { 900001, 5 }, { 900000 + GAP, 5 }, { 900000 + GAP + 1, 7 } };
	struct rate_plan p;

	(void)state;
	rate_from_times(&p, times, N, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(rate_before(&p, cases[i].ns), cases[i].before);
	assert_true(rate_before(&p, UINT64_MAX) == UINT64_MAX);
}

static void test_sum_goes_up_evenly_between_times(void **state)
{
	struct rate_plan p;

	(void)state;
	rate_from_times(&p, times, N, 1);
	assert_true(rate_sum(&p, 0) == 1);      /* two at once: number 1 is due */
	assert_true(rate_sum(&p, 500) == 1.5);
	assert_true(rate_sum(&p, 1000) == 2);
	assert_true(rate_sum(&p, 3000) == 2.5);
	assert_true(fabs(rate_sum(&p, 900000 + GAP / 2) - 4.5) < 1e-9);
	assert_true(rate_sum(&p, 900000 + GAP) == 6);
}

static void test_one_datagram(void **state)
{
	static const uint64_t one[] = { 0 };
	struct rate_plan p;

	(void)state;
	rate_from_times(&p, one, 1, 1);
	assert_int_equal(rate_due(&p, 0), 0);
	assert_int_equal(rate_due(&p, 1000), 0);
	assert_true(rate_before(&p, 1) == UINT64_MAX);
}

static uint64_t now_ns;

static uint64_t fake_now(void *data)
{
	(void)data;
	return now_ns += 100;
}

static void fake_sleep(void *data, uint64_t until)
{
	(void)data;
	now_ns = until;
}

/* However close they are, each goes at its own time; two threads share them. */
static void test_nothing_goes_out_together(void **state)
{
	static const struct pacer_clock clock = { .now = fake_now, .sleep_until = fake_sleep };
	static atomic_bool stop;
	struct rate_plan plan;

	(void)state;
	rate_from_times(&plan, times, N, 1);
	for (unsigned thread = 0; thread < 2; thread++) {
		const struct pacer_conf conf = { .clock = &clock, .plan = &plan, .thread = thread, .threads = 2, .atom = 1, .most = 32 };
		struct pacer p;

		now_ns = 1;
		pacer_init(&p, &conf);
		pacer_start(&p, 1000000);
		for (uint64_t i = 0; i < 20; i++) {
			uint64_t k = pacer_number(&p, i);

			assert_int_equal(k, 2 * i + thread);
			assert_int_equal(pacer_wait(&p, 32, &stop), 1);
			assert_in_range(now_ns, 1000000 + rate_due(&plan, k), 1000000 + rate_due(&plan, k) + 1000);
		}
		assert_int_equal(p.moved, 0);
		assert_true(fabs(pacer_released(&p) / pacer_target(&p) - 0.5) < 0.05); /* half of them are this thread's */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_sum_goes_up_evenly_between_times),
		cmocka_unit_test(test_one_datagram),
		cmocka_unit_test(test_nothing_goes_out_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
