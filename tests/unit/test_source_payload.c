/* SPDX-License-Identifier: MIT */
/* Payload memory: geometry of the slots (R25), headers per flow, fill; fragments of a datagram (R62). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/seqhdr.h"
#include "source/flows.h"
#include "source/payload.h"

static struct random randomness;

static void make(struct payload *p, unsigned slots, size_t size, enum payload_header header)
{
	static struct size_plan plan;
	const struct payload_conf conf = { .slots = slots, .size = &plan, .header = header, .run = 0xabcd };
	struct err err = ERR_INIT;

	plan = (struct size_plan){ .low = size, .high = size };
	assert_int_equal(payload_init(p, &conf, &randomness, &err), 0);
}

static void test_every_size_r25(void **state)
{
	static const size_t sizes[] = { 0, 1, 17, 18, 25, 26, 27, 255, 256, 257, 1472, 65507 };
	enum { SLOTS = 5 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i], header = size < SEQHDR_SHORT  ? 0
						 : size < SEQHDR_FULL ? SEQHDR_SHORT
								      : SEQHDR_FULL;
		uint64_t before = clock_wall();
		struct payload p;

		make(&p, SLOTS, size, PAYLOAD_SEQUENCE);
		payload_number(&p, 0, SLOTS, 7, 1000);
		for (unsigned s = 0; s < SLOTS; s++) {
			const unsigned char *d = payload_slot(&p, s);
			struct seqhdr h;

			assert_ptr_equal(d, p.data + s * size);
			assert_int_equal(seqhdr_read(d, size, &h), header > 0);
			for (size_t k = header; k < size; k++)
				assert_int_equal(d[k], k & 0xff);
			if (!header)
				continue;
			assert_int_equal(h.kind, SEQHDR_DATA);
			assert_int_equal(h.run, 0xabcd);
			assert_int_equal(h.stream, 7);
			assert_int_equal(h.sequence, 1000 + s);
			assert_int_equal(h.stamped, header == SEQHDR_FULL);
			if (h.stamped)
				assert_in_range(h.stamp_ns, before, clock_wall());
		}
		payload_free(&p);
	}
}

static void test_flows_have_their_own_numbers(void **state)
{
	struct payload p;
	uint64_t next[3] = { 0 };

	(void)state;
	make(&p, 4, 40, PAYLOAD_SEQUENCE);
	for (unsigned round = 0; round < 30; round++) {
		unsigned flow = round % 3, n = 1 + round % 4;

		payload_number(&p, 0, n, flow, next[flow]);
		for (unsigned s = 0; s < n; s++) {
			struct seqhdr h;

			assert_true(seqhdr_read(payload_slot(&p, s), 40, &h));
			assert_int_equal(h.stream, flow);
			assert_int_equal(h.sequence, next[flow] + s);
		}
		next[flow] += n;
	}
	payload_free(&p);
}

static void test_numbering_from_the_middle(void **state)
{
	struct payload p;
	struct seqhdr h;

	(void)state;
	make(&p, 4, SEQHDR_SHORT, PAYLOAD_SEQUENCE);
	payload_number(&p, 0, 4, 1, 50);
	payload_number(&p, 2, 4, 1, 51);
	for (unsigned s = 0; s < 4; s++) {
		assert_true(seqhdr_read(payload_slot(&p, s), SEQHDR_SHORT, &h));
		assert_int_equal(h.sequence, s < 2 ? 50 + s : 49 + s);
	}
	payload_number(&p, 4, 4, 1, 99); /* none left: nothing is touched */
	assert_true(seqhdr_read(payload_slot(&p, 3), SEQHDR_SHORT, &h));
	assert_int_equal(h.sequence, 52);
	payload_free(&p);
}

static void test_pktgen_header(void **state)
{
	uint64_t before = clock_wall() / NSEC_PER_SEC;
	struct payload p;

	(void)state;
	make(&p, 3, PKTGENHDR_SIZE + 4, PAYLOAD_PKTGEN);
	payload_number(&p, 0, 3, 0, UINT32_MAX); /* 32 bits: wraps as in the kernel */
	for (unsigned s = 0; s < 3; s++) {
		struct pktgenhdr h;

		assert_true(pktgenhdr_read(payload_slot(&p, s), PKTGENHDR_SIZE + 4, &h));
		assert_false(h.swapped);
		assert_int_equal(h.sequence, (uint32_t)(UINT32_MAX + s));
		assert_in_range(h.sec, before, clock_wall() / NSEC_PER_SEC);
		assert_true(h.usec < 1000000);
		assert_int_equal(payload_slot(&p, s)[PKTGENHDR_SIZE + 3], PKTGENHDR_SIZE + 3);
	}
	payload_free(&p);
}

static void test_fragments_r62(void **state)
{
	static const struct {
		int family;
		unsigned mtu;
		uint64_t payload;
		unsigned fragments, fit;
	} cases[] = {
		{ AF_INET, 1500, 0, 1, 1472 },	     { AF_INET, 1500, 1472, 1, 1472 },
		{ AF_INET, 1500, 1473, 2, 1472 },    { AF_INET, 1500, 2952, 2, 1472 },
		{ AF_INET, 1500, 2953, 3, 1472 },    { AF_INET, 1500, 8192, 6, 1472 },
		{ AF_INET, 1500, 65507, 45, 1472 },  { AF_INET, 65535, 65507, 1, 65507 },
		{ AF_INET6, 1500, 1452, 1, 1452 },   { AF_INET6, 1500, 1453, 2, 1452 },
		{ AF_INET6, 1280, 65507, 54, 1232 }, { AF_INET, 1499, 1471, 1, 1471 },
		{ AF_INET, 1499, 1472, 2, 1471 },    { AF_INET, 1499, 2943, 2, 1471 },
		{ AF_INET, 1499, 2944, 3, 1471 },    { AF_INET, 1499, 4415, 3, 1471 },
		{ AF_INET, 1499, 4416, 4, 1471 },    { AF_INET, 0, 100, 0, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned fit;

		assert_int_equal(
			flows_fragments(cases[i].family, cases[i].mtu, cases[i].payload, &fit),
			cases[i].fragments);
		assert_int_equal(fit, cases[i].fit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size_r25),
		cmocka_unit_test(test_flows_have_their_own_numbers),
		cmocka_unit_test(test_numbering_from_the_middle),
		cmocka_unit_test(test_pktgen_header),
		cmocka_unit_test(test_fragments_r62),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
