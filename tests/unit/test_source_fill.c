/* SPDX-License-Identifier: MIT */
/* --fill: what is behind the header, and that with sizes that change nothing of an earlier header stays (R25). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/payload.h"

static char path[] = "/tmp/test-fill-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || write(fd, "abcdefg", 7) != 7 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void check_fill(const char *text, bool (*good)(const unsigned char *d, size_t k))
{
	static const size_t sizes[] = { 0, 1, 6, 7, 8, 255, 256, 257, 1472 };
	unsigned char data[1472 + 2];
	struct fill fill;
	struct random r;

	random_seed(&r, 1, 0);
	assert_int_equal(fill_open(&fill, text, NULL), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(data, 0xa5, sizeof(data));
		fill_write(&fill, &r, data + 1, sizes[i]);
		for (size_t k = 0; k < sizes[i]; k++)
			if (!good(data + 1, k))
				fail_msg("%s: byte %zu of %zu is %02x", text, k, sizes[i], data[1 + k]);
		assert_int_equal(data[0], 0xa5);
		assert_int_equal(data[1 + sizes[i]], 0xa5);
	}
	fill_free(&fill);
	assert_null(fill.file);
}

static bool counts(const unsigned char *d, size_t k)
{
	return d[k] == k % 256;
}

static bool is_zero(const unsigned char *d, size_t k)
{
	return !d[k];
}

static bool repeats(const unsigned char *d, size_t k)
{
	return d[k] == "abcdefg"[k % 7];
}

static void test_kinds(void **state)
{
	(void)state;
	check_fill("pattern", counts);
	check_fill("zero", is_zero);
	check_fill(path, repeats);
}

static void test_random_bytes(void **state)
{
	unsigned char a[1000], b[1000], again[1000];
	unsigned bits = 0;
	struct fill fill;
	struct random r;

	(void)state;
	assert_int_equal(fill_open(&fill, "random", NULL), 0);
	random_seed(&r, 9, 3);
	fill_write(&fill, &r, a, sizeof(a));
	fill_write(&fill, &r, b, sizeof(b));
	random_seed(&r, 9, 3);
	fill_write(&fill, &r, again, sizeof(again));
	assert_memory_equal(a, again, sizeof(a)); /* a seed repeats them */
	assert_memory_not_equal(a, b, sizeof(a));
	for (unsigned i = 0; i < sizeof(a); i++)
		bits += (unsigned)__builtin_popcount(a[i]);
	assert_in_range(bits, 4000 - 135, 4000 + 135); /* three sigma of 8000 coins */
	fill_free(&fill);
}

static void test_files_that_do_not_do(void **state)
{
	struct fill fill;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(fill_open(&fill, "/no/such/file", &err), -ENOENT);
	assert_non_null(strstr(err.text, "--fill /no/such/file"));
	fill_free(&fill);
	assert_int_equal(fill_open(&fill, "/dev/null", &err), -EINVAL);
	assert_non_null(strstr(err.text, "empty"));
	fill_free(&fill);
	assert_int_equal(fill_open(&fill, "/", &err), -EISDIR);
	fill_free(&fill);
	assert_int_equal(fill_open(&fill, "/dev/zero", &err), 0); /* endless: as much as fits */
	assert_int_equal(fill.size, SIZE_MAX_PAYLOAD);
	fill_free(&fill);
}

/* The header that `len` bytes have room for. */
static size_t header_size(enum payload_header kind, size_t len)
{
	if (kind == PAYLOAD_PKTGEN)
		return PKTGENHDR_SIZE;
	return kind == PAYLOAD_PLAIN || len < SEQHDR_SHORT ? 0 : len < SEQHDR_FULL ? SEQHDR_SHORT : SEQHDR_FULL;
}

static void check_slot(const struct payload *p, unsigned slot, const unsigned char *fill, uint64_t number)
{
	const unsigned char *d = payload_slot(p, slot);
	size_t len = p->len[slot], header = header_size(p->conf.header, len);
	struct pktgenhdr pktgen;
	struct seqhdr h;

	assert_in_range(len, p->conf.size->low, p->conf.size->high);
	if (p->conf.header == PAYLOAD_PKTGEN) {
		assert_true(pktgenhdr_read(d, len, &pktgen));
		assert_int_equal(pktgen.sequence, number);
	} else {
		assert_int_equal(seqhdr_read(d, len, &h), header > 0);
		if (header) {
			assert_int_equal(h.sequence, number);
			assert_int_equal(h.stream, 3);
			assert_int_equal(h.stamped, header == SEQHDR_FULL);
		}
	}
	if (fill)
		assert_memory_equal(d + header, fill + header, len - header);
}

/* Sizes around those where the header changes, again and again in the same slots. */
static void sizes_that_change(enum payload_header kind, const char *text, const char *sizes, const struct impair *impair)
{
	enum { SLOTS = 16, ROUNDS = 2000 };
	static unsigned char expected[2000];
	struct size_plan plan;
	struct payload p;
	struct fill fill;
	struct random r;
	uint64_t accepted = 0, bytes;
	bool random, low = false, high = false;

	random_seed(&r, 77, 0);
	assert_int_equal(size_parse("payload", sizes, &plan, NULL), 0);
	assert_int_equal(fill_open(&fill, text, NULL), 0);
	random = fill.kind == FILL_RANDOM;
	if (!random)
		fill_write(&fill, &r, expected, sizeof(expected));

	const struct payload_conf conf = { .slots = SLOTS, .size = &plan, .header = kind, .run = 5, .impair = impair, .fill = &fill };

	assert_int_equal(payload_init(&p, &conf, &r, NULL), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned n = 1 + random_below(&r, SLOTS);

		payload_draw(&p, 0, n, &r);
		payload_number(&p, 0, n, 3, accepted);
		bytes = 0;
		for (unsigned i = 0; i < n; i++) {
			check_slot(&p, i, random ? NULL : expected, impair ? impair_number(impair, accepted + i) : accepted + i);
			bytes += p.len[i];
			low |= p.len[i] == plan.low;
			high |= p.len[i] == plan.high;
		}
		assert_int_equal(payload_bytes(&p, 0, n), bytes);
		/* Every second round a refusal in the middle: the rest gets new numbers, and keeps its sizes. */
		if (round % 2 && n > 2) {
			payload_number(&p, n / 2, n, 3, accepted + n / 2 - 1);
			for (unsigned i = n / 2; i < n; i++)
				check_slot(&p, i, random ? NULL : expected,
					   impair ? impair_number(impair, accepted + i - 1) : accepted + i - 1);
			n--;
		}
		accepted += n;
	}
	assert_true(low && high);
	payload_free(&p);
	fill_free(&fill);
	size_free(&plan);
}

static void test_no_stale_header_r25(void **state)
{
	static const struct impair impair = { .withhold = 5, .reorder = 3, .duplicate = 4 };

	(void)state;
	sizes_that_change(PAYLOAD_SEQUENCE, "pattern", "0..40", NULL);
	sizes_that_change(PAYLOAD_SEQUENCE, "zero", "17,18,25,26,27", NULL);
	sizes_that_change(PAYLOAD_SEQUENCE, path, "18..26", NULL);
	sizes_that_change(PAYLOAD_SEQUENCE, "pattern", "0..17", NULL);
	sizes_that_change(PAYLOAD_SEQUENCE, "random", "imix", NULL);
	sizes_that_change(PAYLOAD_PKTGEN, "pattern", "16..40", NULL);
	sizes_that_change(PAYLOAD_PLAIN, "pattern", "0..40", NULL);
	sizes_that_change(PAYLOAD_SEQUENCE, "pattern", "18..40", &impair);
	sizes_that_change(PAYLOAD_PKTGEN, "zero", "16", &impair);
}

/* Slots of a batch have other random bytes, so that nothing on the way can take one for the other. */
static void test_random_slots_differ(void **state)
{
	static const struct size_plan size = { .low = 64, .high = 64 };
	const struct fill fill = { .kind = FILL_RANDOM };
	const struct payload_conf conf = { .slots = 8, .size = &size, .header = PAYLOAD_PLAIN, .fill = &fill };
	struct payload p;
	struct random r;

	(void)state;
	random_seed(&r, 5, 0);
	assert_int_equal(payload_init(&p, &conf, &r, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		for (unsigned j = 0; j < i; j++)
			assert_memory_not_equal(payload_slot(&p, i), payload_slot(&p, j), 64);
	payload_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_files_that_do_not_do),
		cmocka_unit_test(test_no_stale_header_r25),
		cmocka_unit_test(test_random_slots_differ),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
