/* SPDX-License-Identifier: MIT */
/* Plans of fragments, tried on a reassembly that does what Linux does: what can be complete is, what cannot is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/fragments.h"

#define MOST 65535

/* A receiver's queue for one id. */
struct queue {
	unsigned char have[MOST];
	size_t end;          /* of the datagram; 0 = not known */
	unsigned got;        /* bytes */
	unsigned whole;      /* datagrams completed */
	unsigned thrown;     /* queues thrown away because of an overlap */
	unsigned duplicates;
};

static void begin_anew(struct queue *q)
{
	memset(q->have, 0, sizeof(q->have));
	q->end = q->got = 0;
}

/* net/ipv4/inet_fragment.c: a fragment that is there already is dropped, one that partly is takes the queue with it. */
static void arrive(struct queue *q, const struct wire_part *part)
{
	unsigned there = 0;

	assert_int_equal(part->offset % 8, 0);
	if (part->more)
		assert_int_equal(part->len % 8, 0);
	for (unsigned i = 0; i < part->len; i++)
		there += q->have[part->offset + i];
	if (there == part->len) {
		q->duplicates++;
		return;
	}
	if (there) {
		q->thrown++;
		begin_anew(q);
		return;
	}
	memset(q->have + part->offset, 1, part->len);
	q->got += part->len;
	if (!part->more)
		q->end = part->offset + (size_t)part->len;
	if (q->end && q->got == q->end) {
		q->whole++;
		begin_anew(q);
	}
}

static struct queue *queue;

static int make_queue(void **state)
{
	(void)state;
	queue = malloc(sizeof(*queue));
	return !queue;
}

static int free_queue(void **state)
{
	(void)state;
	free(queue);
	return 0;
}

/* One datagram to an empty queue. */
static void deliver(const struct fragments *plan)
{
	memset(queue, 0, sizeof(*queue));
	for (unsigned i = 0; i < plan->n; i++)
		arrive(queue, &plan->part[i]);
}

static const int orders[] = { FRAGMENTS_FORWARD, FRAGMENTS_REVERSE, FRAGMENTS_ODD_EVEN, FRAGMENTS_RANDOM };
static const size_t payloads[] = { 0, 1, 8, 9, 18, 100, 1472, 1473, 4416, 65507 };
static const int sizes[] = { 8, 16, 24, 1480, 65528 };

static void test_every_order_is_complete(void **state)
{
	(void)state;
	for (unsigned o = 0; o < ARRAY_SIZE(orders); o++)
		for (unsigned p = 0; p < ARRAY_SIZE(payloads); p++)
			for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++) {
				const struct fragments_conf conf = { .size = sizes[s], .order = orders[o] };
				struct fragments plan;

				assert_int_equal(fragments_init(&plan, &conf, payloads[p]), 0);
				fragments_plan(&plan, &conf, payloads[p], 0, p + 77);
				assert_int_equal(plan.n, fragments_most(&conf, payloads[p]));
				assert_false(plan.incomplete);
				assert_int_equal(plan.missing, 0);
				if (plan.n > 1) {
					deliver(&plan);
					assert_int_equal(queue->whole, 1);
					assert_int_equal(queue->got + queue->duplicates + queue->thrown, 0);
				}
				fragments_free(&plan);
			}
}

static void check_order(int order, unsigned n, const unsigned *expected)
{
	const struct fragments_conf conf = { .size = 8, .order = order };
	struct fragments plan;
	size_t payload = 8 * n - 8;

	assert_int_equal(fragments_init(&plan, &conf, payload), 0);
	fragments_plan(&plan, &conf, payload, 0, 1);
	assert_int_equal(plan.n, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(plan.part[i].offset, 8 * expected[i]);
	fragments_free(&plan);
}

static void test_orders(void **state)
{
	(void)state;
	check_order(FRAGMENTS_FORWARD, 5, (const unsigned[]){ 0, 1, 2, 3, 4 });
	check_order(FRAGMENTS_REVERSE, 5, (const unsigned[]){ 4, 3, 2, 1, 0 });
	check_order(FRAGMENTS_ODD_EVEN, 5, (const unsigned[]){ 1, 3, 0, 2, 4 });
	check_order(FRAGMENTS_ODD_EVEN, 4, (const unsigned[]){ 1, 3, 0, 2 });
	check_order(FRAGMENTS_ODD_EVEN, 2, (const unsigned[]){ 1, 0 });
	check_order(FRAGMENTS_ODD_EVEN, 1, (const unsigned[]){ 0 });
}

/* Each fragment comes at each place about equally often; the same number gives the same order, another one another. */
static void test_random_order(void **state)
{
	enum { N = 4, RUNS = 4000 };
	static const struct fragments_conf conf = { .size = 8, .order = FRAGMENTS_RANDOM };
	unsigned at[N][N] = { { 0 } };
	struct fragments plan, again;

	(void)state;
	assert_int_equal(fragments_init(&plan, &conf, 8 * N - 8), 0);
	assert_int_equal(fragments_init(&again, &conf, 8 * N - 8), 0);
	for (unsigned run = 0; run < RUNS; run++) {
		fragments_plan(&plan, &conf, 8 * N - 8, run, run);
		fragments_plan(&again, &conf, 8 * N - 8, run, run);
		assert_memory_equal(plan.part, again.part, N * sizeof(*plan.part));
		for (unsigned i = 0; i < N; i++)
			at[i][plan.part[i].offset / 8]++;
	}
	for (unsigned i = 0; i < N; i++)
		for (unsigned k = 0; k < N; k++) /* 1000 expected, standard deviation 27 */
			assert_in_range(at[i][k], 850, 1150);
	fragments_free(&plan);
	fragments_free(&again);
}

/* Every Nth datagram of a conf, in all orders and with several fragments: is what the plan says what becomes of it? */
static void run_every(struct fragments_conf conf, void (*check)(const struct fragments *, const struct fragments_conf *, size_t, bool))
{
	static const size_t several[] = { 1, 9, 18, 100, 1472, 4416, 65507 };
	int every = conf.overlap + conf.duplicate + conf.hole;

	for (unsigned o = 0; o < ARRAY_SIZE(orders); o++)
		for (unsigned p = 0; p < ARRAY_SIZE(several); p++)
			for (conf.size = 8; conf.size < (int)several[p] + 8; conf.size = 3 * conf.size + 8) {
				struct fragments plan;

				conf.order = orders[o];
				assert_int_equal(fragments_init(&plan, &conf, several[p]), 0);
				for (unsigned i = 0; i < 12; i++) {
					fragments_plan(&plan, &conf, several[p], i, i + 5);
					deliver(&plan);
					check(&plan, &conf, several[p], (i + 1) % (unsigned)every == 0);
				}
				fragments_free(&plan);
			}
}

static void check_overlap(const struct fragments *plan, const struct fragments_conf *conf, size_t payload, bool due)
{
	assert_int_equal(plan->n, wire_parts(payload + 8, (unsigned)conf->size));
	assert_int_equal(plan->incomplete, due);
	assert_int_equal(plan->missing, 0);
	/* Thrown away, and nothing is left that would begin another. */
	assert_int_equal(queue->thrown, due);
	assert_int_equal(queue->whole, !due);
	assert_int_equal(queue->got, 0);
}

static void check_duplicate(const struct fragments *plan, const struct fragments_conf *conf, size_t payload, bool due)
{
	assert_int_equal(plan->n, wire_parts(payload + 8, (unsigned)conf->size) + due);
	assert_false(plan->incomplete);
	assert_int_equal(queue->duplicates, due);
	assert_int_equal(queue->whole, 1);
	assert_int_equal(queue->got, 0);
}

static void check_hole(const struct fragments *plan, const struct fragments_conf *conf, size_t payload, bool due)
{
	unsigned carried = 0;

	assert_int_equal(plan->n, wire_parts(payload + 8, (unsigned)conf->size) - due);
	assert_int_equal(plan->incomplete, due);
	assert_int_equal(queue->whole, !due);
	for (unsigned i = 0; i < plan->n; i++)
		carried += wire_payload(&plan->part[i]);
	assert_int_equal(carried + plan->missing, payload);
}

static void test_every_nth_r65(void **state)
{
	(void)state;
	for (int n = 1; n <= 4; n++) {
		run_every((struct fragments_conf){ .overlap = n }, check_overlap);
		run_every((struct fragments_conf){ .duplicate = n }, check_duplicate);
		run_every((struct fragments_conf){ .hole = n }, check_hole);
	}
}

/* All at once: never whole when it is said to be incomplete, always when not. */
static void test_together(void **state)
{
	static const struct fragments_conf conf = { .size = 16, .order = FRAGMENTS_RANDOM, .overlap = 3, .duplicate = 2, .hole = 5 };
	struct fragments plan;

	(void)state;
	assert_int_equal(fragments_init(&plan, &conf, 100), 0);
	for (unsigned i = 0; i < 300; i++) {
		fragments_plan(&plan, &conf, 100, i, i);
		assert_true(plan.n <= fragments_most(&conf, 100));
		assert_int_equal(plan.incomplete, (i + 1) % 3 == 0 || (i + 1) % 5 == 0);
		deliver(&plan);
		assert_int_equal(queue->whole, !plan.incomplete);
	}
	fragments_free(&plan);
}

/* Any of the fragments may be the one that is missing. */
static void test_hole_is_anywhere(void **state)
{
	enum { N = 5, RUNS = 5000 };
	static const struct fragments_conf conf = { .size = 8, .hole = 1 };
	unsigned left_out[N] = { 0 };
	struct fragments plan;

	(void)state;
	assert_int_equal(fragments_init(&plan, &conf, 8 * N - 8), 0);
	for (unsigned run = 0; run < RUNS; run++) {
		unsigned sum = N * (N - 1) / 2;

		fragments_plan(&plan, &conf, 8 * N - 8, run, run);
		for (unsigned i = 0; i < plan.n; i++)
			sum -= plan.part[i].offset / 8u;
		left_out[sum]++;
	}
	for (unsigned i = 0; i < N; i++) /* 1000 expected, standard deviation 28 */
		assert_in_range(left_out[i], 850, 1150);
	fragments_free(&plan);
}

static void test_attack(void **state)
{
	struct fragments_conf conf = { .size = 24, .attack = FRAGMENTS_FIRST };
	struct fragments plan;

	(void)state;
	assert_int_equal(fragments_most(&conf, 65507), 1);
	assert_int_equal(fragments_init(&plan, &conf, 100), 0);
	fragments_plan(&plan, &conf, 100, 0, 1);
	assert_int_equal(plan.n, 1);
	assert_true(plan.incomplete);
	assert_int_equal(plan.part[0].offset, 0);
	assert_int_equal(plan.part[0].len, 24);
	assert_true(plan.part[0].more);
	assert_int_equal(plan.missing, 100 - 16);

	conf.attack = FRAGMENTS_MIDDLE;
	fragments_plan(&plan, &conf, 100, 1, 1);
	assert_int_equal(plan.n, 1);
	assert_int_equal(plan.part[0].offset, 24);
	assert_int_equal(plan.part[0].len, 24);
	assert_true(plan.part[0].more);
	assert_int_equal(plan.missing, 100 - 24);
	fragments_free(&plan);
}

static void test_without_fragments(void **state)
{
	static const struct fragments_conf conf = { 0 };
	struct fragments plan;

	(void)state;
	assert_int_equal(fragments_init(&plan, &conf, 65507), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(payloads); i++) {
		fragments_plan(&plan, &conf, payloads[i], i, 1);
		assert_int_equal(plan.n, 1);
		assert_int_equal(plan.part[0].len, payloads[i] + 8);
		assert_false(wire_is_fragment(&plan.part[0]));
	}
	fragments_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_order_is_complete),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_random_order),
		cmocka_unit_test(test_every_nth_r65),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_hole_is_anywhere),
		cmocka_unit_test(test_attack),
		cmocka_unit_test(test_without_fragments),
	};

	return cmocka_run_group_tests(tests, make_queue, free_queue);
}
