/* SPDX-License-Identifier: MIT */
/* The tables under /proc/net/stat: sums over CPUs, the first column as a level, tables that lack columns, other files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "counters/lnstat.h"
#include "proc_root.h"

#define TITLES "entries  clashres found new\tdrop early_drop\n"

static void load(struct lnstat *l, const char *text)
{
	proc_put("stat/nf_conntrack", text);
	assert_int_equal(lnstat_read(l, "nf_conntrack", NULL), 0);
}

static int tear_down(void **state)
{
	proc_put("stat/nf_conntrack", NULL);
	return proc_tear_down(state);
}

static uint64_t get(const struct lnstat *l, const char *name)
{
	uint64_t value = 12345678;

	assert_true(lnstat_get(l, name, &value));
	return value;
}

static void test_sums(void **state)
{
	struct lnstat l = { 0 };
	uint64_t value;

	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		load(&l, TITLES "0000001f  00000000 00000001 00000002\tffffffff 0000000a\n0000001f  00000000 00000002 00000000\tffffffff 00000000\n");
		assert_int_equal(l.n, 6);
		assert_true(get(&l, "entries") == 31 && get(&l, "found") == 3 && get(&l, "new") == 2 && get(&l, "early_drop") == 10);
		assert_true(get(&l, "drop") == UINT64_C(0x1fffffffe));
		assert_false(lnstat_get(&l, "dro", &value) || lnstat_get(&l, "insert", &value));
	}
	lnstat_free(&l);
}

static void test_since(void **state)
{
	struct lnstat from = { 0 }, to = { 0 };
	uint64_t n;

	(void)state;
	load(&from, TITLES "20 0 1 2 ffffffff 0\n20 0 1 2 ffffffff 0\n");
	load(&to, TITLES "10 0 4 2 2 0\n10 0 1 2 ffffffff 0\n");
	assert_true(lnstat_since(&from, &to, "entries", &n) && n == 16); /* the level, though it fell */
	assert_true(lnstat_since(&from, &to, "found", &n) && n == 3);
	assert_true(lnstat_since(&from, &to, "new", &n) && n == 0);
	assert_true(lnstat_since(&from, &to, "drop", &n) && n == 3); /* wrapped on one CPU */
	load(&to, "entries found insert\n1 6 1\n");
	assert_true(lnstat_since(&from, &to, "found", &n) && n == 4);
	assert_false(lnstat_since(&from, &to, "insert", &n) || lnstat_since(&from, &to, "drop", &n));
	lnstat_free(&from);
	lnstat_free(&to);
}

static void test_uneven_rows(void **state)
{
	struct lnstat l = { 0 };

	(void)state;
	load(&l, "entries\t\tdrop\tfound\n1 2\n1 2 3 4 5\n");
	assert_true(get(&l, "entries") == 1 && get(&l, "drop") == 4 && get(&l, "found") == 3);
	load(&l, "entries drop\n"); /* no CPU */
	assert_true(get(&l, "drop") == 0);
	lnstat_free(&l);
}

static void test_other_files_are_refused(void **state)
{
	static const char *const others[] = { "", "\n", "00000001 00000002\n", "entries drop\n1 x\n", "entries drop\n1 -2\n" };
	struct lnstat l = { 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		struct err err = ERR_INIT;

		proc_put("stat/nf_conntrack", others[i]);
		if (lnstat_read(&l, "nf_conntrack", &err) != -EINVAL || !strstr(err.text, "stat/nf_conntrack"))
			fail_msg("%u: %s", i, err.text);
	}
	assert_int_equal(lnstat_read(&l, "no_such", NULL), -ENOENT);
	lnstat_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums), cmocka_unit_test(test_since), cmocka_unit_test(test_uneven_rows), cmocka_unit_test(test_other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, proc_set_up, tear_down);
}
