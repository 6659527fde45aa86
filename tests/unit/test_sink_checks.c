/* SPDX-License-Identifier: MIT */
/* The payload checks: sequence (R68, R71) and pktgen headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sink/pktgen.h"
#include "sink/sequence.h"

static atomic_uint_least64_t run_id;

static bool feed(struct sequence *s, struct stats *stats, uint32_t run, uint16_t stream, uint64_t n)
{
	unsigned char payload[SEQHDR_FULL];
	struct seqhdr h = { .run = run, .stream = stream, .sequence = n, .stamped = true };
	size_t len = seqhdr_write(payload, sizeof(payload), &h);

	assert_int_equal(len, SEQHDR_FULL);
	return sequence_check(s, payload, len, stats);
}

static struct sequence *fresh(void)
{
	atomic_store(&run_id, 0);
	return sequence_new(&run_id);
}

static void test_order_gap_duplicate_apart_r68(void **state)
{
	/* 3 and 4 swapped, 6 missing, 7 twice, 2 twice late */
	static const uint64_t arrivals[] = { 0, 1, 2, 4, 3, 5, 7, 7, 2, 8 };
	struct sequence *s = fresh();
	struct stats st = { 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(arrivals); i++)
		assert_true(feed(s, &st, 7, 1, arrivals[i]));
	assert_int_equal(st.seq_in_order, 7);
	assert_int_equal(st.seq_reordered, 1);
	assert_int_equal(st.seq_duplicate, 2);
	assert_int_equal(st.seq_skipped, 2);
	assert_int_equal(st.seq_stale, 0);
	/* the sum rule: every datagram is exactly one of these; missing = skipped - reordered = number 6 */
	assert_int_equal(st.seq_in_order + st.seq_reordered + st.seq_duplicate + st.seq_stale, ARRAY_SIZE(arrivals));
	sequence_free(s);
}

static void test_window_edges(void **state)
{
	struct sequence *s = fresh();
	struct stats st = { 0 };

	(void)state;
	feed(s, &st, 7, 0, 1000); /* a stream may begin anywhere: nothing is missing before it */
	assert_int_equal(st.seq_skipped, 0);
	feed(s, &st, 7, 0, 1000 + SEQUENCE_WINDOW);
	assert_int_equal(st.seq_skipped, SEQUENCE_WINDOW - 1);
	feed(s, &st, 7, 0, 1001); /* the oldest number of the window */
	assert_int_equal(st.seq_reordered, 1);
	feed(s, &st, 7, 0, 1000); /* one below it */
	assert_int_equal(st.seq_stale, 1);
	feed(s, &st, 7, 0, 1001);
	assert_int_equal(st.seq_duplicate, 1);
	feed(s, &st, 7, 0, UINT64_C(1) << 40); /* a huge jump clears the window, costs no loop */
	feed(s, &st, 7, 0, (UINT64_C(1) << 40) - 1);
	assert_int_equal(st.seq_reordered, 2);
	sequence_free(s);
}

static void test_random_permutation_counts_every_number_once(void **state)
{
	enum { N = 5000 };
	static uint64_t order[N];
	struct sequence *s = fresh();
	struct stats st = { 0 };
	unsigned x = 12345;

	(void)state;
	for (unsigned i = 0; i < N; i++)
		order[i] = i;
	for (unsigned i = 0; i + 64 < N; i++) { /* local shuffles, all within the window */
		unsigned j;
		uint64_t swap;

		x = x * 1664525 + 1013904223;
		j = i + x % 64;
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	for (unsigned i = 0; i < N; i++)
		feed(s, &st, 7, 3, order[i]);
	assert_int_equal(st.seq_in_order + st.seq_reordered + st.seq_stale, N);
	assert_int_equal(st.seq_duplicate, 0);
	assert_int_equal(st.seq_stale, 0);
	assert_int_equal(st.seq_skipped, st.seq_reordered);
	sequence_free(s);
}

static void test_streams_are_apart(void **state)
{
	struct sequence *s = fresh();
	struct stats st = { 0 };

	(void)state;
	for (unsigned n = 0; n < 10; n++)
		for (unsigned stream = 0; stream < 3; stream++)
			feed(s, &st, 7, (uint16_t)(stream * 30000), n);
	assert_int_equal(st.seq_in_order, 30);
	assert_int_equal(st.seq_skipped, 0);
	sequence_free(s);
}

static bool trailer(struct sequence *s, struct stats *stats, uint32_t run, uint16_t stream, uint64_t n)
{
	unsigned char payload[SEQHDR_SHORT];
	struct seqhdr h = { .kind = SEQHDR_TRAILER, .run = run, .stream = stream, .sequence = n };

	return sequence_check(s, payload, seqhdr_write(payload, sizeof(payload), &h), stats);
}

static void test_trailer_tells_the_end_r68(void **state)
{
	struct sequence *s = fresh();
	struct stats st = { 0 };

	(void)state;
	for (uint64_t n = 0; n < 10; n++)
		feed(s, &st, 7, 0, n);
	assert_false(trailer(s, &st, 7, 0, 10)); /* all there */
	assert_int_equal(st.seq_skipped, 0);
	assert_false(trailer(s, &st, 7, 0, 400)); /* 390 lost at the end, more than the window holds */
	assert_false(trailer(s, &st, 7, 0, 400));
	assert_false(trailer(s, &st, 7, 0, 5)); /* less than was seen: nothing */
	assert_int_equal(st.seq_skipped, 390);
	feed(s, &st, 7, 0, 399); /* late ones still fill the gap, once */
	feed(s, &st, 7, 0, 399);
	feed(s, &st, 7, 0, 144);
	feed(s, &st, 7, 0, 9);
	assert_int_equal(st.seq_reordered, 2);
	assert_int_equal(st.seq_duplicate, 1);
	assert_int_equal(st.seq_stale, 1);
	assert_false(trailer(s, &st, 7, 1, 20)); /* a stream of which nothing came */
	assert_int_equal(st.seq_skipped, 410);
	assert_int_equal(st.trailers, 5);
	assert_int_equal(st.seq_in_order, 10);
	assert_int_equal(st.foreign, 0);
	sequence_free(s);
}

static void test_trailer_names_no_run_r71(void **state)
{
	struct sequence *a = fresh(), *b = sequence_new(&run_id);
	struct stats st = { 0 };

	(void)state;
	assert_false(trailer(a, &st, 6, 0, 100)); /* of the run before */
	assert_int_equal(st.foreign, 1);
	assert_true(feed(a, &st, 7, 0, 0));
	assert_false(trailer(a, &st, 6, 0, 100));
	assert_false(trailer(b, &st, 6, 0, 100));
	assert_int_equal(st.foreign, 3);
	assert_false(trailer(b, &st, 7, 0, 3)); /* a worker that has seen no datagram itself knows the run */
	assert_int_equal(st.trailers, 1);
	assert_int_equal(st.seq_skipped, 3);
	sequence_free(a);
	sequence_free(b);
}

/* Jumped over and filled balance also where the first to come was not the first sent. */
static void test_begin_out_of_order_r68(void **state)
{
	static const uint64_t arrivals[] = { 12, 10, 11, 13, 9 };
	struct sequence *s = fresh();
	struct stats st = { 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(arrivals); i++)
		feed(s, &st, 7, 0, arrivals[i]);
	assert_int_equal(st.seq_in_order, 2);
	assert_int_equal(st.seq_reordered, 3);
	assert_int_equal(st.seq_skipped, 3);
	feed(s, &st, 7, 0, 5); /* 6, 7 and 8 are missing now */
	assert_int_equal(st.seq_skipped - st.seq_reordered, 3);
	sequence_free(s);
}

static void test_other_run_is_foreign_r71(void **state)
{
	struct sequence *a = fresh(), *b = sequence_new(&run_id);
	struct stats st = { 0 };

	(void)state;
	assert_true(feed(a, &st, 7, 0, 0));
	assert_false(feed(a, &st, 8, 0, 1));
	assert_false(feed(b, &st, 8, 0, 1)); /* another worker of the same run knows it as well */
	assert_true(feed(b, &st, 7, 1, 0));
	assert_int_equal(st.seq_in_order, 2);
	assert_int_equal(st.seq_skipped, 0);
	sequence_free(a);
	sequence_free(b);
}

static void test_no_header(void **state)
{
	struct sequence *s = fresh();
	struct stats st = { 0 };
	unsigned char junk[64] = "not one of ours";

	(void)state;
	assert_true(sequence_check(s, junk, sizeof(junk), &st));
	assert_true(sequence_check(s, junk, 0, &st));
	assert_int_equal(st.seq_no_header, 2);
	sequence_free(s);
}

static void put_be32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static void put_le32(unsigned char *p, uint32_t v)
{
	p[3] = (unsigned char)(v >> 24);
	p[2] = (unsigned char)(v >> 16);
	p[1] = (unsigned char)(v >> 8);
	p[0] = (unsigned char)v;
}

typedef void put32(unsigned char *, uint32_t);

static void pktgen(struct pktgen *p, struct stats *st, put32 *put, uint32_t seq, uint32_t sec, uint32_t usec, int repeats)
{
	unsigned char payload[16 * 4];

	for (int i = 0; i < repeats; i++) {
		put(payload + 16 * i, PKTGENHDR_MAGIC);
		put(payload + 16 * i + 4, seq);
		put(payload + 16 * i + 8, sec);
		put(payload + 16 * i + 12, usec);
	}
	pktgen_check(p, payload, (size_t)(16 * repeats), st);
}

static void pktgen_in(put32 *put)
{
	struct pktgen p = { .level = 3 };
	struct stats st = { 0 };

	pktgen(&p, &st, put, 1, 100, 5, 4);
	pktgen(&p, &st, put, 2, 100, 6, 4);
	assert_int_equal(st.pktgen_disorder + st.pktgen_bad_magic + st.pktgen_bad_repeat, 0);
	pktgen(&p, &st, put, 4, 100, 7, 4); /* 3 is missing: level 3 */
	assert_int_equal(st.pktgen_disorder, 1);
	pktgen(&p, &st, put, 5, 99, 0, 4);  /* older */
	assert_int_equal(st.pktgen_disorder, 2);
}

static void test_pktgen_both_byte_orders_r135(void **state)
{
	(void)state;
	pktgen_in(put_be32);
	pktgen_in(put_le32);
}

static void test_pktgen_levels(void **state)
{
	struct pktgen one = { .level = 1 }, two = { .level = 2 };
	unsigned char payload[48];
	struct stats st = { 0 };

	(void)state;
	pktgen(&one, &st, put_be32, 1, 100, 5, 1);
	pktgen(&one, &st, put_be32, 4, 100, 6, 1); /* a gap is no fault at level 1 */
	assert_int_equal(st.pktgen_disorder, 0);
	for (int i = 0; i < 3; i++) {
		put_be32(payload + 16 * i, PKTGENHDR_MAGIC);
		put_be32(payload + 16 * i + 4, 9);
		put_be32(payload + 16 * i + 8, 200);
		put_be32(payload + 16 * i + 12, 1);
	}
	payload[16 + 5] ^= 1;
	pktgen_check(&two, payload, sizeof(payload), &st);
	assert_int_equal(st.pktgen_bad_repeat, 1);
	pktgen_check(&two, payload, 15, &st); /* too short for a header */
	assert_int_equal(st.pktgen_bad_magic, 1);
}

static void test_pktgen_wrap_is_no_disorder(void **state)
{
	struct pktgen p = { .level = 1 };
	struct stats st = { 0 };

	(void)state;
	pktgen(&p, &st, put_be32, 4294967295u, 100, 5, 1);
	pktgen(&p, &st, put_be32, 0, 100, 5, 1);
	assert_int_equal(st.pktgen_disorder, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_gap_duplicate_apart_r68),
		cmocka_unit_test(test_window_edges),
		cmocka_unit_test(test_random_permutation_counts_every_number_once),
		cmocka_unit_test(test_streams_are_apart),
		cmocka_unit_test(test_trailer_tells_the_end_r68),
		cmocka_unit_test(test_trailer_names_no_run_r71),
		cmocka_unit_test(test_begin_out_of_order_r68),
		cmocka_unit_test(test_other_run_is_foreign_r71),
		cmocka_unit_test(test_no_header),
		cmocka_unit_test(test_pktgen_both_byte_orders_r135),
		cmocka_unit_test(test_pktgen_levels),
		cmocka_unit_test(test_pktgen_wrap_is_no_disorder),
	};

	return cmocka_run_group_tests_name("sink_checks", tests, NULL, NULL);
}
