/* SPDX-License-Identifier: MIT */
/* Counters: layout, publishing, snapshots under fire (R100), flows, destinations. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sink/destination.h"
#include "sink/flows.h"
#include "sink/stats.h"

static void test_layout_r101(void **state)
{
	struct stats_block *b = aligned_alloc(PAD_ALIGN, 2 * sizeof(*b));

	(void)state;
	assert_non_null(b);
	assert_int_equal(sizeof(*b) % PAD_ALIGN, 0);
	assert_true((uintptr_t)&b[1] - (uintptr_t)&b[0] >= PAD_ALIGN);
	assert_int_equal((uintptr_t)&b[1] % PAD_ALIGN, 0);
	free(b);
}

static void test_fill_bucket(void **state)
{
	static const struct {
		unsigned n, bucket;
	} cases[] = { { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 8, 3 }, { 64, 6 }, { 65, 7 }, { 1024, 10 }, { 4000, 10 } };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(stats_fill_bucket(cases[i].n), cases[i].bucket);
}

static void test_errno_index(void **state)
{
	(void)state;
	assert_string_equal(stats_errno[stats_errno_index(ECONNREFUSED)].name, "ECONNREFUSED");
	assert_string_equal(stats_errno[stats_errno_index(EFAULT)].name, "EFAULT");
	assert_string_equal(stats_errno[stats_errno_index(EXDEV)].name, "other");
}

static void test_names_match_fields(void **state)
{
	struct stats s = { .datagrams = 1, .wire_bytes = 2, .pktgen_bad_repeat = 3 };

	(void)state;
	assert_int_equal(stats_get(&s, STATS_datagrams), 1);
	assert_int_equal(stats_get(&s, STATS_wire_bytes), 2);
	assert_int_equal(stats_get(&s, STATS_pktgen_bad_repeat), 3);
	assert_string_equal(stats_info[STATS_wire_bytes].name, "wire_bytes");
}

static void test_add_and_delta(void **state)
{
	struct stats a = { .datagrams = 10, .fill = { [3] = 4 } }, b = { .datagrams = 7, .fill = { [3] = 1 } }, d;

	(void)state;
	stats_delta(&a, &b, &d);
	assert_int_equal(d.datagrams, 3);
	assert_int_equal(d.fill[3], 3);
	stats_add(&b, &d);
	assert_int_equal(b.datagrams, 10);
	assert_int_equal(b.fill[3], 4);
}

/* What is published in one go must be seen in one go: bytes is always ten times datagrams. */
static void *publisher(void *argument)
{
	struct stats_block *block = argument;
	struct stats s = { 0 };

	for (unsigned i = 0; i < 200000; i++) {
		s.datagrams += 3;
		s.bytes += 30;
		s.seq_in_order += 3;
		s.fill[1]++;
		stats_publish(block, &s, 1, true);
	}
	return NULL;
}

static void test_snapshots_are_consistent_r100(void **state)
{
	enum { WRITERS = 4 };
	struct stats_block *block = aligned_alloc(PAD_ALIGN, WRITERS * sizeof(*block));
	pthread_t thread[WRITERS];
	uint64_t last = 0;

	(void)state;
	for (unsigned i = 0; i < WRITERS; i++) {
		stats_block_reset(&block[i]);
		assert_int_equal(pthread_create(&thread[i], NULL, publisher, &block[i]), 0);
	}
	for (unsigned round = 0; round < 2000; round++) {
		struct stats total = { 0 }, one;

		for (unsigned i = 0; i < WRITERS; i++) {
			stats_snapshot(&block[i], &one);
			assert_int_equal(one.bytes, 10 * one.datagrams);
			assert_int_equal(one.seq_in_order, one.datagrams);
			assert_int_equal(one.fill[1] * 3, one.datagrams);
			stats_add(&total, &one);
		}
		assert_true(total.datagrams >= last);
		last = total.datagrams;
	}
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < WRITERS; i++) {
		struct stats one;

		stats_snapshot(&block[i], &one);
		assert_int_equal(one.datagrams, 600000);
	}
	free(block);
}

static void test_hot_publish_leaves_the_rest(void **state)
{
	struct stats_block *block = aligned_alloc(PAD_ALIGN, sizeof(*block));
	struct stats s = { .datagrams = 5, .seq_duplicate = 9, .error = { [2] = 1 } }, out;

	(void)state;
	stats_block_reset(block);
	s.fill[4] = 2;
	stats_publish(block, &s, 4, false);
	stats_snapshot(block, &out);
	assert_int_equal(out.datagrams, 5);
	assert_int_equal(out.fill[4], 2);
	assert_int_equal(out.seq_duplicate, 0);
	stats_publish(block, &s, 4, true);
	stats_snapshot(block, &out);
	assert_int_equal(out.seq_duplicate, 9);
	assert_int_equal(out.error[2], 1);
	free(block);
}

static void test_flows_count(void **state)
{
	struct flows a = { { 0 } }, b = { { 0 } };
	uint32_t x = 1;

	(void)state;
	assert_true(flows_count(&a) == 0);
	for (unsigned i = 0; i < 256; i++) {
		x = x * 1664525 + 1013904223; /* a full-period generator (Knuth, TAOCP 3.3.4 table 1) */
		flows_see(&a, x);
		flows_see(&a, x);
	}
	assert_true(fabs(flows_count(&a) - 256) < 13);
	flows_see(&b, x);
	assert_true(fabs(flows_count(&b) - 1) < 0.01);
	flows_merge(&b, &a);
	assert_true(fabs(flows_count(&b) - flows_count(&a)) < 0.01);
}

static void test_destinations_are_bounded(void **state)
{
	struct destinations *d = calloc(1, sizeof(*d)), *sum = calloc(1, sizeof(*sum));
	struct in6_addr ip = IN6ADDR_LOOPBACK_INIT;
	uint64_t kept = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		memcpy(&ip.s6_addr[8], &i, sizeof(i));
		destination_count(d, &ip, 2, 36);
	}
	for (unsigned i = 0; i < DESTINATION_SLOTS; i++)
		kept += d->slot[i].datagrams;
	assert_int_equal(kept + d->other, 20000);
	assert_int_equal(kept, 2 * (DESTINATION_SLOTS / 4 * 3));
	destination_merge(sum, d);
	destination_merge(sum, d);
	assert_int_equal(sum->other, 2 * d->other);
	assert_int_equal(sum->used, d->used);
	free(d);
	free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_r101),	  cmocka_unit_test(test_fill_bucket),
		cmocka_unit_test(test_errno_index),	  cmocka_unit_test(test_names_match_fields),
		cmocka_unit_test(test_add_and_delta),	  cmocka_unit_test(test_snapshots_are_consistent_r100),
		cmocka_unit_test(test_hot_publish_leaves_the_rest), cmocka_unit_test(test_flows_count),
		cmocka_unit_test(test_destinations_are_bounded),
	};

	return cmocka_run_group_tests_name("sink_stats", tests, NULL, NULL);
}
