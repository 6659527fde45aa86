/* SPDX-License-Identifier: MIT */
/* /proc/net/dev: all interfaces and columns, names that touch their number, this host's own file, other files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "counters/dev.h"
#include "proc_root.h"

#define TITLES "Inter-|   Receive                                                |  Transmit\n" \
	       " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"

static void test_columns(void **state)
{
	struct dev d = { 0 };
	const struct dev_entry *e;

	(void)state;
	proc_put("dev", TITLES "    lo:18446744073709551615 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nlongername12345: 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17\n");
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(dev_read(&d, NULL), 0);
		assert_int_equal(d.n, 2);
		e = dev_find(&d, "lo");
		assert_non_null(e);
		assert_true(e->value[DEV_RX_BYTES] == UINT64_MAX);
		for (unsigned i = 1; i < DEV_COLUMNS; i++)
			assert_int_equal(e->value[i], i + 1);
		assert_true(e->value[DEV_RX_DROP] == 4 && e->value[DEV_TX_BYTES] == 9 && e->value[DEV_TX_PACKETS] == 10 && e->value[DEV_TX_COMPRESSED] == 16);
		e = dev_find(&d, "longername12345");
		assert_true(e && e->value[DEV_RX_BYTES] == 1 && e->value[DEV_TX_COMPRESSED] == 17);
		assert_null(dev_find(&d, "longername1234"));
	}
	proc_put("dev", NULL);
	dev_free(&d);
}

static void test_of_this_host(void **state)
{
	struct dev d = { 0 };

	(void)state;
	unsetenv("PROC_ROOT");
	assert_int_equal(dev_read(&d, NULL), 0);
	assert_non_null(dev_find(&d, "lo"));
	setenv("PROC_ROOT", proc_root, 1);
	dev_free(&d);
}

static void test_other_files_are_refused(void **state)
{
	static const char *const others[] = { "", "lo: 1\n", TITLES "lo: 1 2 3\n", TITLES "lo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
					      TITLES "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x\n", TITLES ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
					      TITLES "longername123456: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n" };
	struct dev d = { 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		struct err err = ERR_INIT;

		proc_put("dev", others[i]);
		if (dev_read(&d, &err) != -EINVAL || !strstr(err.text, "net/dev"))
			fail_msg("%u: %s", i, err.text);
	}
	proc_put("dev", NULL);
	assert_int_equal(dev_read(&d, NULL), -ENOENT);
	dev_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_of_this_host), cmocka_unit_test(test_other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, proc_set_up, proc_tear_down);
}
