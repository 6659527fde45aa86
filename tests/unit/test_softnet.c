/* SPDX-License-Identifier: MIT */
/* softnet_stat of several kernels (R80), CPUs that come and go, counters that wrap, and what is printed, with the CPUs by name (R81). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "counters/softnet.h"
#include "counters/softnet_show.h"
#include "proc_root.h"
#include "text_of.h"

#define FIVE_ZEROS " 00000000 00000000 00000000 00000000 00000000"
#define UNKNOWN SOFTNET_UNKNOWN

static void load(struct softnet *s, const char *text)
{
	proc_put("softnet_stat", text);
	assert_int_equal(softnet_read(s, NULL), 0);
}

static int tear_down(void **state)
{
	proc_put("softnet_stat", NULL);
	text_free();
	return proc_tear_down(state);
}

static void expect(const struct softnet *s, unsigned row, unsigned cpu, const uint64_t *value)
{
	assert_true(row < s->n);
	assert_int_equal(s->cpu[row].cpu, cpu);
	for (unsigned i = 0; i < SOFTNET_FIGURES; i++)
		if (s->cpu[row].value[i] != value[i])
			fail_msg("row %u, %s: %llu instead of %llu", row, softnet_name[i], (unsigned long long)s->cpu[row].value[i], (unsigned long long)value[i]);
}

/* Columns by kernel; the CPUs are 0 and 2, because 1 is offline: only 13 columns and more tell. */
static void test_columns_r80(void **state)
{
	static const struct {
		unsigned columns;
		const char *more[2];
		uint64_t value[SOFTNET_FIGURES];
	} kernels[] = {
		{ 9, { "", "" }, { 31, 2, 3, 4, UNKNOWN, UNKNOWN, UNKNOWN } },
		{ 10, { " 00000005", " 00000005" }, { 31, 2, 3, 4, 5, UNKNOWN, UNKNOWN } },
		{ 11, { " 00000005 00000006", " 00000005 00000006" }, { 31, 2, 3, 4, 5, 6, UNKNOWN } },
		{ 13, { " 00000005 00000006 00000007 00000000", " 00000005 00000006 00000007 00000002" }, { 31, 2, 3, 4, 5, 6, 7 } },
		{ 15, { " 00000005 00000006 00000007 00000000 00000008 00000009", " 00000005 00000006 00000007 00000002 00000008 00000009" },
		  { 31, 2, 3, 4, 5, 6, 7 } },
		{ 17, { " 00000005 00000006 00000007 00000000 1 2 3 4", " 00000005 00000006 00000007 00000002 1 2 3 4" }, { 31, 2, 3, 4, 5, 6, 7 } },
	};
	struct softnet s = { 0 };
	char text[512];

	(void)state;
	for (unsigned k = 0; k < ARRAY_SIZE(kernels); k++) {
		bool numbered = kernels[k].columns >= 13;

		snprintf(text, sizeof(text), "0000001f 00000002 00000003" FIVE_ZEROS " 00000004%s\n0000001f 00000002 00000003" FIVE_ZEROS " 00000004%s\n",
			 kernels[k].more[0], kernels[k].more[1]);
		load(&s, text);
		assert_int_equal(s.n, 2);
		assert_int_equal(s.numbered, numbered);
		expect(&s, 0, 0, kernels[k].value);
		expect(&s, 1, numbered ? 2 : 1, kernels[k].value);
	}
	softnet_free(&s);
}

static void test_short_rows_r80(void **state)
{
	static const uint64_t two[SOFTNET_FIGURES] = { 16, 1, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	struct softnet s = { 0 };

	(void)state;
	load(&s, "00000010 00000001\n");
	assert_false(s.numbered);
	expect(&s, 0, 0, two);
	assert_true(softnet_sum(&s, SOFTNET_SQUEEZED) == UNKNOWN && softnet_sum(&s, SOFTNET_DROPPED) == 1);
	softnet_free(&s);
}

static void test_other_files_are_refused(void **state)
{
	static const char *const others[] = { "", "\n", "Udp: InDatagrams\n", "0000001g\n", "100000000 00000000\n", "0000001f,00000002\n" };
	struct softnet s = { 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		struct err err = ERR_INIT;

		proc_put("softnet_stat", others[i]);
		if (softnet_read(&s, &err) != -EINVAL || !strstr(err.text, "softnet_stat") || !strstr(err.text, proc_root))
			fail_msg("%u: %s", i, err.text);
	}
	proc_put("softnet_stat", NULL);
	assert_int_equal(softnet_read(&s, NULL), -ENOENT);
	softnet_free(&s);
}

/* total, dropped, squeezed, cpu of a kernel with 13 columns. */
#define ROW(total, dropped, squeezed, cpu) total " " dropped " " squeezed FIVE_ZEROS " 0 0 0 00000003 " cpu "\n"

static const char before[] = ROW("fffffff0", "0", "0", "0") ROW("10", "1", "ffffffff", "1") ROW("5", "0", "0", "3");
static const char after[] = ROW("10", "0", "0", "0") ROW("10", "4", "1", "1") ROW("9", "9", "9", "2");

/* CPU 3 went offline and CPU 2 came: what they did is not known. */
static void test_since(void **state)
{
	static const uint64_t cpu0[] = { 0x20, 0, 0, 0, 0, 0, 3 }, cpu1[] = { 0, 3, 2, 0, 0, 0, 3 };
	static const uint64_t cpu2[] = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 3 };
	static const uint64_t cpu3[] = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	struct softnet from = { 0 }, to = { 0 }, window = { 0 };

	(void)state;
	load(&from, before);
	load(&to, after);
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(softnet_since(&from, &to, &window), 0);
		assert_int_equal(window.n, 4);
		expect(&window, 0, 0, cpu0);
		expect(&window, 1, 1, cpu1);
		expect(&window, 2, 2, cpu2);
		expect(&window, 3, 3, cpu3);
	}
	assert_true(softnet_sum(&window, SOFTNET_TOTAL) == 0x20 && softnet_sum(&window, SOFTNET_DROPPED) == 3);
	softnet_free(&from);
	softnet_free(&to);
	softnet_free(&window);
}

/* Rows without numbers: a row more, and no row is known to be the CPU that it was. */
static void test_since_without_numbers(void **state)
{
	struct softnet from = { 0 }, to = { 0 }, window = { 0 };

	(void)state;
	load(&from, "1 0 0\n2 0 0\n");
	load(&to, "4 0 1\n2 0 0\n");
	assert_int_equal(softnet_since(&from, &to, &window), 0);
	assert_true(window.n == 2 && window.cpu[0].value[SOFTNET_TOTAL] == 3 && window.cpu[0].value[SOFTNET_SQUEEZED] == 1);
	load(&to, "1 0 0\n4 0 0\n2 0 0\n");
	assert_int_equal(softnet_since(&from, &to, &window), 0);
	assert_int_equal(window.n, 3);
	assert_true(softnet_sum(&window, SOFTNET_TOTAL) == UNKNOWN);
	softnet_free(&from);
	softnet_free(&to);
	softnet_free(&window);
}

static void test_print_r81(void **state)
{
	static const char text[] = "softnet of the host, 1.500 s\n"
				   "CPU           total     dropped    squeezed   collision      rx_rps  flow_limit\n"
				   "CPU:00           32           0           0           0           0           0\n"
				   "CPU:01            0           3           2           0           0           0\n"
				   "CPU:02            -           -           -           -           -           -\n"
				   "CPU:03            -           -           -           -           -           -\n"
				   "Summed:          32           3           2           0           0           0\n"
				   "  dropped on CPU 1: 3 (packets: the backlog was full, see net.core.netdev_max_backlog)\n"
				   "  squeezed on CPU 1: 2 (times: work was left, see net.core.netdev_budget)\n";
	static const char json[] = "{\"type\":\"softnet\",\"interval_ns\":1500000000,\"numbered\":true,\"cpus\":["
				   "{\"cpu\":0,\"total\":32,\"dropped\":0,\"squeezed\":0,\"collision\":0,\"rx_rps\":0,\"flow_limit\":0,\"backlog\":3},"
				   "{\"cpu\":1,\"total\":0,\"dropped\":3,\"squeezed\":2,\"collision\":0,\"rx_rps\":0,\"flow_limit\":0,\"backlog\":3},"
				   "{\"cpu\":2,\"total\":null,\"dropped\":null,\"squeezed\":null,\"collision\":null,\"rx_rps\":null,\"flow_limit\":null,\"backlog\":3},"
				   "{\"cpu\":3,\"total\":null,\"dropped\":null,\"squeezed\":null,\"collision\":null,\"rx_rps\":null,\"flow_limit\":null,\"backlog\":null}],"
				   "\"total\":{\"total\":32,\"dropped\":3,\"squeezed\":2,\"collision\":0,\"rx_rps\":0,\"flow_limit\":0,\"backlog\":9},"
				   "\"dropped_on\":[1],\"squeezed_on\":[1]}\n";
	struct softnet from = { 0 }, to = { 0 }, window = { 0 };

	(void)state;
	load(&from, before);
	load(&to, after);
	assert_int_equal(softnet_since(&from, &to, &window), 0);
	text_begin();
	softnet_show_text(text_out, &window, 1500 * NSEC_PER_MSEC);
	assert_string_equal(text_end(), text);
	text_begin();
	assert_int_equal(softnet_show_json(text_out, &window, 1500 * NSEC_PER_MSEC), 0);
	assert_string_equal(text_end(), json);
	softnet_free(&from);
	softnet_free(&to);
	softnet_free(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_r80), cmocka_unit_test(test_short_rows_r80), cmocka_unit_test(test_other_files_are_refused),
		cmocka_unit_test(test_since), cmocka_unit_test(test_since_without_numbers), cmocka_unit_test(test_print_r81),
	};

	return cmocka_run_group_tests(tests, proc_set_up, tear_down);
}
