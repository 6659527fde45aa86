/* SPDX-License-Identifier: MIT */
/* Increments of counters: 32 bits that wrap, 64 bits that are reset (R85, R88), and their rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "counters/counter.h"

static void test_increments_r88(void **state)
{
	static const struct {
		uint64_t from, to;
		unsigned bits;
		uint64_t increment;
		bool wrapped;
	} cases[] = {
		{ 0, 0, 32, 0, false }, { 5, 7, 32, 2, false }, { 0, UINT32_MAX, 32, UINT32_MAX, false },
		{ UINT32_MAX, 0, 32, 1, true }, { 0xfffffff0, 0x10, 32, 0x20, true }, { 236, 0, 32, 4294967060, true },
		{ UINT64_C(0x100000005), UINT64_C(0x200000003), 32, UINT32_MAX - 1, true }, /* only the lower halves count */
		{ 0, 0, 64, 0, false }, { 5, 7, 64, 2, false }, { UINT32_MAX, UINT64_C(0x100000004), 64, 5, false },
		{ 0, UINT64_MAX, 64, UINT64_MAX, false }, { UINT64_MAX - 1, UINT64_MAX, 64, 1, false },
		{ 7, 5, 64, 0, true }, { UINT64_MAX, 0, 64, 0, true }, { UINT32_MAX, 0, 64, 0, true },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		bool wrapped = !cases[i].wrapped;

		if (counter_increment(cases[i].from, cases[i].to, cases[i].bits, &wrapped) != cases[i].increment || wrapped != cases[i].wrapped)
			fail_msg("case %u", i);
	}
}

static void test_rate(void **state)
{
	(void)state;
	assert_true(counter_rate(300, 2 * NSEC_PER_SEC) == 150. && counter_rate(1, NSEC_PER_SEC / 4) == 4.);
	assert_true(counter_rate(0, NSEC_PER_SEC) == 0. && counter_rate(5, 0) == 0.);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_increments_r88), cmocka_unit_test(test_rate) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
