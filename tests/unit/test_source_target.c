/* SPDX-License-Identifier: MIT */
/* Was the rate kept: what is a miss, what is not, and the sentence that says why. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "source/target.h"

struct bench {
	struct source_conf conf;
	struct report_row row;
	struct report r;
	char text[512];
};

/* A run of 2 s at 1000 per second that reached this much. */
static void set_up(struct bench *b, double achieved)
{
	*b = (struct bench){ .conf.rate.n = 1, .row = { .stats.sent = 2000, .start_ns = NSEC_PER_SEC, .end_ns = 3 * NSEC_PER_SEC } };
	b->r = (struct report){ .kind = REPORT_SUM, .conf = &b->conf, .thread = &b->row, .n = 1, .target = 1000, .achieved = achieved };
	b->r.pace.first_ns = NSEC_PER_SEC;
	b->r.pace.last_ns = 3 * NSEC_PER_SEC;
	report_total(&b->r);
}

static void test_one_per_cent(void **state)
{
	static const struct {
		double achieved;
		enum target verdict;
	} cases[] = { { 1000, TARGET_MET }, { 990.1, TARGET_MET }, { 1009.9, TARGET_MET }, { 989.9, TARGET_MISSED }, { 1010.1, TARGET_MISSED },
		      { 0, TARGET_MISSED }, { NAN, TARGET_UNKNOWN } };
	struct bench b;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		set_up(&b, cases[i].achieved);
		assert_int_equal(target_verdict(&b.r), cases[i].verdict);
	}
}

static void test_not_judged(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 500);
	b.r.signalled = true;
	assert_int_equal(target_verdict(&b.r), TARGET_UNKNOWN);
	set_up(&b, 500);
	b.r.pace.last_ns = b.r.pace.first_ns + TARGET_LEAST_NS - 1;
	assert_int_equal(target_verdict(&b.r), TARGET_UNKNOWN);
	b.r.pace.last_ns++;
	assert_int_equal(target_verdict(&b.r), TARGET_MISSED);
	b.conf.rate.n = 0;
	assert_int_equal(target_verdict(&b.r), TARGET_UNKNOWN);
}

static void test_sentence(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 900);
	assert_string_equal(target_sentence(&b.r, b.text, sizeof(b.text)), "the rate was missed: 900.0 instead of 1000.0 datagrams per second");
	/* Refused ones are the cause where they are that many. */
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		b.row.stats.refused[i] = stats_errno[i].error == EPERM ? 150 : stats_errno[i].error == EIO ? 50 : 0;
	report_total(&b.r);
	target_sentence(&b.r, b.text, sizeof(b.text));
	assert_non_null(strstr(b.text, "; the kernel refused 200 of 2200 datagrams, most with EPERM (a firewall"));
	/* Busy threads, and such that were kept waiting. */
	set_up(&b, 900);
	b.r.pace.moved = 1;
	b.r.pace.moved_ns = 200 * NSEC_PER_MSEC;
	b.row.cpu_ns = 1900 * NSEC_PER_MSEC;
	report_total(&b.r);
	target_sentence(&b.r, b.text, sizeof(b.text));
	assert_non_null(strstr(b.text, "; the schedule was moved 1 time, by 0.200 s in all, as sending took all the CPU time"));
	b.row.cpu_ns = 1000 * NSEC_PER_MSEC;
	b.r.pace.moved = 12;
	report_total(&b.r);
	target_sentence(&b.r, b.text, sizeof(b.text));
	assert_non_null(strstr(b.text, "moved 12 times, by 0.200 s in all, as the threads waited for a CPU"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_per_cent),
		cmocka_unit_test(test_not_judged),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
