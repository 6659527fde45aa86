/* SPDX-License-Identifier: MIT */
#include "source/asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/questions.h"

#define INVERSE 30599
_Static_assert((ASKED_FACTOR * INVERSE) % 65536 == 1, "the inverse of the factor");

int asked_init(struct asked *a, const struct messages *messages, unsigned flows, unsigned thread, unsigned threads, bool random, uint64_t seed,
	       struct err *err)
{
	struct random r;

	*a = (struct asked){ .messages = messages, .random = random, .seed = seed, .threads = threads, .flows = flows, .room = ASKED_PER_FLOW };
	while (a->room > 1 && (uint64_t)a->room * flows > ASKED_ENTRIES)
		a->room /= 2;
	a->flow = calloc(flows, sizeof(*a->flow));
	a->entry = calloc((size_t)flows * a->room, sizeof(*a->entry));
	if (!a->flow || !a->entry)
		return err_sys(err, ENOMEM, "memory for the queries of %u flows", flows);
	random_seed(&r, seed, 0x0a5ced + (uint64_t)thread);
	for (unsigned i = 0; i < flows; i++)
		a->flow[i].offset = (uint16_t)random_next(&r);
	return 0;
}

static struct asked_entry *entry_of(const struct asked *a, unsigned flow, uint64_t n)
{
	return &a->entry[(size_t)flow * a->room + n % a->room];
}

static uint64_t waiting(uint64_t n)
{
	return 2 * (n + 1);
}

/* The first label of query n of flow f, in hexadecimal. Flow and number make 48 bits, which a few steps that can each be undone (multiplication by an odd
 * number, exclusive or with the upper half) stir: no label comes twice in 2^32 queries of a flow, and none need be kept. */
static void write_label(const struct asked *a, unsigned f, uint64_t n, unsigned char *to)
{
	static const char digits[] = "0123456789abcdef";
	const uint64_t mask = (UINT64_C(1) << 48) - 1;
	uint64_t x = n << 16 | (f & 0xffff);

	x = (x * UINT64_C(0x9e3779b97f4b) + a->seed) & mask;
	x = ((x ^ x >> 24) * UINT64_C(0xbf58476d1ce5)) & mask;
	x ^= x >> 24;
	for (unsigned i = 0; i < QUESTIONS_PREFIX; i++, x >>= 4)
		to[i] = (unsigned char)digits[x & 15];
}

void asked_put(struct asked *a, unsigned f, struct payload *p, unsigned slot, uint64_t message, uint64_t due_ns)
{
	struct asked_flow *flow = &a->flow[f / a->threads];
	uint64_t n = flow->next++, old;
	struct asked_entry *e = entry_of(a, f / a->threads, n);
	unsigned char *data = payload_slot(p, slot);

	dns_id_put(data, (uint16_t)(n * ASKED_FACTOR + flow->offset));
	if (a->random)
		write_label(a, f, n, data + DNS_HEADER + 1);
	old = atomic_exchange_explicit(&e->state, 0, memory_order_acquire);
	if (old && !(old & 1))
		atomic_store_explicit(&a->lost, atomic_load_explicit(&a->lost, memory_order_relaxed) + 1, memory_order_relaxed);
	atomic_store_explicit(&e->due_ns, due_ns, memory_order_release);
	atomic_store_explicit(&e->message, message, memory_order_release);
	atomic_store_explicit(&e->state, waiting(n), memory_order_release);
}

void asked_cancel(struct asked *a, unsigned f, unsigned count, unsigned first, unsigned n)
{
	uint64_t from = a->flow[f / a->threads].next - count + first;

	for (unsigned i = 0; i < n; i++) {
		uint64_t expected = waiting(from + i);

		atomic_compare_exchange_strong(&entry_of(a, f / a->threads, from + i)->state, &expected, 0);
	}
}

/* Is it the question of query n of flow f? */
static bool same_question(const struct asked *a, unsigned f, uint64_t n, uint64_t message, const struct dns_answer *answer)
{
	unsigned char question[DNS_NAME_MOST + DNS_QUESTION_TAIL];
	const unsigned char *sent = messages_data(a->messages, message) + DNS_HEADER;
	size_t size = dns_question_size(sent, messages_size(a->messages, message) - DNS_HEADER);

	if (size != answer->question_size)
		return false;
	memcpy(question, sent, size);
	if (a->random)
		write_label(a, f, n, question + 1);
	return dns_same_question(question, answer->question, size);
}

bool asked_match(struct asked *a, unsigned f, const struct dns_answer *answer, uint64_t *due_ns)
{
	const struct asked_flow *flow = &a->flow[f / a->threads];
	uint16_t low = (uint16_t)((answer->id - flow->offset) * INVERSE); /* of the query number */
	struct asked_entry *e = entry_of(a, f / a->threads, low);
	uint64_t state = atomic_load_explicit(&e->state, memory_order_acquire), n = state / 2 - 1, message, due;

	if (!state || state & 1 || (uint16_t)n != low)
		return false;
	due = atomic_load_explicit(&e->due_ns, memory_order_acquire);
	message = atomic_load_explicit(&e->message, memory_order_acquire);
	if (!same_question(a, f, n, message, answer))
		return false;
	*due_ns = due;
	return atomic_compare_exchange_strong_explicit(&e->state, &state, state | 1, memory_order_acq_rel, memory_order_relaxed);
}

uint64_t asked_waiting(const struct asked *a, uint64_t since_ns)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)a->flows * a->room; i++) {
		uint64_t state = atomic_load_explicit(&a->entry[i].state, memory_order_relaxed);

		n += state && !(state & 1) && atomic_load_explicit(&a->entry[i].due_ns, memory_order_relaxed) >= since_ns;
	}
	return n;
}

void asked_free(struct asked *a)
{
	free(a->flow);
	free(a->entry);
	*a = (struct asked){ 0 };
}
