/* SPDX-License-Identifier: MIT */
/* The schedule of --rate on a clock of our own: sharing between threads, bursts, ways to wait, bounded catch-up (R60), figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

	assert_true(until > f->ns);
	f->sleeps++;
	f->longest = MAX(f->longest, until - f->ns);
	f->ns = until + f->oversleep;
}

static atomic_bool stop;

/* One thread's pacer with its clock and plan; the pacer refers to the others. */
struct bench {
	struct fake fake;
	struct pacer_clock clock;
	struct rate_plan plan;
	struct pacer p;
};

static void start(struct bench *b, const char *rate, const struct pacer_conf *conf, uint64_t base)
{
	struct pacer_conf c = *conf;

	*b = (struct bench){ .fake.ns = 1, .clock = { .now = fake_now, .sleep_until = fake_sleep } };
	b->clock.data = &b->fake;
	assert_int_equal(rate_parse(rate, 18, &b->plan, NULL), 0);
	c.clock = &b->clock;
	c.plan = &b->plan;
	c.threads = MAX(c.threads, 1);
	c.atom = MAX(c.atom, 1);
	c.most = MAX(c.most, c.atom * 32);
	pacer_init(&b->p, &c);
	pacer_start(&b->p, base);
}

static const struct pacer_conf plain;

static void test_burst_size(void **state)
{
	static const struct {
		const char *rate;
		unsigned threads, atom, most, given, burst;
	} cases[] = {
		{ "1", 1, 1, 32, 0, 1 },	 { "2551", 1, 1, 32, 0, 1 },	 { "20000", 1, 1, 32, 0, 1 },	 { "300000", 1, 1, 32, 0, 6 },
		{ "300000", 3, 1, 32, 0, 2 },	 { "1000000000", 1, 1, 32, 0, 32 }, { "1", 1, 8, 64, 0, 8 },	 { "1000000", 1, 8, 64, 0, 16 },
		{ "1000000", 1, 50, 200, 0, 50 }, { "300000", 1, 1, 32, 7, 7 },	 { "300000", 3, 1, 32, 100, 100 }, { "1", 1, 64, 2048, 100, 100 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct pacer_conf conf = { .threads = cases[i].threads, .thread = cases[i].threads - 1, .atom = cases[i].atom,
						 .most = cases[i].most, .burst = (unsigned)cases[i].given };
		struct bench b;

		start(&b, cases[i].rate, &conf, 1000000);
		for (unsigned n = 0; n < 3; n++) {
			assert_int_equal(pacer_wait(&b.p, UINT32_MAX, &stop), cases[i].burst);
			assert_int_equal(b.p.bursts, n + 1);
		}
	}
}

/* All threads together release each number below `total` once, and each thread as many as pacer_share says. */
static void check_sharing(const char *rate, unsigned threads, unsigned atom, unsigned burst, unsigned total, unsigned want)
{
	unsigned char *taken = calloc(total, 1);
	uint64_t shares = 0;

	assert_non_null(taken);
	for (unsigned t = 0; t < threads; t++) {
		const struct pacer_conf conf = { .thread = t, .threads = threads, .atom = atom, .burst = burst };
		struct bench b;
		uint64_t left;

		start(&b, rate, &conf, 1000);
		left = pacer_share(&b.p, total);
		shares += left;
		for (unsigned n; left; left -= n) {
			uint64_t first = b.p.next;

			n = pacer_wait(&b.p, (unsigned)MIN(want, left), &stop);
			assert_in_range(n, 1, want);
			assert_int_equal(b.p.next, first + n);
			for (unsigned i = 0; i < n; i++) {
				/* The number, from the time that it is due. */
				uint64_t k = rate_before(&b.plan, pacer_due(&b.p, first + i) - 1000);

				assert_true(k < total && !taken[k]);
				taken[k] = 1;
			}
		}
		assert_int_equal(b.p.moved, 0);
		assert_true(pacer_share(&b.p, UINT64_MAX) == UINT64_MAX);
	}
	assert_int_equal(shares, total);
	for (unsigned i = 0; i < total; i++)
		assert_int_equal(taken[i], 1);
	free(taken);
}

static void test_threads_share_exactly(void **state)
{
	(void)state;
	check_sharing("7", 1, 1, 0, 100, 32);
	check_sharing("300000", 3, 1, 0, 15001, 32);
	check_sharing("300000", 3, 1, 0, 15001, 4);       /* in pieces */
	check_sharing("300000", 7, 8, 0, 15003, 64);      /* GSO messages, the last one short */
	check_sharing("300000", 3, 1, 100, 15050, 32);
	check_sharing("1000:1s,50000:1s,0:1s,3:4s", 3, 1, 0, 51012, 32);
	check_sharing("0..100k/300ms,100k..0/300ms", 4, 1, 0, 30000, 32);
	check_sharing("0..100k/300ms,100k..0/300ms", 4, 16, 0, 30000, 512);
}

/* The bursts of several threads come one after the other, not at once. */
static void test_threads_take_turns(void **state)
{
	uint64_t due[4];

	(void)state;
	for (unsigned t = 0; t < 4; t++) {
		const struct pacer_conf conf = { .thread = t, .threads = 4 };
		struct bench b;

		start(&b, "800k", &conf, 0);
		pacer_wait(&b.p, 32, &stop);
		due[t] = pacer_due(&b.p, b.p.next);
		assert_int_equal(pacer_wait(&b.p, 32, &stop), 4);
		/* The steady state: 4 of each thread are 20 us. */
		assert_int_equal(pacer_due(&b.p, b.p.next), due[t] + 20000);
		if (t)
			assert_in_range(due[t], due[t - 1] + 3000, due[t - 1] + 7000);
	}
}

static void test_bursts_end_with_the_segment(void **state)
{
	struct bench b;
	uint64_t n = 0;

	(void)state;
	/* 300 of the fast kind in bursts of 6, and not one of the slow kind before its time. */
	start(&b, "300k:1ms,1:5s", &plain, 1000000);
	while (n < 302) {
		uint64_t due = pacer_due(&b.p, n);
		unsigned got = pacer_wait(&b.p, 32, &stop);

		assert_true(b.fake.ns >= due);
		assert_int_equal(got, n < 300 ? 6 : 1);
		n += got;
	}
	/* Up a ramp they grow. */
	start(&b, "0..1M/1s", &plain, 1000000);
	assert_int_equal(pacer_wait(&b.p, 32, &stop), 1);
	while (b.p.next < 125000) /* half a second: 500,000 per second */
		pacer_wait(&b.p, 32, &stop);
	assert_int_equal(pacer_wait(&b.p, 32, &stop), 10);
}

static void test_pieces_of_a_burst_do_not_wait(void **state)
{
	const struct pacer_conf conf = { .burst = 100 };
	struct bench b;

	(void)state;
	start(&b, "1000", &conf, 1000000);
	for (unsigned burst = 0; burst < 3; burst++) {
		unsigned n = 0;

		n += pacer_wait(&b.p, 32, &stop);
		assert_in_range(b.fake.ns, 1000000 + burst * 100 * NSEC_PER_MSEC, 1000000 + burst * 100 * NSEC_PER_MSEC + 200);
		while (n < 100) {
			uint64_t before = b.fake.ns;

			n += pacer_wait(&b.p, 32, &stop);
			assert_int_equal(b.fake.ns, before);
		}
		assert_int_equal(n, 100);
	}
	assert_int_equal(b.p.bursts, 3);
	assert_int_equal(b.p.largest, 100);
	assert_true(fabs(pacer_released(&b.p) - 1000) < 0.01);
}

/* 5000 datagrams, 1 ms apart, in this way; sleeps take 30 us more than asked. */
static void run(struct bench *b, enum pacer_mode mode, uint64_t ahead_ns, uint64_t early, uint64_t late)
{
	const struct pacer_conf conf = { .mode = mode, .ahead_ns = ahead_ns };

	start(b, "1000", &conf, NSEC_PER_SEC);
	b->fake.oversleep = 30000;
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t due = pacer_due(&b->p, i);

		assert_int_equal(due, NSEC_PER_SEC + i * NSEC_PER_MSEC);
		assert_int_equal(pacer_wait(&b->p, 32, &stop), 1);
		assert_in_range(b->fake.ns, due - early, due + late);
	}
	assert_int_equal(b->p.bursts, 5000);
	assert_int_equal(b->p.next, 5000);
	assert_int_equal(b->p.late + b->p.moved, 0);
	assert_int_equal(b->p.largest, 1);
	assert_int_equal(b->p.gap.n, 4999);
	assert_true(fabs(pacer_released(&b->p) - 1000) < 0.01);
	assert_true(pacer_target(&b->p) == 1000);
}

static void test_hybrid_is_never_early_seldom_late(void **state)
{
	struct bench b;

	(void)state;
	run(&b, PACER_HYBRID, 0, 0, 200);
	/* It slept to shortly before the time and no longer than a slice. */
	assert_in_range(b.fake.sleeps, 5000, 5100);
	assert_in_range(b.fake.longest, 1, PACER_SLICE_NS);
	assert_int_equal(b.p.on_time, 5000);
	assert_in_range(hist_permille(&b.p.lateness, 1000), 0, 200);
	assert_in_range(hist_permille(&b.p.gap, 1000), 0, 200);
}

/* The margin follows what waking takes: up at once, down slowly, within its bounds. */
static void test_margin_is_learnt(void **state)
{
	static const struct {
		uint64_t oversleep, margin;
	} cases[] = { { 0, PACER_MARGIN_LEAST_NS }, { 100000, 125000 }, { 300000, 375000 }, { 3000000, PACER_MARGIN_MOST_NS } };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		start(&b, "100", &plain, 1000000);
		assert_int_equal(b.p.margin, PACER_MARGIN_FIRST_NS);
		b.fake.oversleep = cases[i].oversleep;
		for (unsigned n = 0; n < 500; n++)
			pacer_wait(&b.p, 1, &stop);
		assert_in_range(b.p.margin, cases[i].margin, cases[i].margin + 200);
		assert_int_equal(b.p.on_time, cases[i].oversleep > PACER_MARGIN_MOST_NS ? 0 : cases[i].margin > PACER_MARGIN_FIRST_NS ? 499 : 500);
		/* Half a second later it has forgotten. */
		b.fake.oversleep = 50000;
		for (unsigned n = 0; n < 400; n++)
			pacer_wait(&b.p, 1, &stop);
		assert_in_range(b.p.margin, 62500, 62700);
	}
}

static void test_the_other_ways_to_wait(void **state)
{
	struct bench b;

	(void)state;
	/* A sleeper is late by what waking takes, every time: its gaps are right. */
	run(&b, PACER_SLEEP, 0, 0, 30200);
	assert_in_range(hist_permille(&b.p.lateness, 500), 30000, 32000);
	assert_in_range(hist_permille(&b.p.gap, 999), 0, 200);
	assert_int_equal(b.p.on_time, 0);
	run(&b, PACER_SPIN, 0, 0, 200);
	assert_int_equal(b.fake.sleeps, 0);
	/* Handed over before the time, or just not: only what is too late counts as late. */
	run(&b, PACER_TXTIME, 200000, 200000, 0);
	assert_int_equal(hist_permille(&b.p.lateness, 1000), 0);
	run(&b, PACER_FQ, 0, 0, 30200);
}

static void test_short_delay_is_caught_up(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "1000", &plain, 1000000);
	for (unsigned i = 0; i < 10; i++)
		pacer_wait(&b.p, 1, &stop);
	b.fake.ns += 5 * NSEC_PER_MSEC + 500000; /* off the CPU */
	for (unsigned i = 0; i < 10; i++)
		pacer_wait(&b.p, 1, &stop);
	/* Numbers 10 to 14 were due meanwhile, and the one before was sent without a wait between. The schedule stays. */
	assert_int_equal(b.p.moved, 0);
	assert_int_equal(b.p.largest, 6);
	assert_int_equal(b.p.late, 5);
	assert_int_equal(pacer_due(&b.p, 20), 1000000 + 20 * NSEC_PER_MSEC);
	assert_in_range(b.p.lateness.max, 4500000, 4501000);
	/* The gap in front of number 10 was too long by that, those behind it too short by a millisecond. */
	assert_in_range(b.p.gap.max, 4500000, 4501000);
	assert_in_range(hist_permille(&b.p.gap, 940), 990000, 1062500);
}

static void test_long_delay_is_no_flood_r60(void **state)
{
	struct bench b;
	uint64_t resumed;

	(void)state;
	start(&b, "10000", &plain, 1000000);
	for (unsigned i = 0; i < 100; i++)
		pacer_wait(&b.p, 1, &stop);
	b.fake.ns += 3 * NSEC_PER_SEC;
	assert_int_equal(pacer_wait(&b.p, 1, &stop), 1);
	resumed = b.fake.ns;
	assert_int_equal(b.p.moved, 1);
	assert_in_range(b.p.moved_ns, 2900000000u, 3000000000u);
	/* 30000 datagrams are not made up: the next 100 take their 10 ms. */
	for (unsigned i = 0; i < 100; i++)
		pacer_wait(&b.p, 1, &stop);
	assert_in_range(b.fake.ns - resumed, 10 * NSEC_PER_MSEC - 1000, 10 * NSEC_PER_MSEC + 1000);
	assert_int_equal(b.p.largest, 2);
	assert_int_equal(b.p.moved, 1);
	/* One gap was wrong, not two. */
	assert_in_range(hist_permille(&b.p.gap, 995), 0, 300);
	/* The target is what it was; the delay shows in what was achieved. */
	assert_true(pacer_target(&b.p) == 10000);
	assert_true(fabs(pacer_released(&b.p) - 200 / 3.02) < 1);
}

static void test_stop_ends_the_wait(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "1", &plain, 3600 * NSEC_PER_SEC);
	atomic_store(&stop, true);
	assert_int_equal(pacer_wait(&b.p, 1, &stop), 0);
	assert_false(pacer_hold(&b.clock, 3600 * NSEC_PER_SEC, &stop));
	atomic_store(&stop, false);
	assert_int_equal(b.p.bursts, 0);
	assert_true(isnan(pacer_released(&b.p)));
	assert_true(isnan(pacer_target(&b.p)));
	assert_true(pacer_hold(&b.clock, 3600 * NSEC_PER_SEC, &stop));
	assert_in_range(b.fake.ns, 3600 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC + 200);
}

/* What a whole plan was to send and sent, over threads: the target is the mean of the plan, and a run on schedule reaches it. */
static void check_target(const char *rate, unsigned threads, uint64_t until_ns, double mean)
{
	struct pacer sum = { 0 };
	struct rate_plan shared;

	for (unsigned t = 0; t < threads; t++) {
		const struct pacer_conf conf = { .thread = t, .threads = threads };
		struct bench b;
		uint64_t left;

		start(&b, rate, &conf, NSEC_PER_SEC);
		left = pacer_share(&b.p, rate_before(&b.plan, until_ns));
		while (left)
			left -= pacer_wait(&b.p, (unsigned)MIN(32, left), &stop);
		shared = b.plan;
		b.p.conf.plan = &shared;
		pacer_add(&sum, &b.p);
	}
	assert_true(fabs(pacer_target(&sum) - mean) < 0.01 * mean); /* up to the last burst, not to the end */
	assert_true(fabs(pacer_released(&sum) - pacer_target(&sum)) < 0.002 * mean);
	assert_int_equal(sum.next, rate_before(&shared, until_ns));
}

static void test_target_and_achieved(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads < 4; threads++) {
		check_target("5000", threads, NSEC_PER_SEC, 5000);
		check_target("300k", threads, NSEC_PER_SEC, 300000);
		check_target("1k..100k/2s", threads, UINT64_MAX, 50500);
		check_target("100k..1k/2s", threads, NSEC_PER_SEC, 75250);
		check_target("1k:1s,10k:1s", threads, UINT64_MAX, 5500);
		check_target("0:1s,5k:1s", threads, UINT64_MAX, 5000); /* before the first there is nothing to reach */
	}
	check_target("1..10/10s", 1, UINT64_MAX, 5.5); /* few, and still not off by one */
}

static void test_sums(void **state)
{
	struct pacer sum = { 0 };
	struct bench b;

	(void)state;
	start(&b, "100", &plain, 1000000);
	/* 90 bursts on time, 10 late by one to ten times 100 us. */
	for (unsigned i = 0; i < 100; i++) {
		if (i >= 90)
			b.fake.ns = pacer_due(&b.p, i) + (i - 89) * 100000;
		pacer_wait(&b.p, 1, &stop);
	}
	assert_int_equal(b.p.on_time, 90);
	assert_in_range(hist_permille(&b.p.lateness, 500), 0, 200);
	assert_in_range(hist_permille(&b.p.lateness, 990), 900000, 957000);
	assert_in_range(hist_permille(&b.p.lateness, 1000), 1000000, 1000200);
	pacer_add(&sum, &b.p);
	pacer_add(&sum, &b.p);
	assert_int_equal(sum.bursts, 200);
	assert_int_equal(sum.next, 200);
	assert_int_equal(sum.late, 2 * b.p.late);
	assert_int_equal(sum.on_time, 180);
	assert_int_equal(hist_permille(&sum.lateness, 990), hist_permille(&b.p.lateness, 990));
	assert_int_equal(sum.gap.n, 198);
	assert_int_equal(sum.largest, b.p.largest);
	assert_int_equal(sum.first_ns, b.p.first_ns);
	assert_int_equal(sum.before_last, 199);
	/* A thread without a datagram changes nothing. */
	start(&b, "100", &plain, 1000000);
	pacer_add(&sum, &b.p);
	assert_int_equal(sum.bursts, 200);
	assert_true(sum.first_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst_size),
		cmocka_unit_test(test_threads_share_exactly),
		cmocka_unit_test(test_threads_take_turns),
		cmocka_unit_test(test_bursts_end_with_the_segment),
		cmocka_unit_test(test_pieces_of_a_burst_do_not_wait),
		cmocka_unit_test(test_hybrid_is_never_early_seldom_late),
		cmocka_unit_test(test_margin_is_learnt),
		cmocka_unit_test(test_the_other_ways_to_wait),
		cmocka_unit_test(test_short_delay_is_caught_up),
		cmocka_unit_test(test_long_delay_is_no_flood_r60),
		cmocka_unit_test(test_stop_ends_the_wait),
		cmocka_unit_test(test_target_and_achieved),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
