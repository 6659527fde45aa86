/* SPDX-License-Identifier: MIT */
/* The schedule of --rate on a clock of our own: exactness, sharing between threads, bounded catch-up (R60). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/pacer.h"

/* Time stands still but for sleeping and 100 ns per look. */
struct fake {
	uint64_t ns;
	uint64_t oversleep; /* added to each sleep */
	unsigned sleeps;
	uint64_t longest;
};

static uint64_t fake_now(void *data)
{
	struct fake *f = data;

	return f->ns += 100;
}

static void fake_sleep(void *data, uint64_t until)
{
	struct fake *f = data;

	f->sleeps++;
	f->longest = MAX(f->longest, until - f->ns);
	f->ns = until + f->oversleep;
}

static atomic_bool stop;

#define CLOCK(fake) \
	{ \
		.now = fake_now, .sleep_until = fake_sleep, .data = fake \
	}

static void test_deadlines_do_not_drift(void **state)
{
	struct fake fake = { .ns = 1000 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p;

	(void)state;
	/* 7 per second: no whole number of ns. After 7 million datagrams it is a million seconds, to the ns. */
	pacer_init(&p, &clock, 7, 0, 1, 1, 32);
	pacer_start(&p, 5);
	assert_int_equal(pacer_deadline(&p), 5);
	p.position = 1;
	assert_int_equal(pacer_deadline(&p), 5 + NSEC_PER_SEC / 7);
	p.position = 7000000;
	assert_int_equal(pacer_deadline(&p), 5 + 1000000 * NSEC_PER_SEC);
	/* The largest rate, after a year: no overflow. */
	pacer_init(&p, &clock, 1000000000, 0, 1, 1, 1024);
	p.position = UINT64_C(86400) * 366 * 1000000000 + 1;
	assert_int_equal(pacer_deadline(&p), UINT64_C(86400) * 366 * NSEC_PER_SEC + 1);
}

static void test_burst_size(void **state)
{
	static const struct {
		uint64_t rate;
		unsigned threads, atom, most, burst;
	} cases[] = {
		{ 1, 1, 1, 32, 1 },	  { 2551, 1, 1, 32, 1 },     { 20000, 1, 1, 32, 1 },
		{ 300000, 1, 1, 32, 15 }, { 300000, 3, 1, 32, 5 },   { 1000000000, 1, 1, 32, 32 },
		{ 1, 1, 8, 64, 8 },	  { 1000000, 1, 8, 64, 48 }, { 1000000, 1, 50, 200, 50 },
	};
	struct pacer p;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		pacer_init(&p, &pacer_monotonic, cases[i].rate, 0, cases[i].threads, cases[i].atom,
			   cases[i].most);
		assert_int_equal(p.burst, cases[i].burst);
	}
}

static void test_threads_share_exactly(void **state)
{
	enum { THREADS = 3, BURSTS = 1000 };
	static bool taken[THREADS * BURSTS * 5];
	struct pacer p;

	(void)state;
	/* Each datagram number of the program is some thread's exactly once. */
	for (unsigned t = 0; t < THREADS; t++) {
		struct fake fake = { .ns = 1 };
		const struct pacer_clock clock = CLOCK(&fake);

		pacer_init(&p, &clock, 300000, t, THREADS, 1, 32);
		assert_int_equal(p.burst, 5);
		pacer_start(&p, 1000);
		for (unsigned i = 0; i < BURSTS; i++) {
			uint64_t first = p.position;
			unsigned n = pacer_wait(&p, 32, &stop);

			assert_int_equal(n, 5);
			for (unsigned k = 0; k < n; k++) {
				assert_false(taken[first + k]);
				taken[first + k] = true;
			}
		}
	}
	for (unsigned i = 0; i < ARRAY_SIZE(taken); i++)
		assert_true(taken[i]);
}

static void test_never_early_seldom_late(void **state)
{
	struct fake fake = { .ns = 1, .oversleep = 30000 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p;

	(void)state;
	pacer_init(&p, &clock, 1000, 0, 1, 1, 32);
	pacer_start(&p, NSEC_PER_SEC);
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t due = pacer_deadline(&p);

		assert_int_equal(pacer_wait(&p, 32, &stop), 1);
		assert_int_equal(due, NSEC_PER_SEC + i * NSEC_PER_MSEC);
		assert_true(fake.ns >= due && fake.ns <= due + 200);
	}
	/* It slept to PACER_SPIN_NS before the time and no longer than a slice. */
	assert_in_range(fake.sleeps, 5000, 5100);
	assert_in_range(fake.longest, 1, PACER_SLICE_NS);
	assert_int_equal(p.bursts, 5000);
	assert_int_equal(p.scheduled, 5000);
	assert_int_equal(p.late, 0);
	assert_int_equal(p.moved, 0);
	assert_int_equal(p.largest, 1);
	assert_true(fabs(pacer_achieved(&p) - 1000) < 0.01);
}

static void test_short_delay_is_caught_up(void **state)
{
	struct fake fake = { .ns = 1 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p;

	(void)state;
	pacer_init(&p, &clock, 1000, 0, 1, 1, 32);
	pacer_start(&p, 1000000);
	for (unsigned i = 0; i < 10; i++)
		pacer_wait(&p, 1, &stop);
	fake.ns += 5 * NSEC_PER_MSEC + 500000; /* off the CPU */
	for (unsigned i = 0; i < 10; i++)
		pacer_wait(&p, 1, &stop);
	/* Numbers 10 to 14 were due meanwhile, and the one before was sent without a wait between. The schedule
	 * stays. */
	assert_int_equal(p.moved, 0);
	assert_int_equal(p.largest, 6);
	assert_int_equal(p.late, 5);
	assert_int_equal(pacer_deadline(&p), 1000000 + 20 * NSEC_PER_MSEC);
	assert_in_range(p.late_max_ns, 4500000, 4501000);
}

static void test_long_delay_is_no_flood_r60(void **state)
{
	struct fake fake = { .ns = 1 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p;
	uint64_t resumed;

	(void)state;
	pacer_init(&p, &clock, 10000, 0, 1, 1, 32);
	pacer_start(&p, 1000000);
	for (unsigned i = 0; i < 100; i++)
		pacer_wait(&p, 1, &stop);
	fake.ns += 3 * NSEC_PER_SEC;
	assert_int_equal(pacer_wait(&p, 1, &stop), 1);
	resumed = fake.ns;
	assert_int_equal(p.moved, 1);
	assert_in_range(p.moved_ns, 2900000000u, 3000000000u);
	/* 30000 datagrams are not made up: the next 100 take their 10 ms. */
	for (unsigned i = 0; i < 100; i++)
		pacer_wait(&p, 1, &stop);
	assert_in_range(fake.ns - resumed, 10 * NSEC_PER_MSEC - 1000, 10 * NSEC_PER_MSEC + 1000);
	assert_int_equal(p.largest, 2);
	assert_int_equal(p.moved, 1);
}

static void test_stop_ends_the_wait(void **state)
{
	struct fake fake = { .ns = 1 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p;

	(void)state;
	pacer_init(&p, &clock, 1, 0, 1, 1, 32);
	pacer_start(&p, 3600 * NSEC_PER_SEC);
	atomic_store(&stop, true);
	assert_int_equal(pacer_wait(&p, 1, &stop), 0);
	atomic_store(&stop, false);
	assert_int_equal(p.bursts, 0);
	assert_true(isnan(pacer_achieved(&p)));
}

static void test_percentiles(void **state)
{
	struct fake fake = { .ns = 1 };
	const struct pacer_clock clock = CLOCK(&fake);
	struct pacer p, sum = { 0 };

	(void)state;
	pacer_init(&p, &clock, 100, 0, 1, 1, 32);
	pacer_start(&p, 1000000);
	/* 90 bursts on time, 10 late by one to ten times 100 us. */
	for (unsigned i = 0; i < 100; i++) {
		if (i >= 90)
			fake.ns = pacer_deadline(&p) + (i - 89) * 100000;
		pacer_wait(&p, 1, &stop);
	}
	assert_in_range(pacer_permille(&p, 500), 0, 200);
	assert_in_range(pacer_permille(&p, 990), 900000, 1125000);
	assert_in_range(pacer_permille(&p, 1000), 1000000, 1000200);
	pacer_add(&sum, &p);
	pacer_add(&sum, &p);
	assert_int_equal(sum.bursts, 200);
	assert_int_equal(sum.late, 2 * p.late);
	assert_int_equal(pacer_permille(&sum, 990), pacer_permille(&p, 990));
	assert_int_equal(sum.largest, p.largest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadlines_do_not_drift),
		cmocka_unit_test(test_burst_size),
		cmocka_unit_test(test_threads_share_exactly),
		cmocka_unit_test(test_never_early_seldom_late),
		cmocka_unit_test(test_short_delay_is_caught_up),
		cmocka_unit_test(test_long_delay_is_no_flood_r60),
		cmocka_unit_test(test_stop_ends_the_wait),
		cmocka_unit_test(test_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
