/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BURN_NS (20 * NSEC_PER_MSEC)
/* The least that passes meanwhile: the clocks of time and of CPU may run at rates that differ by some 1e-4 (NTP). */
#define ABOUT(ns) ((ns) / 10 * 9)

static uint64_t thread_cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = thread_cpu() + ns;

	while (thread_cpu() < end)
		;
}

static void time_moves_forward(void **state)
{
	uint64_t mono = clock_mono(), wall = clock_wall(), cycles = clock_cycles();

	(void)state;
	burn(NSEC_PER_MSEC);
	assert_true(clock_mono() >= mono + ABOUT(NSEC_PER_MSEC));
	assert_true(clock_cycles() > cycles);
	assert_in_range(wall, (uint64_t)(time(NULL) - 5) * NSEC_PER_SEC,
			(uint64_t)(time(NULL) + 5) * NSEC_PER_SEC);
}

static void elapsed_is_never_negative(void **state)
{
	(void)state;
	assert_int_equal(clock_elapsed(5, 12), 7);
	assert_int_equal(clock_elapsed(12, 12), 0);
	assert_int_equal(clock_elapsed(12, 5), 0);
	assert_int_equal(clock_elapsed(0, UINT64_MAX), UINT64_MAX);
}

static void self_counts_what_was_burnt(void **state)
{
	struct clock_usage from, to, used;

	(void)state;
	clock_usage_self(&from);
	burn(BURN_NS);
	clock_usage_self(&to);
	assert_int_equal(from.user_ns + from.system_ns, from.cpu_ns);
	assert_int_equal(to.user_ns + to.system_ns, to.cpu_ns);
	assert_true(to.cpu_ns - from.cpu_ns >= BURN_NS);
	assert_true(to.mono_ns - from.mono_ns >= ABOUT(BURN_NS));
	assert_true(to.cycles > from.cycles);
	clock_usage_since(&from, &to, &used);
	assert_int_equal(used.cpu_ns, to.cpu_ns - from.cpu_ns);
	assert_int_equal(used.mono_ns, to.mono_ns - from.mono_ns);
	assert_int_equal(used.user_ns + used.system_ns, used.cpu_ns);
}

static void self_counts_waiting(void **state)
{
	struct clock_usage from, to, used;

	(void)state;
	clock_usage_self(&from);
	for (int i = 0; i < 5; i++)
		poll(NULL, 0, 1); /* gives the CPU away: that is what is counted */
	clock_usage_self(&to);
	clock_usage_since(&from, &to, &used);
	assert_true(used.voluntary >= 5);
	assert_true(used.cpu_ns < used.mono_ns);
}

static void split_that_moves_back_is_never_negative(void **state)
{
	struct clock_usage from = {
		.mono_ns = 10, .cpu_ns = 1000, .user_ns = 600, .system_ns = 400, .voluntary = 7
	};
	struct clock_usage to = {
		.mono_ns = 30, .cpu_ns = 1100, .user_ns = 590, .system_ns = 510, .voluntary = 9
	};
	struct clock_usage used;

	(void)state;
	clock_usage_since(&from, &to, &used);
	assert_int_equal(used.cpu_ns, 100);
	assert_int_equal(used.user_ns, 0);
	assert_int_equal(used.system_ns, 100);
	to.user_ns = 900; /* more than the whole grew: the system part moved back */
	to.system_ns = 200;
	clock_usage_since(&from, &to, &to);
	assert_int_equal(to.cpu_ns, 100);
	assert_int_equal(to.user_ns, 100);
	assert_int_equal(to.system_ns, 0);
	assert_int_equal(to.mono_ns, 20);
	assert_int_equal(to.voluntary, 2);
}

struct burner {
	atomic_int tid;
	int go[2];    /* the thread ends when this pipe is closed */
	uint64_t cpu; /* its own reading */
};

static void *burner_run(void *arg)
{
	struct burner *b = arg;
	char byte;

	for (int i = 0; i < 3; i++)
		poll(NULL, 0, 1);
	burn(BURN_NS);
	b->cpu = thread_cpu();
	atomic_store(&b->tid, (int)syscall(SYS_gettid));
	return read(b->go[0], &byte, 1) == 0 ? arg : NULL;
}

static void thread_is_read_from_outside(void **state)
{
	struct burner b = { .tid = 0 };
	struct clock_usage usage, again;
	pthread_t thread;
	uint64_t deadline;
	void *result;
	int rc;

	(void)state;
	assert_int_equal(pipe(b.go), 0);
	assert_int_equal(pthread_create(&thread, NULL, burner_run, &b), 0);
	while (!atomic_load(&b.tid))
		sched_yield();
	assert_int_equal(clock_usage_thread(b.tid, &usage), 0);
	assert_true(usage.cpu_ns >= b.cpu);
	assert_true(
		usage.cpu_ns <
		b.cpu + 100 * NSEC_PER_MSEC); /* it sleeps: far from a clock of the whole process or of time */
	assert_int_equal(usage.user_ns + usage.system_ns, usage.cpu_ns);
	assert_true(usage.voluntary >= 3);
	burn(BURN_NS); /* of this thread, not of that one */
	assert_int_equal(clock_usage_thread(b.tid, &again), 0);
	assert_true(again.cpu_ns - usage.cpu_ns < BURN_NS);
	assert_true(again.mono_ns - usage.mono_ns >= ABOUT(BURN_NS));

	close(b.go[1]);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &b);
	close(b.go[0]);
	/* The kernel takes a moment longer than pthread_join to forget the thread. */
	deadline = clock_mono() + 5 * NSEC_PER_SEC;
	do {
		usage = again;
		rc = clock_usage_thread(b.tid, &usage);
	} while (rc == 0 && clock_mono() < deadline);
	assert_int_equal(rc, -ESRCH);
	assert_memory_equal(&usage, &again, sizeof(usage));
}

static void thread_that_never_was(void **state)
{
	struct clock_usage usage;

	(void)state;
	assert_int_equal(clock_usage_thread(1 << 30, &usage), -ESRCH);
}

static void own_thread_agrees_with_self(void **state)
{
	struct clock_usage self, thread;

	(void)state;
	clock_usage_self(&self);
	assert_int_equal(clock_usage_thread((int)syscall(SYS_gettid), &thread), 0);
	assert_true(thread.cpu_ns >= self.cpu_ns);
	assert_true(thread.voluntary >= self.voluntary);
	assert_true(thread.involuntary >= self.involuntary);
	clock_usage_self(&self);
	assert_true(self.cpu_ns >= thread.cpu_ns);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_moves_forward),
		cmocka_unit_test(elapsed_is_never_negative),
		cmocka_unit_test(self_counts_what_was_burnt),
		cmocka_unit_test(self_counts_waiting),
		cmocka_unit_test(split_that_moves_back_is_never_negative),
		cmocka_unit_test(thread_is_read_from_outside),
		cmocka_unit_test(thread_that_never_was),
		cmocka_unit_test(own_thread_agrees_with_self),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
