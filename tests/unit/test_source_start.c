/* SPDX-License-Identifier: MIT */
/* --start-at and --start-on-stdin: times that are read, and what ends the wait. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "source/start.h"

/* 2026-03-28 23:30:00 UTC; Berlin's clocks show 00:30 of the day on which they go forward at 02:00. */
#define NOW_S UINT64_C(1774740600)

static uint64_t parsed(const char *zone, const char *text, uint64_t now_ns)
{
	struct err err = ERR_INIT;
	uint64_t at;

	setenv("TZ", zone, 1);
	tzset();
	if (start_parse(text, now_ns, &at, &err))
		fail_msg("%s", err.text);
	return at;
}

static void test_times_that_are_read(void **state)
{
	const uint64_t now = NOW_S * NSEC_PER_SEC + 500000000;
	const char *berlin = "CET-1CEST,M3.5.0,M10.5.0/3";

	(void)state;
	assert_int_equal(parsed("UTC0", "+5s", now), now + 5 * NSEC_PER_SEC);
	assert_int_equal(parsed("UTC0", "+250ms", now), now + 250 * NSEC_PER_MSEC);
	assert_int_equal(parsed("UTC0", "+0", now), now);
	assert_int_equal(parsed("UTC0", "@1774740601.25", now), (NOW_S + 1) * NSEC_PER_SEC + 250000000);
	assert_int_equal(parsed("UTC0", "23:30:01", now), (NOW_S + 1) * NSEC_PER_SEC);
	assert_int_equal(parsed("UTC0", "23:30:00.75", now), NOW_S * NSEC_PER_SEC + 750000000);
	/* Midnight is near, and so is another time zone's next day. */
	assert_int_equal(parsed("UTC0", "00:00:00", now), (NOW_S + 1800) * NSEC_PER_SEC);
	assert_int_equal(parsed(berlin, "00:30:01", now), (NOW_S + 1) * NSEC_PER_SEC);
	/* 03:00 there is one hour after 01:00. */
	assert_int_equal(parsed(berlin, "03:00:00", now), (NOW_S + 5400) * NSEC_PER_SEC);
	assert_int_equal(parsed(berlin, "01:59:59.999", now), (NOW_S + 5399) * NSEC_PER_SEC + 999000000);
}

static void test_times_that_are_refused(void **state)
{
	static const char *const wrong[] = { "", "5", "5s", "now", "24:00:00", "23:60:00", "23:59:60", "1:00:00", "23:30", "23:30:01.", "23:30:01x",
					     "23:30:01.5s", "23:30:01.0000000001", "+", "+5x", "+-5s", "@", "@12x", "@1.5.5", "@1774740601ms",
					     "+18446744073s", "@99999999999" };
	static const char *const over[] = { "@1", "@1774740600", "23:29:59", "12:00:00", "23:30:00.25" };
	const uint64_t now = NOW_S * NSEC_PER_SEC + 500000000;
	uint64_t at;

	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = ERR_INIT;

		if (start_parse(wrong[i], now, &at, &err) != -EINVAL || !strstr(err.text, "--start-at") || !strstr(err.text, "expected"))
			fail_msg("'%s': %s", wrong[i], err.text);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(over); i++) {
		struct err err = ERR_INIT;

		if (start_parse(over[i], now, &at, &err) != -EINVAL || !strstr(err.text, " s ago"))
			fail_msg("'%s': %s", over[i], err.text);
	}
}

static sigset_t usr1(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void test_the_time_comes(void **state)
{
	const sigset_t ending = usr1();
	const struct start start = { .at_ns = clock_wall() + 50 * NSEC_PER_MSEC };
	uint64_t before = clock_mono(), base = 0;
	bool signalled = true;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(start_wait(&start, &ending, &base, &signalled, &err), 0);
	assert_false(signalled);
	/* Not before START_LAST_NS in front of it; how long after is the machine's affair. */
	assert_true(clock_elapsed(before, clock_mono()) >= 50 * NSEC_PER_MSEC - START_LAST_NS - NSEC_PER_MSEC);
	assert_true(base >= before + 50 * NSEC_PER_MSEC - NSEC_PER_MSEC);
	assert_true(base <= clock_mono() + START_LAST_NS);
	/* One that has passed by now begins at once. */
	assert_int_equal(start_wait(&(struct start){ .at_ns = NSEC_PER_SEC }, &ending, &base, &signalled, &err), 0);
	assert_false(signalled);
	assert_true(base <= clock_mono());
}

static void test_a_signal_ends_the_wait(void **state)
{
	const sigset_t ending = usr1();
	uint64_t base;
	bool signalled = false;
	struct err err = ERR_INIT;
	int got;

	(void)state;
	raise(SIGUSR1);
	assert_int_equal(start_wait(&(struct start){ .at_ns = clock_wall() + 3600 * NSEC_PER_SEC }, &ending, &base, &signalled, &err), 0);
	assert_true(signalled);
	assert_int_equal(sigwait(&ending, &got), 0); /* it is still there to be taken */
}

static void test_standard_input(void **state)
{
	const sigset_t ending = usr1();
	const struct start start = { .on_stdin = true };
	uint64_t base;
	bool signalled = true;
	struct err err = ERR_INIT;
	int ends[2], old = dup(STDIN_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	/* A line, then, with no line but the end of input. */
	assert_int_equal(write(ends[1], "go\n", 3), 3);
	assert_int_equal(start_wait(&start, &ending, &base, &signalled, &err), 0);
	assert_false(signalled);
	assert_true(base && base <= clock_mono());
	/* Something that is no line yet, and a signal. */
	assert_int_equal(write(ends[1], "g", 1), 1);
	raise(SIGUSR1);
	assert_int_equal(start_wait(&start, &ending, &base, &signalled, &err), 0);
	assert_true(signalled);
	sigwait(&ending, &(int){ 0 });
	close(ends[1]);
	assert_int_equal(start_wait(&start, &ending, &base, &signalled, &err), 0);
	assert_false(signalled);
	/* Nothing that can be read. */
	close(ends[0]);
	ends[0] = open("/dev/null", O_WRONLY);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(start_wait(&start, &ending, &base, &signalled, &err), -EBADF);
	assert_non_null(strstr(err.text, "--start-on-stdin"));
	assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
	close(old);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_that_are_read),
		cmocka_unit_test(test_times_that_are_refused),
		cmocka_unit_test(test_the_time_comes),
		cmocka_unit_test(test_a_signal_ends_the_wait),
		cmocka_unit_test(test_standard_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
