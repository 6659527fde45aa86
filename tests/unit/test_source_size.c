/* SPDX-License-Identifier: MIT */
/* --payload: what is understood, what is refused, and that the sizes drawn are the ones asked for (R62). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "chi.h"
#include "source/size.h"

static void test_understood_r62(void **state)
{
	static const struct {
		const char *text;
		unsigned low, high, n;
		double mean;
	} rows[] = {
		{ "18", 18, 18, 0, 18 },	   { "0", 0, 0, 0, 0 },		   { "65507", 65507, 65507, 0, 65507 },
		{ "1k", 1024, 1024, 0, 1024 },	   { "3x1472", 4416, 4416, 0, 4416 }, { "1x7", 7, 7, 0, 7 },
		{ "5x0", 0, 0, 0, 0 },		   { "18..1472", 18, 1472, 0, 745 }, { "0..1", 0, 1, 0, 0.5 },
		{ "9..9", 9, 9, 0, 9 },		   { "0..65507", 0, 65507, 0, 32753.5 }, { "1k..2x1k", 1024, 2048, 0, 1536 },
		{ "imix", 18, 1472, 3, (7 * 18 + 4 * 548 + 1472) / 12. },
		{ "64:7,576:4", 64, 576, 2, (7 * 64 + 4 * 576) / 11. },
		{ "100,200", 100, 200, 2, 150 },   { "64:1", 64, 64, 1, 64 },	   { "9:0.5,1:1.5", 1, 9, 2, 3 },
		{ "3x10:2,40", 30, 40, 2, 100 / 3. },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct size_plan plan;
		struct err err = ERR_INIT;

		if (size_parse("payload", rows[i].text, &plan, &err))
			fail_msg("%s", err.text);
		assert_int_equal(plan.low, rows[i].low);
		assert_int_equal(plan.high, rows[i].high);
		assert_int_equal(plan.n, rows[i].n);
		assert_true(fabs(plan.mean - rows[i].mean) < 1e-9);
		assert_int_equal(size_is_fixed(&plan), rows[i].low == rows[i].high);
		size_free(&plan);
		assert_null(plan.weights.entry);
	}
}

static void test_refused_r62(void **state)
{
	static const char *const texts[] = {
		"", "x", "-1", "65508", "1e3", "18.5", "0x12", "2x32754", "x18", "18x", "0x0", "65507x65507", "99999999999999999999",
		"..", "1..", "..2", "9..8", "1..65508", "1...3", "1..2..3", ":", "1:", ":1", "1:0", "1:-1", "1:x", "1,", ",1", "1,,2", "1:1:1",
		"imix,9", "Imix", " 18", "18 ", "1..2,3", "00000000000000000000000000000000000018..19",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33",
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		struct size_plan plan;
		struct err err = ERR_INIT;

		if (size_parse("payload", texts[i], &plan, &err) != -EINVAL)
			fail_msg("'%s' was taken", texts[i]);
		assert_non_null(strstr(err.text, "--payload"));
		size_free(&plan);
	}
}

/* Draws and compares with the weight of each size, 0 .. 65507. */
static void drawn(const char *text, const double *weight)
{
	enum { DRAWS = 200000 };
	uint64_t *seen = calloc(SIZE_MAX_PAYLOAD + 1, sizeof(*seen));
	struct size_plan plan;
	struct random r;

	assert_non_null(seen);
	random_seed(&r, 42, 0);
	assert_int_equal(size_parse("payload", text, &plan, NULL), 0);
	for (unsigned i = 0; i < DRAWS; i++)
		seen[size_draw(&plan, &r)]++;
	assert_true(chi_fits(seen, weight, SIZE_MAX_PAYLOAD + 1, DRAWS));
	size_free(&plan);
	free(seen);
}

static void test_drawn_as_asked(void **state)
{
	static double weight[SIZE_MAX_PAYLOAD + 1];

	(void)state;
	weight[18] = 7;
	weight[548] = 4;
	weight[1472] = 1;
	drawn("imix", weight);
	memset(weight, 0, sizeof(weight));
	weight[5] = 1;
	drawn("5", weight);
	weight[0] = 0.5; /* twice in the list: both count */
	drawn("0:0.25,5,0:0.25", weight);
	memset(weight, 0, sizeof(weight));
	for (unsigned i = 18; i <= 1472; i++)
		weight[i] = 1;
	drawn("18..1472", weight);
	memset(weight, 0, sizeof(weight));
	weight[7] = weight[8] = weight[9] = 1; /* both ends */
	drawn("7..9", weight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood_r62),
		cmocka_unit_test(test_refused_r62),
		cmocka_unit_test(test_drawn_as_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
