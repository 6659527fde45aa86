/* SPDX-License-Identifier: MIT */
/* Withheld, reordered, duplicated: the closed formulas against a simulation that builds the list of numbers step by step (R68). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/impair.h"

#define MANY 2000

struct list {
	uint64_t at[3 * MANY];
	unsigned n;
};

/* 0, 1, 2, ... without every Nth. */
static void withhold(struct list *out, uint32_t every)
{
	out->n = 0;
	for (uint64_t number = 0; out->n < MANY; number++)
		if (!every || number % every != every - 1)
			out->at[out->n++] = number;
}

static void reorder(struct list *l, uint32_t every)
{
	for (unsigned i = every; every && i <= l->n; i += every) {
		uint64_t last = l->at[i - 1];

		l->at[i - 1] = l->at[i - 2];
		l->at[i - 2] = last;
	}
}

static void duplicate(const struct list *in, struct list *out, uint32_t every)
{
	out->n = 0;
	for (unsigned i = 0; i < in->n; i++) {
		out->at[out->n++] = in->at[i];
		if (every && (i + 1) % every == 0)
			out->at[out->n++] = in->at[i];
	}
}

/* What a receiver would find in the first n of the list, number by number. */
struct found {
	uint64_t copies, late, end, holes;
};

static struct found look(const struct list *l, unsigned n, uint32_t every)
{
	static unsigned char seen[4 * MANY];
	struct found f = { 0 };
	uint64_t top = 0, different = 0;

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < n; i++) {
		uint64_t number = l->at[i];

		if (seen[number]++) {
			f.copies++;
			continue;
		}
		different++;
		f.late += number < top;
		top = MAX(top, number + 1);
	}
	/* A number that will never be sent belongs to what is behind it. */
	f.end = every && top % every == every - 1 ? top + 1 : top;
	f.holes = f.end - different;
	return f;
}

static void check(const struct impair *p)
{
	static struct list plain, all;

	withhold(&plain, p->withhold);
	reorder(&plain, p->reorder);
	duplicate(&plain, &all, p->duplicate);
	for (unsigned i = 0; i < MANY - 64; i++) /* the last group of --reorder may be cut in the simulation */
		if (impair_number(p, i) != all.at[i])
			fail_msg("withhold %u reorder %u duplicate %u: datagram %u has number %llu, not %llu", p->withhold, p->reorder,
				 p->duplicate, i, (unsigned long long)impair_number(p, i), (unsigned long long)all.at[i]);
	for (unsigned n = 0; n < 150; n++) {
		struct found f = look(&all, n, p->withhold);

		assert_int_equal(impair_duplicates(p, n), f.copies);
		assert_int_equal(impair_reordered(p, n), f.late);
		assert_int_equal(impair_end(p, n), f.end);
		assert_int_equal(impair_withheld(p, n), f.holes);
	}
}

static void test_formulas_against_a_simulation_r68(void **state)
{
	static const uint32_t values[] = { 0, 1, 2, 3, 4, 5, 7, 10, 31, 64 };

	(void)state;
	for (unsigned w = 0; w < ARRAY_SIZE(values); w++)
		for (unsigned r = 0; r < ARRAY_SIZE(values); r++)
			for (unsigned d = 0; d < ARRAY_SIZE(values); d++) {
				const struct impair p = { .withhold = values[w], .reorder = values[r], .duplicate = values[d] };

				if (values[w] != 1 && values[r] != 1) /* not to be asked for: 2 and more */
					check(&p);
			}
}

static void test_nothing_asked(void **state)
{
	const struct impair none = { 0 }, some = { .duplicate = 1 };

	(void)state;
	assert_false(impair_any(&none));
	assert_true(impair_any(&some));
	assert_true(impair_number(&none, UINT64_MAX) == UINT64_MAX);
	assert_true(impair_end(&none, UINT64_MAX) == UINT64_MAX);
	assert_int_equal(impair_withheld(&none, 1000), 0);
}

/* The largest values that the options take, far into a long run. */
static void test_wide(void **state)
{
	const struct impair p = { .withhold = 1000000000, .reorder = 1000000000, .duplicate = 1000000000 };
	const uint64_t n = UINT64_C(1) << 50;

	(void)state;
	assert_int_equal(impair_number(&p, 0), 0);
	assert_int_equal(impair_number(&p, 999999998), 1000000000); /* the pair changed places; number 999999999 is withheld */
	assert_int_equal(impair_number(&p, 999999999), 999999998);
	assert_int_equal(impair_number(&p, 1000000000), 999999998); /* the copy */
	assert_int_equal(impair_duplicates(&p, n), n / 1000000001);
	assert_true(impair_end(&p, n) > n - n / 1000000001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas_against_a_simulation_r68),
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
