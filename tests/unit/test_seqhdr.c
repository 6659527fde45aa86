/* SPDX-License-Identifier: MIT */
/* The headers of udp_source and of pktgen, against bytes written down by hand: right on either byte order (R135). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/seqhdr.h"

static const unsigned char full[SEQHDR_FULL] = {
	'U', 'D', 0x81, 0x00, 0xde, 0xad, 0xbe, 0xef, 0x12, 0x34,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0x17, 0xf0, 0xe0, 0xd0, 0xc0, 0xb0, 0xa0, 0x90,
};

static const struct seqhdr header = {
	.kind = SEQHDR_DATA, .stamped = true, .run = 0xdeadbeef, .stream = 0x1234,
	.sequence = UINT64_C(0x0102030405060708), .stamp_ns = UINT64_C(0x17f0e0d0c0b0a090),
};

static void test_write_bytes(void **state)
{
	unsigned char out[SEQHDR_FULL];
	struct seqhdr h = header;

	(void)state;
	assert_int_equal(seqhdr_write(out, sizeof(out), &h), SEQHDR_FULL);
	assert_memory_equal(out, full, SEQHDR_FULL);

	h.stamped = false;
	h.kind = SEQHDR_TRAILER;
	assert_int_equal(seqhdr_write(out, sizeof(out), &h), SEQHDR_SHORT);
	assert_int_equal(out[2], 1);
	assert_int_equal(out[3], 1);
	assert_memory_equal(out + 4, full + 4, SEQHDR_SHORT - 4);
}

static void test_trailer_bytes(void **state)
{
	static const unsigned char expected[SEQHDR_TRAILER_SIZE] = {
		'U', 'D', 0x01, 0x01, 0xde, 0xad, 0xbe, 0xef, 0x12, 0x34, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 9, 0, 0, 0, 7, 0, 32, 1, 4, 2, 5, 3, 6,
	};
	const struct seqhdr_sums sums = {
		.datagrams = UINT64_C(0x100000002), .trailers = 0x103, .netns = UINT64_C(0x900000007), .segments = 32, .after = 0x104, .probes = 0x205, .messages = 0x306,
	};
	struct seqhdr_sums got;
	struct seqhdr h;

	(void)state;
	for (size_t size = 0; size <= SEQHDR_TRAILER_SIZE; size++) {
		unsigned char *out = malloc(size + 1);
		bool whole = size == SEQHDR_TRAILER_SIZE;

		assert_non_null(out);
		assert_int_equal(seqhdr_write_trailer(out, size, &header, &sums), whole ? size : 0);
		memcpy(out, expected, size);
		assert_int_equal(seqhdr_read_trailer(out, size, &got), whole);
		assert_int_equal(seqhdr_read(out, size, &h), size >= SEQHDR_SHORT);
		free(out);
	}
	assert_true(got.datagrams == sums.datagrams && got.trailers == sums.trailers && got.segments == sums.segments);
	assert_true(got.netns == sums.netns && got.after == sums.after && got.probes == sums.probes && got.messages == sums.messages);
	assert_int_equal(h.kind, SEQHDR_TRAILER);
	assert_false(h.stamped);
	assert_false(seqhdr_read_trailer(full, sizeof(full), &got));
}

static void test_trailer_written(void **state)
{
	const struct seqhdr_sums sums = { .datagrams = 7, .trailers = 8, .segments = 9 };
	unsigned char out[SEQHDR_TRAILER_SIZE];
	struct seqhdr_sums got;

	(void)state;
	assert_int_equal(seqhdr_write_trailer(out, sizeof(out), &header, &sums), sizeof(out));
	assert_true(seqhdr_read_trailer(out, sizeof(out), &got));
	assert_true(got.datagrams == 7 && got.trailers == 8 && got.segments == 9);
}

static void test_read_bytes(void **state)
{
	struct seqhdr h;

	(void)state;
	assert_true(seqhdr_read(full, sizeof(full), &h));
	assert_int_equal(h.kind, SEQHDR_DATA);
	assert_true(h.stamped);
	assert_int_equal(h.run, header.run);
	assert_int_equal(h.stream, header.stream);
	assert_true(h.sequence == header.sequence);
	assert_true(h.stamp_ns == header.stamp_ns);
}

/* Every size, in a heap buffer of just that size: a sanitizer sees a byte too many. */
static void test_every_size(void **state)
{
	(void)state;
	for (size_t size = 0; size <= SEQHDR_FULL + 2; size++) {
		unsigned char *p = malloc(size ? size : 1);
		size_t fits = size < SEQHDR_FULL ? SEQHDR_SHORT : SEQHDR_FULL;
		size_t expected = size < SEQHDR_SHORT ? 0 : fits;
		struct seqhdr h = { 0 };

		assert_int_equal(seqhdr_write(p, size, &header), expected);
		assert_int_equal(seqhdr_read(p, size, &h), expected > 0);
		if (expected) {
			assert_true(h.sequence == header.sequence);
			assert_int_equal(h.stamped, expected == SEQHDR_FULL);
			assert_true(h.stamp_ns == (h.stamped ? header.stamp_ns : 0));
		}
		free(p);
	}
}

/* A receive buffer that cut the time stamp off still shows the sequence number. */
static void test_cut_stamp(void **state)
{
	struct seqhdr h;

	(void)state;
	assert_true(seqhdr_read(full, SEQHDR_FULL - 1, &h));
	assert_false(h.stamped);
	assert_int_equal(h.stamp_ns, 0);
	assert_true(h.sequence == header.sequence);
}

static void test_not_ours(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
	} wrong[] = { { 0, 'u' }, { 1, 0 }, { 2, 0x82 }, { 2, 0 }, { 3, 2 } };
	struct seqhdr h;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		unsigned char bytes[SEQHDR_FULL];

		memcpy(bytes, full, sizeof(bytes));
		bytes[wrong[i].at] = wrong[i].value;
		assert_false(seqhdr_read(bytes, sizeof(bytes), &h));
	}
}

static void test_pktgen_both_orders(void **state)
{
	static const unsigned char network[PKTGENHDR_SIZE] = {
		0xbe, 0x9b, 0xe9, 0x55, 0x00, 0x00, 0x01, 0x02,
		0x65, 0x43, 0x21, 0x0f, 0x00, 0x0f, 0x42, 0x3f,
	};
	static const unsigned char little[PKTGENHDR_SIZE] = {
		0x55, 0xe9, 0x9b, 0xbe, 0x02, 0x01, 0x00, 0x00,
		0x0f, 0x21, 0x43, 0x65, 0x3f, 0x42, 0x0f, 0x00,
	};
	const unsigned char *fixture[] = { network, little };

	(void)state;
	for (int i = 0; i < 2; i++) {
		unsigned char out[PKTGENHDR_SIZE];
		struct pktgenhdr h;

		assert_true(pktgenhdr_read(fixture[i], PKTGENHDR_SIZE, &h));
		assert_int_equal(h.swapped, i == 1);
		assert_int_equal(h.sequence, 0x102);
		assert_int_equal(h.sec, 0x6543210f);
		assert_int_equal(h.usec, 999999);
		assert_int_equal(pktgenhdr_write(out, sizeof(out), &h), PKTGENHDR_SIZE);
		assert_memory_equal(out, fixture[i], PKTGENHDR_SIZE);
	}
}

static void test_pktgen_refused(void **state)
{
	unsigned char *p = malloc(PKTGENHDR_SIZE - 1);
	unsigned char zero[PKTGENHDR_SIZE] = { 0 };
	struct pktgenhdr h = { .sequence = 1 };

	(void)state;
	assert_int_equal(pktgenhdr_write(p, PKTGENHDR_SIZE - 1, &h), 0);
	memset(p, 0xbe, PKTGENHDR_SIZE - 1);
	assert_false(pktgenhdr_read(p, PKTGENHDR_SIZE - 1, &h));
	assert_false(pktgenhdr_read(zero, sizeof(zero), &h));
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R135 header is written in network order", test_write_bytes, NULL, NULL, NULL },
		{ "R135 header is read in network order", test_read_bytes, NULL, NULL, NULL },
		{ "R135 trailer is read in network order, at its whole size only", test_trailer_bytes, NULL, NULL, NULL },
		{ "trailer is written as it is read", test_trailer_written, NULL, NULL, NULL },
		{ "every payload size", test_every_size, NULL, NULL, NULL },
		{ "a cut time stamp leaves the sequence", test_cut_stamp, NULL, NULL, NULL },
		{ "other magic, version and kind are refused", test_not_ours, NULL, NULL, NULL },
		{ "R135 pktgen header in both byte orders", test_pktgen_both_orders, NULL, NULL,
		  NULL },
		{ "pktgen header: too short or other magic", test_pktgen_refused, NULL, NULL,
		  NULL },
	};

	return cmocka_run_group_tests_name("seqhdr", tests, NULL, NULL);
}
