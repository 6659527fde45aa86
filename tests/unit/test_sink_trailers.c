/* SPDX-License-Identifier: MIT */
/* What sources say at their end: the latest word of each run counts, several runs add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sink/trailers.h"

static bool hear(struct trailers *t, uint32_t run, uint64_t datagrams, uint64_t before, uint16_t after)
{
	const struct seqhdr h = { .run = run };
	const struct seqhdr_sums s = { .datagrams = datagrams, .trailers = before, .netns = run, .segments = (uint16_t)run, .after = after,
				       .probes = 5, .messages = 2 };
	unsigned char data[SEQHDR_TRAILER_SIZE];

	assert_int_equal(seqhdr_write_trailer(data, sizeof(data), &h, &s), sizeof(data));
	return trailers_take(t, data, sizeof(data));
}

static void test_latest_counts(void **state)
{
	struct trailers a = { 0 }, b = { 0 };
	struct seqhdr_sums all;

	(void)state;
	assert_false(trailers_total(&a, 0, &all));
	assert_true(hear(&a, 7, 100, 4, 1)); /* reordered: the last came first */
	assert_true(hear(&a, 7, 100, 0, 5));
	assert_true(trailers_total(&a, 7, &all));
	assert_true(all.datagrams == 100 && all.trailers == 5 && all.after == 1 && all.segments == 7 && all.probes == 5 && all.messages == 2);
	assert_true(hear(&b, 7, 100, 5, 0)); /* heard by another worker */
	assert_true(hear(&b, 9, 50, 2, 0));
	trailers_merge(&a, &b);
	assert_true(trailers_total(&a, 8, &all));
	assert_true(all.datagrams == 150 && all.trailers == 9 && all.after == 0 && all.segments == 9);
	assert_true(all.probes == 0 && all.messages == 0); /* in other namespaces */
}

static void test_what_is_none(void **state)
{
	const struct seqhdr h = { .run = 1 };
	struct trailers t = { 0 };
	struct seqhdr_sums all;
	unsigned char data[SEQHDR_TRAILER_SIZE] = { 0 };

	(void)state;
	assert_false(trailers_take(&t, data, sizeof(data)));
	seqhdr_write(data, sizeof(data), &h); /* a datagram of the test that is as long */
	assert_false(trailers_take(&t, data, sizeof(data)));
	assert_int_equal(t.n + t.unread, 0);
	assert_true(hear(&t, 1, 10, 0, 0));
	seqhdr_write_trailer(data, sizeof(data), &h, &(struct seqhdr_sums){ .datagrams = 4 });
	assert_true(trailers_take(&t, data, sizeof(data) - 1)); /* cut off */
	assert_int_equal(t.unread, 1);
	assert_false(trailers_total(&t, 0, &all));
}

static void test_more_runs_than_room(void **state)
{
	struct trailers t = { 0 };
	struct seqhdr_sums all;

	(void)state;
	for (uint32_t run = 0; run < TRAILERS_RUNS; run++)
		assert_true(hear(&t, run, 1, 0, 0));
	assert_true(trailers_total(&t, 0, &all));
	assert_int_equal(all.datagrams, TRAILERS_RUNS);
	assert_true(hear(&t, TRAILERS_RUNS, 1, 0, 0));
	assert_false(trailers_total(&t, 0, &all)); /* not a sum that lacks one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R69 the latest trailer of each run, runs added up", test_latest_counts, NULL, NULL, NULL },
		{ "what is no trailer, or a part of one", test_what_is_none, NULL, NULL, NULL },
		{ "more sources than there is room for: unknown", test_more_runs_than_room, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
