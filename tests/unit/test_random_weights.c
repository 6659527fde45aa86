/* SPDX-License-Identifier: MIT */
/* Random numbers: the published sequence, seeds that repeat and differ, even and weighted draws. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/util.h"
#include "base/weights.h"
#include "chi.h"

#define DRAWS 100000

/* What the authors' C code (prng.di.unimi.it, xoshiro256starstar.c) gives from the state 1, 2, 3, 4. */
static void test_published_sequence(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(11520), UINT64_C(0), UINT64_C(1509978240), UINT64_C(1215971899390074240), UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600), UINT64_C(16172922978634559625), UINT64_C(8476171486693032832),
	};
	struct random r = { { 1, 2, 3, 4 } };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++)
		assert_true(random_next(&r) == expected[i]);
}

static void test_seeds_repeat_and_streams_differ(void **state)
{
	enum { SEEDS = 16, STREAMS = 16, ALL = SEEDS * STREAMS };
	static const uint64_t seeds[SEEDS] = { 0, 1, 2, 3, 4, 5, 6, 7, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, 10, 11, 12, 13, 14 };
	struct random r[ALL], again;
	unsigned same_bits = 0;

	(void)state;
	for (unsigned i = 0; i < ALL; i++) {
		random_seed(&r[i], seeds[i / STREAMS], i % STREAMS);
		random_seed(&again, seeds[i / STREAMS], i % STREAMS);
		assert_memory_equal(&r[i], &again, sizeof(again));
		assert_true(random_next(&r[i]) == random_next(&again));
	}
	/* Neighbours share no more bits than chance has it: half of 64, 255 times. Three sigma of that are 190. */
	for (unsigned i = 1; i < ALL; i++) {
		uint64_t a = random_next(&r[i - 1]), b = random_next(&r[i]);

		for (unsigned j = 0; j < i; j++)
			assert_memory_not_equal(&r[i], &r[j], sizeof(again));
		same_bits += (unsigned)__builtin_popcountll(~(a ^ b));
	}
	assert_in_range(same_bits, 255 * 32 - 190, 255 * 32 + 190);
}

static void test_below_is_even(void **state)
{
	static const uint32_t limits[] = { 1, 2, 3, 7, 10, 100, 1000 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
		uint64_t narrow[1000] = { 0 }, wide[1000] = { 0 };
		struct random r;

		random_seed(&r, 1, limits[i]);
		for (unsigned k = 0; k < DRAWS; k++) {
			uint32_t a = random_below(&r, limits[i]);
			uint64_t b = random_below64(&r, limits[i]);

			assert_true(a < limits[i] && b < limits[i]);
			narrow[a]++;
			wide[b]++;
		}
		assert_true(chi_fits(narrow, NULL, limits[i], DRAWS));
		assert_true(chi_fits(wide, NULL, limits[i], DRAWS));
	}
}

/* Against long multiplication in pieces of 16 bits. */
static uint64_t upper_half(uint64_t a, uint64_t b)
{
	uint32_t sum[9] = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		uint64_t carry = 0;

		for (unsigned j = 0; j < 4; j++) {
			carry += sum[i + j] + (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);
			sum[i + j] = (uint32_t)(carry & 0xffff);
			carry >>= 16;
		}
		sum[i + 4] = (uint32_t)carry;
	}
	return (uint64_t)sum[7] << 48 | (uint64_t)sum[6] << 32 | (uint64_t)sum[5] << 16 | sum[4];
}

static void test_below_of_wide_ranges(void **state)
{
	static const uint64_t limits[] = {
		1, 2, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 12345, UINT64_MAX,
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
		struct random r, same;

		random_seed(&r, 3, i);
		same = r;
		for (unsigned k = 0; k < 1000; k++) {
			uint64_t x = random_below64(&r, limits[i]);

			assert_true(x < limits[i]);
			assert_true(x == upper_half(random_next(&same), limits[i]));
		}
	}
}

static void test_unit_interval(void **state)
{
	uint64_t tenth[10] = { 0 };
	struct random r;

	(void)state;
	random_seed(&r, 4, 0);
	for (unsigned k = 0; k < DRAWS; k++) {
		double x = random_unit(&r);

		assert_true(x >= 0 && x < 1);
		tenth[(unsigned)(x * 10)]++;
	}
	assert_true(chi_fits(tenth, NULL, 10, DRAWS));
}

static void test_fill_writes_what_it_should(void **state)
{
	unsigned char whole[64], part[66];
	struct random r;

	(void)state;
	random_seed(&r, 5, 0);
	random_fill(&r, whole, sizeof(whole));
	for (unsigned size = 0; size <= sizeof(whole); size++) {
		memset(part, 0xa5, sizeof(part));
		random_seed(&r, 5, 0);
		random_fill(&r, part + 1, size);
		assert_memory_equal(part + 1, whole, size);
		assert_int_equal(part[0], 0xa5);
		assert_int_equal(part[1 + size], 0xa5);
	}
}

static void draw(const double *weight, unsigned n, uint64_t seed)
{
	uint64_t *seen = calloc(n, sizeof(*seen));
	struct weights w;
	struct random r;

	assert_non_null(seen);
	random_seed(&r, seed, n);
	assert_int_equal(weights_init(&w, weight, n), 0);
	for (unsigned k = 0; k < DRAWS; k++) {
		unsigned i = weights_draw(&w, &r);

		assert_true(i < n);
		seen[i]++;
	}
	assert_true(chi_fits(seen, weight, n, DRAWS));
	weights_free(&w);
	assert_null(w.entry);
	free(seen);
}

static void test_weighted_draws(void **state)
{
	static const double one[] = { 3 }, imix[] = { 7, 4, 1 }, holes[] = { 0, 5, 0, 0, 1, 0 }, wide[] = { 1e-3, 1e3, 1e3 }, even[] = { 2, 2, 2, 2 };
	double zipf[500];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(zipf); i++)
		zipf[i] = pow(i + 1., -1.1);
	draw(one, 1, 1);
	draw(imix, 3, 2);
	draw(holes, 6, 3);
	draw(wide, 3, 4);
	draw(even, 4, 5);
	draw(zipf, ARRAY_SIZE(zipf), 6);
}

/* The table itself adds up to the weights, whatever was drawn: at most n rounding steps of 2^-32 off. */
static void test_table_is_exact(void **state)
{
	enum { N = 1000 };
	static double weight[N], share[N];
	struct weights w;
	struct random r;
	double sum = 0;

	(void)state;
	random_seed(&r, 7, 0);
	for (unsigned i = 0; i < N; i++) {
		weight[i] = i % 10 ? random_unit(&r) : 0;
		sum += weight[i];
	}
	assert_int_equal(weights_init(&w, weight, N), 0);
	for (unsigned i = 0; i < N; i++) {
		double keep = w.entry[i].keep / 0x1p32;

		assert_true(w.entry[i].other < N);
		share[i] += keep;
		share[w.entry[i].other] += 1 - keep;
	}
	for (unsigned i = 0; i < N; i++)
		assert_true(fabs(share[i] - weight[i] * N / sum) < N * 0x1p-32);
	weights_free(&w);
}

static void test_weights_that_cannot_be(void **state)
{
	static const double below[] = { 1, -1 }, nothing[] = { 0, 0 };
	const double no_number[] = { 1, (double)NAN };
	struct weights w;

	(void)state;
	assert_int_equal(weights_init(&w, below, 2), -EINVAL);
	assert_null(w.entry);
	assert_int_equal(weights_init(&w, nothing, 2), -EINVAL);
	assert_int_equal(weights_init(&w, no_number, 2), -EINVAL);
	weights_free(&w); /* harmless */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_sequence),
		cmocka_unit_test(test_seeds_repeat_and_streams_differ),
		cmocka_unit_test(test_below_is_even),
		cmocka_unit_test(test_below_of_wide_ranges),
		cmocka_unit_test(test_unit_interval),
		cmocka_unit_test(test_fill_writes_what_it_should),
		cmocka_unit_test(test_weighted_draws),
		cmocka_unit_test(test_table_is_exact),
		cmocka_unit_test(test_weights_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
