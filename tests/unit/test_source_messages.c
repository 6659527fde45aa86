/* SPDX-License-Identifier: MIT */
/* Datagrams that are made before the run: kept as they are, and taken by their number in the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/payload.h"

enum { MANY = 1000 };

/* Message k: k % 700 bytes, each k modulo 251. */
static size_t expected_size(unsigned k)
{
	return k % 700;
}

static void fill_in(struct messages *m)
{
	struct err err = ERR_INIT;
	unsigned char data[700];

	for (unsigned k = 0; k < MANY; k++) {
		memset(data, k % 251, sizeof(data));
		assert_int_equal(messages_add(m, data, expected_size(k), &err), 0);
	}
}

static void check_bytes(const unsigned char *data, unsigned k)
{
	for (size_t i = 0; i < expected_size(k); i++)
		assert_int_equal(data[i], k % 251);
}

static void test_kept(void **state)
{
	struct messages m = { 0 };
	double sum = 0;

	(void)state;
	assert_true(messages_mean(&m) == 0);
	fill_in(&m);
	assert_int_equal(m.n, MANY);
	assert_int_equal(m.shortest, 0);
	assert_int_equal(m.longest, 699);
	for (unsigned k = 0; k < MANY; k++) {
		assert_int_equal(messages_size(&m, k), expected_size(k));
		check_bytes(messages_data(&m, k), k);
		sum += (double)expected_size(k);
	}
	assert_true(messages_mean(&m) == sum / MANY);
	messages_free(&m);
	assert_int_equal(m.n, 0);
}

static void test_one_of_any_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 65507, 65535 };
	static unsigned char data[65535];
	struct err err = ERR_INIT;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct messages m = { 0 };

		assert_int_equal(messages_add(&m, data, sizes[i], &err), 0);
		assert_int_equal(m.shortest, sizes[i]);
		assert_int_equal(m.longest, sizes[i]);
		assert_int_equal(messages_size(&m, 5), sizes[i]);
		messages_free(&m);
	}
}

/* In turn, and again from the first on; a short one after a long one has its own length. */
static void test_slots(void **state)
{
	struct messages m = { 0 };
	struct size_plan size;
	struct payload_conf conf = { .slots = 7, .size = &size, .header = PAYLOAD_PLAIN, .messages = &m };
	struct random randomness;
	struct payload p;
	struct err err = ERR_INIT;

	(void)state;
	random_seed(&randomness, 1, 0);
	fill_in(&m);
	size = (struct size_plan){ .low = m.shortest, .high = m.longest };
	assert_int_equal(payload_init(&p, &conf, &randomness, &err), 0);
	for (unsigned k = 0; k < 3 * MANY; k++) {
		unsigned slot = k % p.slots;

		payload_copy(&p, slot, k);
		payload_draw(&p, slot, slot + 1, &randomness);
		payload_number(&p, slot, slot + 1, 0, k);
		assert_int_equal(p.len[slot], expected_size(k % MANY));
		check_bytes(payload_slot(&p, slot), k % MANY);
	}
	payload_free(&p);
	messages_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_one_of_any_size),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
