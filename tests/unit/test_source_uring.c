/* SPDX-License-Identifier: MIT */
/* The sender uring on loopback: what it says was sent is a prefix and is what arrives; interrupted, and handed over in part (R56 R109). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/tx.h"
#include "tap.h"

#ifdef HAVE_LIBURING
#include <dlfcn.h>
#include <liburing.h>

/* What the next calls of io_uring_submit_and_wait do. */
static struct {
	unsigned calls;
	unsigned interrupt; /* EINTR so often, without doing anything */
	unsigned withhold;  /* the kernel has memory for all but so many requests */
} trouble;

/* In the place of liburing's. */
int io_uring_submit_and_wait(struct io_uring *ring, unsigned wait_nr)
{
	int (*real)(struct io_uring *, unsigned);
	unsigned n = trouble.withhold;
	int ret;

	trouble.calls++;
	if (trouble.interrupt) {
		trouble.interrupt--;
		return -EINTR;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "io_uring_submit_and_wait");
	assert_non_null(real);
	if (!n)
		return real(ring, wait_nr);
	/* The requests at the end stay where they are. */
	trouble.withhold = 0;
	ring->sq.sqe_tail -= n;
	ret = real(ring, wait_nr - n);
	ring->sq.sqe_tail += n;
	return ret;
}

struct bench {
	struct tx tx;
	struct flow flow;
	struct sock to;
	struct size_plan size;
	struct random random;
};

static void set_up(struct bench *b, unsigned batch, unsigned segments, const char *size, bool zerocopy)
{
	const struct sock_conf sock = { .tos = -1, .ttl = -1, .rcvbuf = 1 << 20 };
	struct tx_conf conf = { .ops = &tx_uring, .batch = batch, .segments = segments, .addressed = true, .zerocopy = zerocopy };
	struct err err = ERR_INIT;
	struct sock from = SOCK_INIT;
	struct addr lo;

	if (tx_uring_check(zerocopy, &err))
		TAP_SKIP("%s", err.text);
	memset(&trouble, 0, sizeof(trouble));
	*b = (struct bench){ .to = SOCK_INIT };
	assert_int_equal(addr_parse("127.0.0.1", AF_INET, 0, &lo, &err), 0);
	assert_int_equal(sock_open(&b->to, &lo, &sock, &err), 0);
	assert_int_equal(sock_open(&from, &lo, &sock, &err), 0);
	b->flow = (struct flow){ .fd = from.fd, .sock = from };
	assert_int_equal(size_parse("payload", size, &b->size, &err), 0);
	random_seed(&b->random, 1, 0);
	conf.payload.size = &b->size;
	conf.dst = b->to.local;
	if (tx_init(&b->tx, &conf, &b->random, &err))
		fail_msg("%s", err.text);
	payload_number(&b->tx.payload, 0, b->tx.payload.slots, 0, 0);
}

static void tear_down(struct bench *b)
{
	tx_free(&b->tx);
	size_free(&b->size);
	sock_close(&b->flow.sock);
	sock_close(&b->to);
}

/* What has arrived since the last look are the datagrams of slots first..end-1, in order. */
static void arrived(const struct bench *b, unsigned first, unsigned end)
{
	unsigned char data[2048];

	for (unsigned slot = first; slot < end; slot++) {
		ssize_t n = recv(b->to.fd, data, sizeof(data), MSG_DONTWAIT);

		assert_int_equal(n, b->tx.payload.len[slot]);
		assert_memory_equal(data, payload_slot(&b->tx.payload, slot), (size_t)n);
	}
	assert_int_equal(recv(b->to.fd, data, sizeof(data), MSG_DONTWAIT), -1);
}

static struct tx_result sent(struct bench *b, unsigned first, unsigned end)
{
	struct tx_result r = { 0 };

	b->tx.ops->send(&b->tx, &b->flow, first, end, &r);
	arrived(b, first, first + r.sent);
	return r;
}

/* A broadcast address, which needs SO_BROADCAST: EACCES. */
static void refuse_slot(struct bench *b, unsigned slot)
{
	struct addr lo;

	assert_int_equal(addr_parse("127.255.255.255", AF_INET, 9, &lo, NULL), 0);
	b->tx.name[slot] = lo;
}

static void whole_batches(bool zerocopy)
{
	struct bench b;

	set_up(&b, 32, 1, "40", zerocopy);
	for (unsigned i = 0; i < 100; i++) {
		struct tx_result r = sent(&b, i % 7, 32);

		assert_int_equal(r.sent, 32 - i % 7);
		assert_int_equal(r.messages, r.sent);
		assert_int_equal(r.error, 0);
		assert_int_equal(r.copied, zerocopy ? r.sent : 0); /* loopback copies */
	}
	assert_int_equal(trouble.calls, 100);
	tear_down(&b);
}

static void test_whole_batches(void **state)
{
	(void)state;
	whole_batches(false);
}

static void test_whole_batches_without_copy(void **state)
{
	(void)state;
	whole_batches(true);
}

static void test_calls_are_counted(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 8, 1, "40", false);
	assert_int_equal(sent(&b, 0, 8).calls, 1);
	trouble.interrupt = 3;
	assert_int_equal(sent(&b, 0, 8).calls, 4);
	assert_int_equal(trouble.calls, 5);
	tear_down(&b);
}

static void refused_in_the_middle(bool zerocopy)
{
	static const unsigned places[] = { 0, 1, 9, 15 };
	struct bench b;

	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		unsigned k = places[i];
		struct tx_result r;

		set_up(&b, 16, 1, "40", zerocopy);
		refuse_slot(&b, k);
		r = sent(&b, 0, 16);
		assert_int_equal(r.sent, k);
		assert_int_equal(r.error, EACCES);
		r = sent(&b, k, 16);
		assert_int_equal(r.sent, 0);
		assert_int_equal(r.error, EACCES);
		assert_int_equal(r.copied, 0);
		if (k < 15) {
			r = sent(&b, k + 1, 16);
			assert_int_equal(r.sent, 15 - k);
			assert_int_equal(r.error, 0);
		}
		tear_down(&b);
	}
}

static void test_refused_in_the_middle_r56(void **state)
{
	(void)state;
	refused_in_the_middle(false);
}

static void test_refused_in_the_middle_without_copy_r56(void **state)
{
	(void)state;
	refused_in_the_middle(true);
}

static void test_interrupted_r109(void **state)
{
	struct bench b;
	unsigned first = 0;

	(void)state;
	set_up(&b, 64, 1, "40", false);
	for (unsigned i = 0; first < 64; i++) {
		struct tx_result r;

		assert_true(i < 10);
		trouble.interrupt = 2 - i % 3;
		r = sent(&b, first, 64);
		assert_true(r.error == 0 || r.error == EAGAIN);
		assert_true(r.sent || r.error);
		first += r.sent;
	}
	tear_down(&b);
}

static void test_handed_over_in_part_r56(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 32, 1, "40", false);
	for (unsigned k = 1; k <= 32; k++) {
		struct tx_result r;

		trouble.withhold = k;
		r = sent(&b, 0, 32);
		assert_int_equal(r.sent, 32 - k);
		assert_int_equal(r.error, EAGAIN);
		assert_int_equal(sent(&b, 0, 32).sent, 32); /* the ring is as it was */
	}
	tear_down(&b);
}

static void test_batch_above_the_limit_r56(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1500, 1, "20", false);
	assert_int_equal(sent(&b, 0, 1500).sent, 1024);
	assert_int_equal(sent(&b, 1024, 1500).sent, 476);
	tear_down(&b);
}

static void test_segments_r50(void **state)
{
	struct bench b;
	struct tx_result r;

	(void)state;
	set_up(&b, 4, 10, "100", false);
	r = sent(&b, 0, 37);
	assert_int_equal(r.sent, 37);
	assert_int_equal(r.messages, 4);
	refuse_slot(&b, 20);
	tx_layout(&b.tx, 10);
	r = sent(&b, 10, 37);
	assert_int_equal(r.sent, 10);
	assert_int_equal(r.messages, 1);
	assert_int_equal(r.error, EACCES);
	tear_down(&b);
}

static void test_a_closed_socket_is_an_error(void **state)
{
	struct bench b;
	struct tx_result r = { 0 };
	int fd;

	(void)state;
	set_up(&b, 4, 1, "100", false);
	fd = dup(0);
	close(fd);
	b.flow.fd = fd;
	b.tx.ops->send(&b.tx, &b.flow, 0, 4, &r);
	assert_int_equal(r.sent, 0);
	assert_int_equal(r.error, EBADF);
	tear_down(&b);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_batches),
		cmocka_unit_test(test_whole_batches_without_copy),
		cmocka_unit_test(test_calls_are_counted),
		cmocka_unit_test(test_refused_in_the_middle_r56),
		cmocka_unit_test(test_refused_in_the_middle_without_copy_r56),
		cmocka_unit_test(test_interrupted_r109),
		cmocka_unit_test(test_handed_over_in_part_r56),
		cmocka_unit_test(test_batch_above_the_limit_r56),
		cmocka_unit_test(test_segments_r50),
		cmocka_unit_test(test_a_closed_socket_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP built without liburing");
	return 0;
}

#endif
