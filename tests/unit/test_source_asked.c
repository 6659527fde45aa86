/* SPDX-License-Identifier: MIT */
/* Queries that wait for their answers: ids, labels, matching, what is lost when its place is needed, two threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/asked.h"
#include "source/questions.h"

enum { THREADS = 2 };

/* A thread's queries with one slot to write them into. */
struct bench {
	struct messages messages;
	struct size_plan size;
	struct payload payload;
	struct asked asked;
	struct random randomness;
};

static void set_up(struct bench *b, unsigned flows, bool random)
{
	const struct questions_conf conf = { .random = random, .query = { .edns = 1232 } };
	struct payload_conf payload = { .slots = 1, .size = &b->size, .header = PAYLOAD_PLAIN, .messages = &b->messages };

	*b = (struct bench){ .messages.n = 0 };
	assert_int_equal(questions_of_name("Example.net", "A,AAAA,MX", &conf, &b->messages, NULL), 0);
	b->size = (struct size_plan){ .low = b->messages.shortest, .high = b->messages.longest };
	random_seed(&b->randomness, 1, 0);
	assert_int_equal(payload_init(&b->payload, &payload, &b->randomness, NULL), 0);
	assert_int_equal(asked_init(&b->asked, &b->messages, flows, 0, THREADS, random, 7, NULL), 0);
}

static void tear_down(struct bench *b)
{
	asked_free(&b->asked);
	payload_free(&b->payload);
	messages_free(&b->messages);
}

/* Asks message k on flow f; the bytes that would go out, as an answer, are in slot 0. */
static void ask(struct bench *b, unsigned f, uint64_t k, uint64_t due_ns, struct dns_answer *answer)
{
	unsigned char *data = payload_slot(&b->payload, 0);

	payload_copy(&b->payload, 0, k);
	asked_put(&b->asked, f, &b->payload, 0, k, due_ns);
	data[2] |= 0x80;
	assert_true(dns_answer_read(data, b->payload.len[0], answer));
}

static void test_matched_once(void **state)
{
	struct bench b;
	struct dns_answer answer, wrong;
	unsigned char other[DNS_QUERY_MOST];
	uint64_t due;

	(void)state;
	for (int random = 0; random < 2; random++) {
		set_up(&b, 3, random);
		for (unsigned f = 1; f < 6; f += THREADS) {
			ask(&b, f, 0, 1000 + f, &answer);
			wrong = answer;
			wrong.id ^= 1;
			assert_false(asked_match(&b.asked, f, &wrong, &due)); /* another id */
			wrong = answer;
			memcpy(other, answer.question, answer.question_size);
			wrong.question = other;
			other[answer.question_size - 3]++; /* another type */
			assert_false(asked_match(&b.asked, f, &wrong, &due));
			other[answer.question_size - 3]--;
			other[1] ^= 1; /* another name */
			assert_false(asked_match(&b.asked, f, &wrong, &due));
			other[1] ^= 1;
			other[answer.question_size - 8] ^= 0x20; /* the other case */
			assert_int_equal(asked_waiting(&b.asked, 0), 1);
			assert_true(asked_match(&b.asked, f, &wrong, &due));
			assert_int_equal(due, 1000 + f);
			assert_false(asked_match(&b.asked, f, &answer, &due)); /* a second one */
			assert_int_equal(asked_waiting(&b.asked, 0), 0);
		}
		assert_int_equal(atomic_load(&b.asked.lost), 0);
		tear_down(&b);
	}
}

static void test_ids_do_not_come_back_too_soon(void **state)
{
	struct bench b;
	struct dns_answer answer;
	unsigned char seen[65536] = { 0 };

	(void)state;
	set_up(&b, 1, false);
	assert_int_equal(b.asked.room, 65536);
	for (unsigned n = 0; n < 65536; n++) {
		ask(&b, 0, n, n, &answer);
		assert_int_equal(seen[answer.id]++, 0);
	}
	assert_int_equal(asked_waiting(&b.asked, 0), 65536);
	assert_int_equal(asked_waiting(&b.asked, 65530), 6); /* those due from then on */
	assert_int_equal(atomic_load(&b.asked.lost), 0);
	ask(&b, 0, 5, 5, &answer); /* takes the place of the first */
	assert_int_equal(atomic_load(&b.asked.lost), 1);
	assert_int_equal(asked_waiting(&b.asked, 0), 65536);
	tear_down(&b);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, QUESTIONS_PREFIX);
}

static void test_labels_are_all_different(void **state)
{
	enum { EACH = 20000, FLOWS = 3 };
	struct bench b;
	struct dns_answer answer;
	char(*label)[QUESTIONS_PREFIX] = malloc((size_t)EACH * FLOWS * sizeof(*label));
	size_t n = 0;

	(void)state;
	assert_non_null(label);
	set_up(&b, FLOWS, true);
	for (unsigned i = 0; i < EACH; i++)
		for (unsigned f = 0; f < FLOWS * THREADS; f += THREADS) {
			ask(&b, f, i, 0, &answer);
			assert_int_equal(answer.question[0], QUESTIONS_PREFIX);
			memcpy(label[n++], answer.question + 1, QUESTIONS_PREFIX);
		}
	qsort(label, n, sizeof(*label), compare);
	for (size_t i = 1; i < n; i++)
		assert_int_not_equal(memcmp(label[i - 1], label[i], QUESTIONS_PREFIX), 0);
	free(label);
	tear_down(&b);
}

static void test_cancelled(void **state)
{
	struct bench b;
	struct dns_answer answer[10];
	unsigned char question[10][DNS_QUERY_MOST];
	uint64_t due;

	(void)state;
	set_up(&b, 1, false);
	for (unsigned i = 0; i < 10; i++) {
		ask(&b, 0, i, 0, &answer[i]);
		memcpy(question[i], answer[i].question, answer[i].question_size);
		answer[i].question = question[i];
	}
	asked_cancel(&b.asked, 0, 10, 3, 4); /* numbers 3 to 6 */
	assert_int_equal(asked_waiting(&b.asked, 0), 6);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(asked_match(&b.asked, 0, &answer[i], &due), i < 3 || i > 6);
	tear_down(&b);
}

static void test_many_flows_share_the_memory(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1000, false);
	assert_int_equal(b.asked.room, 4096);
	tear_down(&b);
}

/* A sender that goes round its table again and again, and a reader that answers at random: each query is answered, lost or waiting, and none of it twice. */
enum { ROUNDS = 400000, QUEUE = 1024 };

static struct {
	struct dns_answer answer;
	unsigned char question[DNS_NAME_MOST];
	atomic_bool full;
} queue[QUEUE];
static atomic_bool done;
static struct bench shared;

static void *reader(void *data)
{
	uint64_t *matched = data, due;
	bool last;

	do {
		last = atomic_load(&done);
		for (unsigned i = 0; i < QUEUE; i++) {
			if (!atomic_load_explicit(&queue[i].full, memory_order_acquire))
				continue;
			*matched += asked_match(&shared.asked, 0, &queue[i].answer, &due);
			*matched += asked_match(&shared.asked, 0, &queue[i].answer, &due);
			atomic_store_explicit(&queue[i].full, false, memory_order_release);
		}
	} while (!last);
	return NULL;
}

static void test_two_threads(void **state)
{
	uint64_t matched = 0;
	pthread_t thread;

	(void)state;
	set_up(&shared, 1, true);
	shared.asked.room = 64; /* so that places are needed again at once */
	assert_int_equal(pthread_create(&thread, NULL, reader, &matched), 0);
	for (unsigned n = 0; n < ROUNDS; n++) {
		unsigned i = n % QUEUE;
		struct dns_answer answer;

		ask(&shared, 0, n, n, &answer);
		if (atomic_load_explicit(&queue[i].full, memory_order_acquire))
			continue;
		memcpy(queue[i].question, answer.question, answer.question_size);
		queue[i].answer = answer;
		queue[i].answer.question = queue[i].question;
		atomic_store_explicit(&queue[i].full, true, memory_order_release);
	}
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	assert_true(matched > 0);
	assert_int_equal(matched + atomic_load(&shared.asked.lost) + asked_waiting(&shared.asked, 0), ROUNDS);
	tear_down(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matched_once),
		cmocka_unit_test(test_ids_do_not_come_back_too_soon),
		cmocka_unit_test(test_labels_are_all_different),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_many_flows_share_the_memory),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
