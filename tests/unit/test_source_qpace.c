/* SPDX-License-Identifier: MIT */
/* Pacing by the queueing discipline, as far as it goes without one that can: which is refused, what is asked of the socket, the time that goes with each
 * message, also when GSO has to be turned off in between (R51). */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/udp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "source/qpace.h"
#include "source/worker.h"

static void test_which_discipline(void **state)
{
	static const struct {
		enum pacer_mode mode;
		const char *root, *kind, *refused; /* refused: what the sentence must say, NULL = accepted */
	} cases[] = {
		{ PACER_FQ, "fq", "fq", NULL },
		{ PACER_TXTIME, "fq", "fq", NULL },
		{ PACER_TXTIME, "etf", "etf", NULL },
		{ PACER_FQ, "mq", "fq", NULL },
		{ PACER_TXTIME, "mqprio", "etf", NULL },
		{ PACER_FQ, "etf", "etf", "discipline is etf, and only fq can" },
		{ PACER_FQ, "noqueue", "noqueue", "discipline is noqueue, and only fq can" },
		{ PACER_TXTIME, "pfifo_fast", "pfifo_fast", "discipline is pfifo_fast, and only fq or etf can" },
		{ PACER_FQ, "fq_codel", "fq_codel", "discipline is fq_codel," },
		{ PACER_FQ, "mq", "several", "discipline is mq over several," },
		{ PACER_TXTIME, "mq", "", "discipline is mq, and" },
		{ PACER_TXTIME, "htb", "htb", "tc qdisc replace dev eth7 root fq" },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qdisc q = { .clock = -1 };
		struct err err = ERR_INIT;
		int ret;

		strcpy(q.root, cases[i].root);
		strcpy(q.kind, cases[i].kind);
		ret = qpace_check(cases[i].mode, &q, "eth7", &err);
		assert_int_equal(ret, cases[i].refused ? -EOPNOTSUPP : 0);
		if (cases[i].refused && (!strstr(err.text, cases[i].refused) || !strstr(err.text, "leave by eth7") || !strstr(err.text, "--pace ")))
			fail_msg("%s", err.text);
	}
}

static void test_bytes_per_second(void **state)
{
	(void)state;
	/* 18 bytes make a frame of 60, and a sixteenth is added. */
	assert_int_equal(qpace_bytes(16, 1, 18, AF_INET), 16 * 60 * 17 / 16 + 1);
	assert_int_equal(qpace_bytes(1600, 10, 18, AF_INET), 160 * 60 * 17 / 16 + 1);
	assert_int_equal(qpace_bytes(16, 1, 18, AF_INET6), 16 * 80 * 17 / 16 + 1);
	assert_int_equal(qpace_bytes(1e9, 1, 1472, AF_INET), 1608625000001);
}

/* What the kernel would see: due time and number of datagrams of each message. */
static struct {
	unsigned n, call;
	uint64_t time[64];
	unsigned datagrams[64];
	int refuse; /* with this errno, at the second call, one message after it began */
} seen;

static void fake_send(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *r)
{
	unsigned at = first / tx->segments, messages = tx_cut(tx, first, end);

	(void)flow;
	r->calls = 1;
	seen.call++;
	for (unsigned i = at; i < at + messages && seen.n < 64; i++) {
		struct msghdr *h = &tx->message[i].msg_hdr;
		struct cmsghdr *c = CMSG_FIRSTHDR(h), *next = CMSG_NXTHDR(h, c);

		if (seen.call == 2 && seen.refuse && r->messages == 1) {
			r->error = seen.refuse;
			break;
		}
		assert_int_equal(c->cmsg_level, SOL_SOCKET);
		assert_int_equal(c->cmsg_type, SCM_TXTIME);
		assert_int_equal(c->cmsg_len, CMSG_LEN(sizeof(uint64_t)));
		assert_int_equal(next != NULL, tx->segments > 1);
		if (next)
			assert_true(next->cmsg_level == SOL_UDP && next->cmsg_type == UDP_SEGMENT);
		memcpy(&seen.time[seen.n], CMSG_DATA(c), sizeof(uint64_t));
		seen.datagrams[seen.n++] = (unsigned)(tx->iov[i].iov_len / tx->payload.room);
		r->messages++;
	}
	r->sent = MIN(r->messages * tx->segments, end - first);
	tx_uncut(tx, end);
}

static const struct tx_ops fake = { .name = "fake", .caps = TX_GSO | TX_BATCH, .send = fake_send };

struct bench {
	struct source_conf conf;
	struct size_plan size;
	struct flow flow;
	struct worker *worker;
	atomic_bool stop;
};

static void set_up(struct bench *b, unsigned segments, const char *rate)
{
	static const struct dst_plan one = { .n = 1, .ports = 1, .length = 1 };
	const struct tx_conf tx = { .ops = &fake, .batch = 8, .segments = segments, .timed = true, .payload = { .size = &b->size } };
	struct pacer_conf pacer = { .clock = &pacer_monotonic, .mode = PACER_TXTIME, .threads = 1, .atom = segments, .most = 8 * segments };

	memset(&seen, 0, sizeof(seen));
	*b = (struct bench){ .conf.txtime_clock = CLOCK_MONOTONIC };
	assert_int_equal(size_parse("payload", "100", &b->size, NULL), 0);
	assert_int_equal(rate_parse(rate, 100, &b->conf.rate, NULL), 0);
	b->worker = aligned_alloc(_Alignof(struct worker), sizeof(*b->worker));
	assert_non_null(b->worker);
	*b->worker = (struct worker){ .conf = &b->conf, .stop = &b->stop };
	random_seed(&b->worker->random, 1, 0);
	dst_start(&b->worker->walk, &one, 0, 1);
	assert_int_equal(tx_init(&b->worker->tx, &tx, &b->worker->random, NULL), 0);
	pacer.plan = &b->conf.rate;
	pacer_init(&b->worker->pacer, &pacer);
	pacer_start(&b->worker->pacer, 5000000000); /* long ago: nothing waits */
}

static void tear_down(struct bench *b)
{
	worker_free(b->worker);
	size_free(&b->size);
	free(b->worker);
}

/* A conversion between two clocks that are the same takes what reading them takes. */
static void assert_near(uint64_t time, uint64_t due)
{
	assert_true(time + NSEC_PER_SEC > due && time < due + NSEC_PER_SEC);
}

static void test_each_message_has_its_time(void **state)
{
	struct bench b;
	uint64_t base;

	(void)state;
	set_up(&b, 1, "1..3/100s"); /* rates so low that a disturbed machine does not blur them */
	b.worker->tried = 3;
	base = b.worker->pacer.begin;
	assert_int_equal(worker_batch(b.worker, &b.flow, 5), 0);
	assert_int_equal(seen.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_near(seen.time[i], base + rate_due(&b.conf.rate, 3 + i));
		/* Between them exactly what the plan says: the clocks are compared once. */
		assert_int_equal(seen.time[i] - seen.time[0], rate_due(&b.conf.rate, 3 + i) - rate_due(&b.conf.rate, 3));
	}
	tear_down(&b);
}

static void test_gso_messages_have_that_of_their_first(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 4, "10");
	assert_int_equal(worker_batch(b.worker, &b.flow, 10), 0);
	assert_int_equal(seen.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(seen.datagrams[i], i < 2 ? 4 : 2);
		assert_int_equal(seen.time[i] - seen.time[0], i * 4 * NSEC_PER_SEC / 10);
	}
	tear_down(&b);
}

static void test_times_are_kept_when_gso_is_off_r51(void **state)
{
	struct bench b;
	uint64_t first;

	(void)state;
	set_up(&b, 4, "10");
	assert_int_equal(worker_batch(b.worker, &b.flow, 8), 0);
	first = seen.time[0];
	/* Of the next three messages one is taken, then EIO: datagrams 12 to 19 follow one by one. */
	seen.n = 0;
	seen.refuse = EIO;
	assert_int_equal(worker_batch(b.worker, &b.flow, 12), 0);
	assert_int_equal(b.worker->gso_errno, EIO);
	assert_int_equal(seen.n, 9);
	for (unsigned i = 1; i < 9; i++) {
		assert_int_equal(seen.datagrams[i], 1);
		assert_near(seen.time[i], first + (11 + i) * NSEC_PER_SEC / 10);
		assert_int_equal(seen.time[i] - seen.time[1], (i - 1) * NSEC_PER_SEC / 10);
	}
	tear_down(&b);
}

/* The kernel takes times with messages, and a rate for a socket, whatever the discipline. */
static void test_kernel_takes_the_options(void **state)
{
	const struct sock_txtime txtime = { .clockid = CLOCK_MONOTONIC };
	struct sock_conf conf = { .tos = -1, .ttl = -1 };
	uint64_t rate = qpace_bytes(1e6, 1, 1472, AF_INET), got = 0;
	socklen_t len = sizeof(got);
	struct flow flow = { 0 };
	struct tx_result result = { 0 };
	struct sock sink;
	struct addr any;
	struct bench b;
	char buf[128];

	(void)state;
	assert_int_equal(addr_parse("127.0.0.1", AF_UNSPEC, 0, &any, NULL), 0);
	assert_int_equal(sock_open(&sink, &any, &conf, NULL), 0);
	assert_int_equal(sock_open(&flow.sock, &any, &conf, NULL), 0);
	assert_int_equal(sock_connect(&flow.sock, &sink.local, NULL), 0);
	flow.fd = flow.sock.fd;
	assert_int_equal(setsockopt(flow.fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)), 0);
	assert_int_equal(getsockopt(flow.fd, SOL_SOCKET, SO_MAX_PACING_RATE, &got, &len), 0);
	assert_int_equal(got, rate);
	assert_int_equal(setsockopt(flow.fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)), 0);
	set_up(&b, 1, "1000");
	tx_time(&b.worker->tx, 0, clock_mono() + NSEC_PER_MSEC);
	tx_time(&b.worker->tx, 1, clock_mono() + 2 * NSEC_PER_MSEC);
	tx_send_batch(&b.worker->tx, &flow, 0, 2, &result);
	assert_int_equal(result.sent, 2);
	assert_int_equal(recv(sink.fd, buf, sizeof(buf), 0), 100);
	assert_int_equal(recv(sink.fd, buf, sizeof(buf), 0), 100);
	tear_down(&b);
	sock_close(&flow.sock);
	sock_close(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_discipline),
		cmocka_unit_test(test_bytes_per_second),
		cmocka_unit_test(test_each_message_has_its_time),
		cmocka_unit_test(test_gso_messages_have_that_of_their_first),
		cmocka_unit_test(test_times_are_kept_when_gso_is_off_r51),
		cmocka_unit_test(test_kernel_takes_the_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
