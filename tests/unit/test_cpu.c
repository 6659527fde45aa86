/* SPDX-License-Identifier: MIT */
/*
 * The kernel's answer to sched_getaffinity can be replaced by a made-up one: machines with 4096 CPUs or a cpuset
 * of 2 and 4 are rare. Pinning is tried for real, in threads of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cpu.h"

static struct {
	size_t mask_size; /* of the made-up kernel; 0 = ask the real one */
	const int *cpu;
	unsigned n;
	int errnum; /* fail with this instead */
} kernel;

static _Atomic int drifting; /* sched_setaffinity says yes and does nothing */

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	if (kernel.errnum) {
		errno = kernel.errnum;
		return -1;
	}
	if (!kernel.mask_size)
		return syscall(SYS_sched_getaffinity, pid, size, mask) < 0 ? -1 : 0;
	if (size < kernel.mask_size) {
		errno = EINVAL; /* as the kernel does */
		return -1;
	}
	memset(mask, 0, size);
	for (unsigned i = 0; i < kernel.n; i++)
		CPU_SET_S(kernel.cpu[i], size, mask);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	if (drifting)
		return 0;
	return (int)syscall(SYS_sched_setaffinity, pid, size, mask);
}

static int real_kernel(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	drifting = 0;
	return 0;
}

static int sparse_cpus[] = { 2, 4 };
static const struct cpu_list sparse = { 2, sparse_cpus };

/* Parses, formats again, compares. */
static void reads_as(const char *text, const struct cpu_list *allowed, const char *expected)
{
	struct err err = ERR_INIT;
	struct cpu_list list;
	char buf[128];

	if (cpu_parse(text, allowed, &list, &err))
		fail_msg("%s", err.text);
	assert_string_equal(cpu_format(&list, buf, sizeof(buf)), expected);
	cpu_list_free(&list);
	assert_int_equal(list.n, 0);
	assert_null(list.cpu);
}

static void refused(const char *text, const struct cpu_list *allowed, const char *sentence)
{
	struct err err = ERR_INIT;
	struct cpu_list list = { 1, NULL };

	assert_int_equal(cpu_parse(text, allowed, &list, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
	assert_int_equal(list.n, 0);
	assert_null(list.cpu);
	cpu_list_free(&list); /* as a caller may do */
}

static void parse_keeps_order_and_repeats(void **state)
{
	int cpu[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct cpu_list allowed = { 8, cpu }, list;
	static const int expected[] = { 5, 0, 1, 2, 3, 3, 0 };

	(void)state;
	assert_int_equal(cpu_parse("5,0-3,3,0", &allowed, &list, NULL), 0);
	assert_int_equal(list.n, 7);
	assert_memory_equal(list.cpu, expected, sizeof(expected));
	cpu_list_free(&list);
	reads_as("5,0-3,3,0", &allowed, "5,0-3,3,0");
	reads_as("0,2-3", &allowed, "0,2-3");
	reads_as("0,1,2,4,6,7", &allowed, "0-2,4,6-7");
	reads_as("3,2,1", &allowed, "3,2,1");
	reads_as("07", &allowed, "7");
	reads_as("4-4", &allowed, "4");
}

static void parse_refuses_bad_syntax(void **state)
{
	static const char *const bad[] = { "",	   ",",	  "0,",	   ",0",
					   "0,,1", "x",	  "0x1",   "-1",
					   "1-",   "3-2", "0-1-2", "0 ,1",
					   " 0",   "0;1", "1.5",   "99999999999999999999" };
	int cpu[] = { 0, 1, 2, 3 };
	struct cpu_list allowed = { 4, cpu };
	char sentence[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(sentence, sizeof(sentence),
			 "CPU list '%s': expected numbers and rising ranges, such as 0,2-3",
			 bad[i]);
		refused(bad[i], &allowed, sentence);
	}
}

static void R98_sparse_set(void **state)
{
	(void)state;
	reads_as("2,4", &sparse, "2,4");
	reads_as("4", &sparse, "4");
	reads_as("4,2", &sparse, "4,2");
	refused("0", &sparse,
		"CPU 0 is not allowed for this process: it may use 2,4 (set by taskset, a cpuset or AllowedCPUs=)");
	refused("2-4", &sparse,
		"CPU 3 is not allowed for this process: it may use 2,4 (set by taskset, a cpuset or AllowedCPUs=)");
	refused("2-1000000", &sparse,
		"CPU 3 is not allowed for this process: it may use 2,4 (set by taskset, a cpuset or AllowedCPUs=)");
}

static void R98_allowed_is_what_the_kernel_says(void **state)
{
	struct err err = ERR_INIT;
	struct cpu_list list;
	char buf[64];

	(void)state;
	kernel.mask_size = 128;
	kernel.cpu = sparse_cpus;
	kernel.n = 2;
	assert_int_equal(cpu_allowed(&list, &err), 0);
	assert_string_equal(cpu_format(&list, buf, sizeof(buf)), "2,4");
	cpu_list_free(&list);
}

static void R98_more_than_1024_cpus(void **state)
{
	static const int cpu[] = { 0, 1023, 1024, 2000, 8191 };
	struct err err = ERR_INIT;
	struct cpu_list list;
	char buf[64];

	(void)state;
	kernel.mask_size = 8192 / 8;
	kernel.cpu = cpu;
	kernel.n = ARRAY_SIZE(cpu);
	assert_int_equal(cpu_allowed(&list, &err), 0);
	assert_string_equal(cpu_format(&list, buf, sizeof(buf)), "0,1023-1024,2000,8191");
	reads_as("2000,8191", &list, "2000,8191");
	cpu_list_free(&list);
}

static void unknown_set_is_an_error(void **state)
{
	struct err err = ERR_INIT;
	struct cpu_list list;

	(void)state;
	kernel.errnum = EPERM;
	assert_int_equal(cpu_allowed(&list, &err), -EPERM);
	assert_string_equal(
		err.text,
		"sched_getaffinity: which CPUs are allowed is unknown: Operation not permitted");
	kernel.errnum = EINVAL; /* whatever the size: the search ends */
	assert_int_equal(cpu_allowed(&list, &err), -EINVAL);
	assert_int_equal(list.n, 0);
}

static void format_shows_what_is_missing(void **state)
{
	int cpu[] = { 0, 12, 13, 14, 20 };
	struct cpu_list list = { 5, cpu };
	char buf[16];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	assert_string_equal(cpu_format(&list, buf, 12), "0,12-14,20");
	assert_string_equal(cpu_format(&list, buf, 11),
			    "0,..."); /* before an item that fits there must be room for the dots */
	assert_string_equal(cpu_format(&list, buf, 6), "0,...");
	assert_string_equal(cpu_format(&list, buf, 5), "...");
	assert_string_equal(cpu_format(&list, buf, 3), "..");
	assert_string_equal(cpu_format(&list, buf, 1), "");
	list.n = 0;
	assert_string_equal(cpu_format(&list, buf, sizeof(buf)), "");
}

/* cpu_pin_self in a thread that ends afterwards. */
struct pin {
	int cpu, rc, current, of_thread;
	struct err err;
};

static void *pin_run(void *arg)
{
	struct pin *p = arg;

	p->rc = cpu_pin_self(p->cpu, &p->err);
	p->current = cpu_current();
	p->of_thread = cpu_of_thread((int)syscall(SYS_gettid));
	return NULL;
}

static void pin(struct pin *p)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, pin_run, p), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void R98_pin_to_each_allowed_cpu(void **state)
{
	struct err err = ERR_INIT;
	struct cpu_list allowed, after;
	char before[512], now[512];

	(void)state;
	assert_int_equal(cpu_allowed(&allowed, &err), 0);
	assert_true(allowed.n > 0);
	for (unsigned i = 0; i < allowed.n; i++) {
		struct pin p = { .cpu = allowed.cpu[i] };

		pin(&p);
		assert_string_equal(p.err.text, "");
		assert_int_equal(p.rc, 0);
		assert_int_equal(p.current, allowed.cpu[i]);
		assert_int_equal(p.of_thread, allowed.cpu[i]);
	}
	/* Only those threads were pinned. */
	assert_int_equal(cpu_allowed(&after, &err), 0);
	assert_string_equal(cpu_format(&after, now, sizeof(now)),
			    cpu_format(&allowed, before, sizeof(before)));
	cpu_list_free(&after);
	cpu_list_free(&allowed);
}

static void R98_pin_to_a_cpu_that_is_not_there(void **state)
{
	struct pin p = { .cpu = 100000 };

	(void)state;
	pin(&p);
	assert_int_equal(p.rc, -EINVAL);
	assert_string_equal(
		p.err.text,
		"cannot pin to CPU 100000 (offline, outside the cpuset, or forbidden by a sandbox): "
		"Invalid argument");
	p.cpu = INT32_MAX;
	pin(&p);
	assert_int_equal(p.rc, -EINVAL);
	assert_string_equal(p.err.text, "cannot pin to CPU 2147483647: no machine has that many");
}

static void R98_pin_that_did_not_hold_is_an_error(void **state)
{
	struct err err = ERR_INIT;
	struct cpu_list allowed;
	struct pin p = { 0 };

	(void)state;
	assert_int_equal(cpu_allowed(&allowed, &err), 0);
	p.cpu = allowed.cpu[0];
	kernel.mask_size = 128;
	kernel.cpu = sparse_cpus;
	kernel.n = 2;
	drifting = 1;
	pin(&p);
	cpu_list_free(&allowed);
	assert_int_equal(p.rc, -EPERM);
	assert_non_null(strstr(p.err.text, "the kernel reports another set"));
}

static void negative_cpu_pins_nothing(void **state)
{
	struct pin p = { .cpu = -1 };

	(void)state;
	kernel.errnum = EPERM; /* it must not even ask */
	pin(&p);
	assert_int_equal(p.rc, 0);
	assert_string_equal(p.err.text, "");
}

static void unknown_things_are_minus_one(void **state)
{
	(void)state;
	assert_int_equal(cpu_of_thread(1 << 30), -1);
	assert_int_equal(cpu_node(1 << 20), -1);
	assert_true(cpu_node(cpu_current()) >= -1);
}

static void model_is_one_line(void **state)
{
	struct utsname name;
	char model[128], small[4];

	(void)state;
	assert_string_not_equal(cpu_model(model, sizeof(model)), "");
	assert_null(strchr(model, '\n'));
	assert_true(model[0] != ' ' && model[0] != ':');
	assert_int_equal(uname(&name), 0);
	if (access("/proc/cpuinfo", R_OK) || system("grep -q '^model name' /proc/cpuinfo") != 0)
		assert_string_equal(model, name.machine);
	assert_int_equal(strlen(cpu_model(small, sizeof(small))), 3);
}

#define TEST(name) cmocka_unit_test_teardown(name, real_kernel)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(parse_keeps_order_and_repeats),
		TEST(parse_refuses_bad_syntax),
		TEST(R98_sparse_set),
		TEST(R98_allowed_is_what_the_kernel_says),
		TEST(R98_more_than_1024_cpus),
		TEST(unknown_set_is_an_error),
		TEST(format_shows_what_is_missing),
		TEST(R98_pin_to_each_allowed_cpu),
		TEST(R98_pin_to_a_cpu_that_is_not_there),
		TEST(R98_pin_that_did_not_hold_is_an_error),
		TEST(negative_cpu_pins_nothing),
		TEST(unknown_things_are_minus_one),
		TEST(model_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
