/* SPDX-License-Identifier: MIT */
/* What becomes of each datagram, with a kernel of our own: short counts, refusals, retries, GSO that fails (R51
 * R56 R107 R109). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/seqhdr.h"
#include "source/worker.h"

#define MANY 4096

/* The kernel: at call number `at` this happens; any other call takes everything (at most `limit` messages). */
struct event {
	unsigned at;	 /* from 1 */
	unsigned accept; /* messages taken first */
	int error;	 /* then this; 0 = a short count */
};

static struct {
	const struct event *event;
	unsigned limit, call;
	unsigned n; /* datagrams taken */
	uint64_t sequence[MANY];
	uint16_t stream[MANY];
	unsigned largest_message; /* datagrams */
	uint64_t bytes;
	bool refuse_gso;
} kernel;

static void take(struct tx *tx, unsigned first, unsigned end)
{
	for (unsigned slot = first; slot < end; slot++, kernel.n++) {
		uint16_t len = tx->payload.len[slot];
		struct seqhdr h;

		assert_true(kernel.n < MANY);
		assert_true(seqhdr_read(payload_slot(&tx->payload, slot), len, &h));
		if (tx->segments == 1)
			assert_int_equal(tx->iov[slot].iov_len, len);
		kernel.bytes += len;
		kernel.sequence[kernel.n] = h.sequence;
		kernel.stream[kernel.n] = h.stream;
	}
}

static void fake_send(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *r)
{
	const struct event *e = kernel.event;
	unsigned messages = (end - first + tx->segments - 1) / tx->segments, accept = kernel.limit;

	assert_int_equal(flow->fd, 77);
	assert_true(first < end && end <= tx->payload.slots);
	r->calls = 1;
	kernel.call++;
	while (e->at && e->at != kernel.call)
		e++;
	if (e->at) {
		accept = e->accept;
		r->error = e->error;
	}
	if (kernel.refuse_gso && tx->segments > 1) {
		accept = 0;
		r->error = EMSGSIZE;
	}
	kernel.largest_message = MAX(kernel.largest_message, tx->segments);
	r->messages = MIN(accept, messages);
	r->sent = MIN(r->messages * tx->segments, end - first);
	take(tx, first, first + r->sent);
	assert_true(r->sent || r->error);
}

static const struct tx_ops fake = { .name = "fake", .caps = TX_GSO | TX_BATCH, .send = fake_send };
static const struct event nothing[] = { { 0 } };

struct bench {
	struct source_conf conf;
	struct size_plan size;
	struct impair impair;
	struct flow flow;
	struct worker *worker;
	atomic_bool stop;
};

static void set_up_traffic(struct bench *b, unsigned batch, unsigned segments, const struct event *events, const char *size,
			   const struct impair *impair)
{
	static const struct dst_plan one = { .n = 1, .ports = 1, .length = 1 };
	const struct tx_conf tx = {
		.ops = &fake, .batch = batch, .segments = segments, .payload = { .size = &b->size, .run = 5, .impair = &b->impair }
	};
	struct err err = ERR_INIT;

	memset(&kernel, 0, sizeof(kernel));
	kernel.event = events;
	kernel.limit = 1024; /* UIO_MAXIOV, as the kernel cuts sendmmsg */
	*b = (struct bench){ .conf.rate.n = 1, .impair = *impair, .flow = { .fd = 77, .stream = 3 } };
	assert_int_equal(size_parse("payload", size, &b->size, NULL), 0);
	b->worker = aligned_alloc(_Alignof(struct worker), sizeof(*b->worker));
	assert_non_null(b->worker);
	*b->worker = (struct worker){ .conf = &b->conf, .stop = &b->stop };
	random_seed(&b->worker->random, 1, 0);
	dst_start(&b->worker->walk, &one, 0, 1);
	assert_int_equal(tx_init(&b->worker->tx, &tx, &b->worker->random, &err), 0);
}

/* A worker with one flow. With a rate: refusals make no pause. */
static void set_up(struct bench *b, unsigned batch, unsigned segments, const struct event *events)
{
	static const struct impair none;

	set_up_traffic(b, batch, segments, events, "18", &none);
}

static struct stats stats_of(const struct bench *b)
{
	struct stats s;

	stats_snapshot(&b->worker->stats, &s);
	return s;
}

static uint64_t refused(const struct stats *s, int error)
{
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		if (stats_errno[i].error == error)
			return s->refused[i];
	return UINT64_MAX;
}

/* The rules that hold whatever happened: nothing is lost, and the accepted datagrams carry 0, 1, 2, ... */
static void check_and_free(struct bench *b, uint64_t attempted)
{
	struct stats s = stats_of(b);

	assert_int_equal(stats_attempted(&s), attempted);
	assert_int_equal(s.sent, kernel.n);
	assert_int_equal(s.bytes, kernel.bytes);
	assert_int_equal(s.calls, kernel.call);
	assert_int_equal(b->flow.sequence, s.sent);
	for (unsigned i = 0; i < kernel.n; i++) {
		assert_int_equal(kernel.sequence[i], impair_number(&b->impair, i));
		assert_int_equal(kernel.stream[i], 3);
	}
	worker_free(b->worker);
	size_free(&b->size);
	free(b->worker);
}

static void test_all_accepted(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 64, 1, nothing);
	assert_int_equal(worker_batch(b.worker, &b.flow, 64), 0);
	assert_int_equal(worker_batch(b.worker, &b.flow, 10), 0);
	assert_int_equal(kernel.call, 2);
	check_and_free(&b, 74);
}

static void test_short_count_is_resumed_r56(void **state)
{
	static const struct event events[] = { { 1, 7, 0 }, { 2, 1, 0 }, { 0 } };
	struct bench b;

	(void)state;
	set_up(&b, 64, 1, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 64), 0);
	assert_int_equal(kernel.call, 3);
	check_and_free(&b, 64);
}

static void test_batch_above_kernel_limit_r56(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 3000, 1, nothing);
	assert_int_equal(worker_batch(b.worker, &b.flow, 3000), 0);
	assert_int_equal(kernel.call, 3); /* 1024 + 1024 + 952 */
	assert_int_equal(kernel.n, 3000);
	check_and_free(&b, 3000);
}

static void test_one_too_large_in_the_middle_r56(void **state)
{
	/* Number 10 of the batch: sendmmsg stops in front of it, then refuses it, then takes the rest. */
	static const struct event events[] = { { 1, 10, 0 }, { 2, 0, EMSGSIZE }, { 0 } };
	struct bench b;
	struct stats s;

	(void)state;
	set_up(&b, 32, 1, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 32), 0);
	s = stats_of(&b);
	assert_int_equal(s.sent, 31);
	assert_int_equal(refused(&s, EMSGSIZE), 1);
	assert_int_equal(stats_refused_total(&s), 1);
	assert_int_equal(worker_batch(b.worker, &b.flow, 32), 0);
	check_and_free(&b, 64);
}

static void test_prefix_and_error_in_one_call(void **state)
{
	/* As write(2) in a loop: five go, the sixth is refused, all in one call of the sender. */
	static const struct event events[] = { { 1, 5, ECONNREFUSED }, { 0 } };
	struct bench b;
	struct stats s;

	(void)state;
	set_up(&b, 16, 1, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 16), 0);
	s = stats_of(&b);
	assert_int_equal(s.sent, 15);
	assert_int_equal(refused(&s, ECONNREFUSED), 1);
	check_and_free(&b, 16);
}

static void test_interrupted_is_no_loss_r109(void **state)
{
	static const struct event events[] = {
		{ 1, 0, EINTR }, { 2, 3, EINTR }, { 3, 0, EAGAIN }, { 4, 1, EAGAIN }, { 0 }
	};
	struct bench b;
	struct stats s;

	(void)state;
	set_up(&b, 8, 1, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
	s = stats_of(&b);
	assert_int_equal(s.sent, 8);
	assert_int_equal(stats_refused_total(&s), 0);
	check_and_free(&b, 8);
}

static void test_every_errno_has_its_place(void **state)
{
	static const int errors[] = { ENOBUFS,	   EPERM,  ECONNREFUSED, EMSGSIZE, EHOSTUNREACH,
				      ENETUNREACH, EACCES, EINVAL,	 EIO };
	struct bench b;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		const struct event events[] = { { 1, 2, errors[i] }, { 2, 0, errors[i] }, { 0 } };
		struct stats s;

		set_up(&b, 8, 1, events);
		assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
		s = stats_of(&b);
		assert_int_equal(s.sent, 6);
		assert_int_equal(refused(&s, errors[i]), 2);
		assert_int_equal(stats_refused_total(&s), 2);
		check_and_free(&b, 8);
	}
	/* One that is in no table is not lost either. */
	{
		const struct event events[] = { { 1, 0, EXDEV }, { 0 } };
		struct stats s;

		set_up(&b, 8, 1, events);
		assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
		s = stats_of(&b);
		assert_int_equal(s.refused[STATS_ERRNOS - 1], 1);
		assert_string_equal(stats_errno_name(EXDEV), "other");
		check_and_free(&b, 8);
	}
}

static void test_refusal_pauses_without_rate_r107(void **state)
{
	static const struct event events[] = {
		{ 1, 0, EPERM }, { 2, 0, EPERM }, { 3, 0, ENOBUFS }, { 4, 0, ECONNREFUSED }, { 0 }
	};
	struct bench b;
	uint64_t begin;

	(void)state;
	set_up(&b, 8, 1, events);
	b.conf.rate.n = 0;
	begin = clock_mono();
	assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
	/* Three pauses; a lower bound only, whatever else the machine does. */
	assert_true(clock_elapsed(begin, clock_mono()) >= 3 * WORKER_PAUSE_NS);
	check_and_free(&b, 8);
}

static void gso_refused(const struct event *events, int error)
{
	struct bench b;
	struct stats s;

	set_up(&b, 4, 10, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 37), 0);
	s = stats_of(&b);
	assert_int_equal(s.sent, 37);
	assert_int_equal(stats_refused_total(&s), 0);
	assert_int_equal(b.worker->gso_errno, error);
	assert_int_equal(b.worker->tx.segments, 1);
	assert_int_equal(kernel.largest_message, 10);
	/* The next batch, larger than the messages of GSO were, goes out plain too. */
	assert_int_equal(worker_batch(b.worker, &b.flow, 40), 0);
	check_and_free(&b, 77);
}

static void test_gso_refused_r51(void **state)
{
	static const int errors[] = { EIO, EINVAL, EMSGSIZE };

	(void)state;
	/* At the first and at the third message, with a short last message: the batch goes out plain, nothing is
	 * counted as refused. */
	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		const struct event at_once[] = { { 1, 0, errors[i] }, { 0 } };
		const struct event later[] = { { 1, 2, 0 }, { 2, 0, errors[i] }, { 0 } };

		gso_refused(at_once, errors[i]);
		gso_refused(later, errors[i]);
	}
}

static void test_gso_counts_datagrams(void **state)
{
	static const struct event events[] = { { 1, 2, 0 }, { 2, 0, ENOBUFS }, { 0 } };
	struct bench b;
	struct stats s;

	(void)state;
	/* 4 messages of 10, 10, 10, 7: two are taken, the third is refused whole, the last one goes. */
	set_up(&b, 4, 10, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 37), 0);
	s = stats_of(&b);
	assert_int_equal(s.sent, 27);
	assert_int_equal(s.messages, 3);
	assert_int_equal(refused(&s, ENOBUFS), 10);
	assert_int_equal(b.worker->gso_errno, 0);
	check_and_free(&b, 37);
}

static void test_plain_emsgsize_after_gso_is_refused(void **state)
{
	static const struct event events[] = { { 2, 0, EMSGSIZE }, { 0 } };
	struct bench b;
	struct stats s;

	(void)state;
	set_up(&b, 1, 4, events);
	kernel.refuse_gso = true;
	assert_int_equal(worker_batch(b.worker, &b.flow, 4), 0);
	s = stats_of(&b);
	assert_int_equal(refused(&s, EMSGSIZE), 1);
	assert_int_equal(s.sent, 3);
	check_and_free(&b, 4);
}

/* Sizes that change and faults on purpose, with refusals, short counts and retries in the middle of batches: the accepted ones carry the
 * numbers that an undisturbed run has, and their bytes are what is counted. */
static void test_varying_sizes_and_faults_r56_r68(void **state)
{
	static const struct event events[] = { { 1, 3, ENOBUFS }, { 2, 0, EPERM }, { 4, 5, 0 },	    { 5, 0, EINTR },
					       { 7, 1, EMSGSIZE }, { 9, 0, EAGAIN }, { 11, 2, ENOBUFS }, { 0 } };
	static const struct impair faults = { .withhold = 4, .reorder = 3, .duplicate = 5 };
	struct bench b;
	struct stats s;

	(void)state;
	set_up_traffic(&b, 16, 1, events, "18..64", &faults);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(worker_batch(b.worker, &b.flow, 16 - i % 16), 0);
	s = stats_of(&b);
	assert_int_equal(stats_refused_total(&s), 4);
	assert_int_equal(s.sent, 136 + 58 - 4);
	check_and_free(&b, 136 + 58);
}

/* GSO goes off in the middle of a batch: the numbers of a run with faults go on where they were. */
static void test_gso_refused_with_faults_r51(void **state)
{
	static const struct event events[] = { { 1, 1, 0 }, { 2, 1, EIO }, { 0 } };
	static const struct impair faults = { .withhold = 7, .reorder = 2 };
	struct bench b;

	(void)state;
	set_up_traffic(&b, 4, 10, events, "30", &faults);
	assert_int_equal(worker_batch(b.worker, &b.flow, 33), 0);
	assert_int_equal(worker_batch(b.worker, &b.flow, 40), 0);
	assert_int_equal(kernel.n, 73);
	check_and_free(&b, 73);
}

static void test_gso_required_ends_the_thread_r51(void **state)
{
	static const struct event events[] = { { 2, 1, EMSGSIZE }, { 0 } };
	struct bench b;

	(void)state;
	set_up(&b, 4, 10, events);
	b.conf.gso_require = true;
	assert_int_equal(worker_batch(b.worker, &b.flow, 40), 0);
	assert_int_equal(worker_batch(b.worker, &b.flow, 40), -EMSGSIZE);
	assert_true(atomic_load(&b.stop));
	assert_non_null(strstr(b.worker->err.text, "--gso require"));
	check_and_free(&b, 50);
}

static void test_program_error_ends_the_thread(void **state)
{
	static const struct event events[] = { { 1, 2, 0 }, { 2, 0, EBADF }, { 0 } };
	struct bench b;

	(void)state;
	set_up(&b, 8, 1, events);
	assert_int_equal(worker_batch(b.worker, &b.flow, 8), -EBADF);
	assert_true(atomic_load(&b.stop));
	assert_non_null(strstr(b.worker->err.text, "fake"));
	check_and_free(&b, 2);
}

static void test_stop_leaves_the_rest(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 8, 1, nothing);
	atomic_store(&b.stop, true);
	assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
	check_and_free(&b, 0);
}

static void test_shares_add_up(void **state)
{
	static const uint64_t counts[] = { 0, 1, 2, 3, 999, 1000, 1001, 1000000007 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
		for (unsigned threads = 1; threads < 20; threads++) {
			uint64_t sum = 0;

			for (unsigned t = 0; t < threads; t++) {
				uint64_t n = worker_share(counts[i], t, threads);

				assert_in_range(n, counts[i] / threads, counts[i] / threads + 1);
				sum += n;
			}
			assert_int_equal(sum, counts[i]);
		}
	}
	assert_true(worker_share(UINT64_MAX, 1, 3) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_accepted),
		cmocka_unit_test(test_short_count_is_resumed_r56),
		cmocka_unit_test(test_batch_above_kernel_limit_r56),
		cmocka_unit_test(test_one_too_large_in_the_middle_r56),
		cmocka_unit_test(test_prefix_and_error_in_one_call),
		cmocka_unit_test(test_interrupted_is_no_loss_r109),
		cmocka_unit_test(test_every_errno_has_its_place),
		cmocka_unit_test(test_refusal_pauses_without_rate_r107),
		cmocka_unit_test(test_gso_refused_r51),
		cmocka_unit_test(test_gso_counts_datagrams),
		cmocka_unit_test(test_plain_emsgsize_after_gso_is_refused),
		cmocka_unit_test(test_varying_sizes_and_faults_r56_r68),
		cmocka_unit_test(test_gso_refused_with_faults_r51),
		cmocka_unit_test(test_gso_required_ends_the_thread_r51),
		cmocka_unit_test(test_program_error_ends_the_thread),
		cmocka_unit_test(test_stop_leaves_the_rest),
		cmocka_unit_test(test_shares_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
