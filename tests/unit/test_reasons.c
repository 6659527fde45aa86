/* SPDX-License-Identifier: MIT */
/* Drop reasons: order and differences of the list; names against the kernel that runs; the sentence of a build without BPF. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/reasons.h"
#include "counters/reasons_names.h"
#include "tap.h"

/* A list of its own memory. */
static struct reason_list list_of(const struct reason_count *count, unsigned n, uint64_t missed)
{
	struct reason_list l = { .count = calloc(n, sizeof(*count)), .n = n, .missed = missed };

	assert_non_null(l.count);
	memcpy(l.count, count, n * sizeof(*count));
	return l;
}

static void expect(const struct reason_list *l, unsigned i, const char *name, enum reasons_scope scope, uint64_t packets, uint64_t datagrams)
{
	assert_true(i < l->n);
	assert_string_equal(l->count[i].name, name);
	assert_int_equal(l->count[i].scope, scope);
	assert_int_equal(l->count[i].packets, packets);
	assert_int_equal(l->count[i].datagrams, datagrams);
}

static void test_order(void **state)
{
	static const struct reason_count count[] = {
		{ "U", 9, REASONS_UNPARSED, 1000, 0 }, { "B", 2, REASONS_OURS, 5, 50 }, { "NONE", 3, REASONS_OURS, 0, 0 },
		{ "A", 4, REASONS_OURS, 5, 5 },	       { "C", 5, REASONS_OURS, 6, 6 },	{ "N", 6, REASONS_NAMESPACE_UNKNOWN, 7, 7 },
	};
	struct reason_list l = list_of(count, 6, 3), empty = { 0 };

	(void)state;
	reasons_list_sort(&l);
	assert_int_equal(l.n, 5);
	expect(&l, 0, "C", REASONS_OURS, 6, 6);
	expect(&l, 1, "A", REASONS_OURS, 5, 5);
	expect(&l, 2, "B", REASONS_OURS, 5, 50);
	expect(&l, 3, "N", REASONS_NAMESPACE_UNKNOWN, 7, 7);
	expect(&l, 4, "U", REASONS_UNPARSED, 1000, 0);
	reasons_list_free(&l);
	assert_true(!l.count && !l.n);
	reasons_list_sort(&empty);
	assert_int_equal(empty.n, 0);
}

static void test_difference(void **state)
{
	static const struct reason_count first[] = {
		{ "A", 1, REASONS_OURS, 10, 20 }, { "B", 2, REASONS_OURS, 5, 5 }, { "A", 1, REASONS_UNPARSED, 4, 4 },
	};
	static const struct reason_count second[] = {
		{ "A", 1, REASONS_OURS, 11, 31 }, { "B", 2, REASONS_OURS, 5, 5 }, { "A", 1, REASONS_UNPARSED, 4, 4 },
		{ "A", 1, REASONS_NAMESPACE_UNKNOWN, 3, 3 }, { "C", 3, REASONS_OURS, 2, 2 },
	};
	struct reason_list before = list_of(first, 3, 5), now = list_of(second, 5, 7);

	(void)state;
	reasons_list_since(&now, &before);
	assert_int_equal(now.n, 3);
	expect(&now, 0, "C", REASONS_OURS, 2, 2);
	expect(&now, 1, "A", REASONS_OURS, 1, 11);
	expect(&now, 2, "A", REASONS_NAMESPACE_UNKNOWN, 3, 3);
	assert_int_equal(now.missed, 2);
	reasons_list_free(&now);
	reasons_list_free(&before);
}

#ifdef HAVE_BPF
/* How many numbers of the kernel's own reasons have this name. */
static unsigned numbers(const struct reasons_names *n, const char *name)
{
	char buf[48];
	unsigned found = 0;

	for (uint32_t i = 0; i < 1000; i++)
		found += reasons_names_get(n, i, buf, sizeof(buf)) && strcmp(buf, name) == 0;
	return found;
}

static void test_names(void **state)
{
	struct reasons_names n;
	struct err err = ERR_INIT;
	char buf[48];

	(void)state;
	if (reasons_names_open(&n, &err))
		TAP_SKIP("%s", err.text);
	assert_int_equal(numbers(&n, "NO_SOCKET"), 1);
	assert_int_equal(numbers(&n, "SOCKET_RCVBUFF"), 1);
	assert_int_equal(numbers(&n, "NOT_SPECIFIED"), 1);
	/* 0 is what has not been dropped (yet); SKB_CONSUMED is a drop by no name. */
	assert_false(reasons_names_get(&n, 0, buf, sizeof(buf)));
	assert_int_equal(numbers(&n, "SKB_CONSUMED") + numbers(&n, "CONSUMED"), 0);
	assert_true(reasons_names_get(&n, 60000, buf, sizeof(buf)));
	assert_string_equal(buf, "REASON_60000");
	assert_true(reasons_names_get(&n, 0x7fff0005, buf, sizeof(buf)));
	assert_string_equal(buf, "SUBSYSTEM_32767_5");
	reasons_names_close(&n);
}
#else
static void test_refused(void **state)
{
	const uint16_t port = 9;
	const struct reasons_conf conf = { .ports = &port, .n = 1, .protocol = 17 };
	struct err err = ERR_INIT;
	struct reasons *r = (void *)&conf;
	struct reason_list list;

	(void)state;
	assert_int_equal(reasons_open(&r, &conf, &err), -EOPNOTSUPP);
	assert_null(r);
	assert_non_null(strstr(err.text, "built without BPF"));
	assert_non_null(strstr(err.text, "--enable-bpf"));
	assert_int_equal(reasons_read(r, &list, &err), -EOPNOTSUPP);
	reasons_close(r);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_difference),
#ifdef HAVE_BPF
		cmocka_unit_test(test_names),
#else
		cmocka_unit_test(test_refused),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
