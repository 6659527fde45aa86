/* SPDX-License-Identifier: MIT */
/* Destinations: addresses times ports, in turn over all threads or at random alike, so many datagrams to each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "chi.h"
#include "source/dst.h"

static void make(struct dst_plan *plan, const char *range, const char *ports)
{
	struct range r;

	assert_int_equal(range_parse(range, AF_UNSPEC, &r, NULL), 0);
	assert_int_equal(dst_plan(plan, &r, ports, 6666, NULL), 0);
}

/* Number of this destination in the plan. */
static unsigned index_of(const struct dst_plan *plan, const struct addr *a)
{
	uint32_t host = ntohl(a->in.sin_addr.s_addr) - ntohl(plan->range.first.in.sin_addr.s_addr);

	assert_in_range(addr_port(a), plan->first_port, plan->first_port + plan->ports - 1);
	return host * plan->ports + (addr_port(a) - plan->first_port);
}

static void test_ports(void **state)
{
	static const struct {
		const char *text;
		unsigned first, n; /* n 0: refused */
	} rows[] = {
		{ NULL, 6666, 1 },	    { "53", 53, 1 },	 { "1000-1999", 1000, 1000 }, { "1-65535", 1, 65535 }, { "7-7", 7, 1 },
		{ "65535", 65535, 1 },	    { "0", 0, 0 },	 { "65536", 0, 0 },	      { "1-65536", 0, 0 },     { "9-8", 0, 0 },
		{ "-", 0, 0 },		    { "1-", 0, 0 },	 { "-9", 0, 0 },	      { "1-2-3", 0, 0 },       { "x", 0, 0 },
		{ "", 0, 0 },		    { "00000000053", 0, 0 }, { "53,54", 0, 0 },
	};
	struct range range;

	(void)state;
	assert_int_equal(range_parse("127.0.0.1", AF_UNSPEC, &range, NULL), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dst_plan plan;
		struct err err = ERR_INIT;
		int rc = dst_plan(&plan, &range, rows[i].text, 6666, &err);

		assert_int_equal(rc, rows[i].n ? 0 : -EINVAL);
		if (rc) {
			assert_non_null(strstr(err.text, "--dst-ports"));
			continue;
		}
		assert_int_equal(plan.first_port, rows[i].first);
		assert_int_equal(plan.ports, rows[i].n);
		assert_true(plan.n == rows[i].n);
	}
}

static void test_one_destination(void **state)
{
	struct dst_plan plan;
	struct random r = { { 1, 2, 3, 4 } };

	(void)state;
	make(&plan, "127.0.0.9", NULL);
	for (unsigned threads = 1; threads < 4; threads++)
		for (unsigned t = 0; t < threads; t++) {
			struct dst_walk walk;
			struct addr a;

			dst_start(&walk, &plan, t, threads);
			for (unsigned i = 0; i < 5; i++) {
				dst_next(&walk, &r, 1, &a);
				assert_int_equal(index_of(&plan, &a), 0);
				assert_int_equal(addr_port(&a), 6666);
			}
		}
}

/* Thread t's k-th destination is number (t + k * threads) modulo all: taken together they go round in turn. */
static void test_in_turn_over_all_threads(void **state)
{
	static const unsigned lengths[] = { 1, 3 };
	struct random r = { { 1, 2, 3, 4 } };

	(void)state;
	for (unsigned last = 1; last <= 7; last++)
		for (unsigned threads = 1; threads <= 9; threads++)
			for (unsigned l = 0; l < ARRAY_SIZE(lengths); l++)
				for (unsigned t = 0; t < threads; t++) {
					char text[48];
					struct dst_plan plan;
					struct dst_walk walk;

					snprintf(text, sizeof(text), "127.0.0.1-127.0.0.%u", last);
					make(&plan, text, "100-102");
					plan.length = lengths[l];
					dst_start(&walk, &plan, t, threads);
					for (unsigned k = 0; k < 50; k++)
						for (unsigned i = 0; i < lengths[l]; i++) {
							struct addr a;

							dst_next(&walk, &r, 1, &a);
							assert_int_equal(index_of(&plan, &a), (t + k * threads) % (3 * last));
						}
				}
}

static void test_messages_of_several(void **state)
{
	struct random r = { { 1, 2, 3, 4 } };
	struct dst_plan plan;
	struct dst_walk walk;
	struct addr a;

	(void)state;
	make(&plan, "127.0.0.0/24", NULL);
	plan.length = 12;
	dst_start(&walk, &plan, 0, 1);
	for (unsigned message = 0; message < 300; message++) { /* 12 = 3 messages of 4 */
		dst_next(&walk, &r, 4, &a);
		assert_int_equal(index_of(&plan, &a), message / 3 % 256);
	}
	plan.length = 1; /* a message is not parted: it is longer than that, and the next goes elsewhere */
	dst_start(&walk, &plan, 0, 1);
	for (unsigned message = 0; message < 300; message++) {
		dst_next(&walk, &r, 4, &a);
		assert_int_equal(index_of(&plan, &a), message % 256);
	}
}

static void test_random_is_even(void **state)
{
	enum { DRAWS = 100000, N = 16 * 5 };
	uint64_t seen[N] = { 0 };
	struct dst_plan plan;
	struct dst_walk walk;
	struct random r;

	(void)state;
	make(&plan, "198.18.0.0/28", "1000-1004");
	plan.order = DST_RANDOM;
	plan.length = 2;
	random_seed(&r, 21, 0);
	dst_start(&walk, &plan, 0, 1);
	for (unsigned k = 0; k < DRAWS; k++) {
		struct addr a, same;

		dst_next(&walk, &r, 1, &a);
		dst_next(&walk, &r, 1, &same);
		assert_true(addr_equal(&a, &same));
		seen[index_of(&plan, &a)]++;
	}
	assert_true(chi_fits(seen, NULL, N, DRAWS));
}

/* 2^64 - 1 stands for as many and more: nothing overflows, and every draw is within. */
static void test_more_than_can_be_counted(void **state)
{
	struct addr a, low, high;
	struct dst_plan plan;
	struct dst_walk walk;
	unsigned upper = 0;
	struct random r;

	(void)state;
	make(&plan, "2001:db8::/64", "1-65535");
	assert_true(plan.n == UINT64_MAX);
	range_at(&plan.range, 0, &low);
	range_at(&plan.range, UINT64_MAX / 65535, &high);
	plan.order = DST_RANDOM;
	random_seed(&r, 22, 0);
	dst_start(&walk, &plan, 0, 1);
	for (unsigned k = 0; k < 10000; k++) {
		dst_next(&walk, &r, 1, &a);
		assert_in_range(addr_port(&a), 1, 65535);
		assert_true(memcmp(&a.in6.sin6_addr, &low.in6.sin6_addr, 16) >= 0);
		assert_true(memcmp(&a.in6.sin6_addr, &high.in6.sin6_addr, 16) <= 0);
		upper += walk.at > UINT64_MAX / 2;
	}
	assert_in_range(upper, 4800, 5200);
	/* At the end of the plan, in steps: back to the beginning without a gap. */
	plan.order = DST_SEQUENTIAL;
	dst_start(&walk, &plan, 2, 3);
	walk.at = UINT64_MAX - 2;
	walk.left = 1;
	dst_next(&walk, &r, 1, &a);
	dst_next(&walk, &r, 1, &a);
	assert_true(walk.at == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_one_destination),
		cmocka_unit_test(test_in_turn_over_all_threads),
		cmocka_unit_test(test_messages_of_several),
		cmocka_unit_test(test_random_is_even),
		cmocka_unit_test(test_more_than_can_be_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
