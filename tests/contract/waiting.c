/* SPDX-License-Identifier: MIT */
/* When recv comes back: idle sockets, wake, signals, limits, several sockets, sockets that join while running. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"

/* Receives until `want` packets are there; returns how many came. */
static unsigned take(struct rig *rig, unsigned want, unsigned limit)
{
	unsigned got = 0;

	while (got < want && rig_waiting(rig)) {
		int n = rig_recv(rig, limit);

		CHECK(rig, n >= 0);
		got += (unsigned)n;
	}
	return got;
}

static bool blocks(const struct rig_case *c)
{
	return c->wait == ENGINE_WAIT_BLOCK && !(c->ops->caps & ENGINE_MULTI);
}

static void open_one(struct rig *rig, const struct rig_case *c, unsigned batch)
{
	rig_init(rig, c->ops, c->wait, batch, 2048);
	rig_socket(rig, "127.0.0.1", 0);
	rig_start(rig, 1);
}

static void test_idle(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_one(&rig, c, 8);

	/* Each call comes back by itself; the first one under poll may be the short one that found the queue empty. */
	uint64_t waited = 0;

	for (int k = 0; k < 3; k++) {
		CHECK_EQUAL(&rig, rig_recv(&rig, 8), 0);
		CHECK_EQUAL(&rig, rig.batch.event, 0);
		CHECK(&rig, rig.batch.drained);
		waited += rig.batch.waited_ns;
	}
	CHECK(&rig, rig_waiting(&rig));
	if (c->wait == ENGINE_WAIT_SPIN)
		CHECK_EQUAL(&rig, waited, 0);
	else
		CHECK(&rig, waited >= (blocks(c) ? 3 * rig.conf.sk_timeout_ns : ENGINE_TICK_NS));
	rig_stop(&rig);
}

static void test_one_datagram(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_one(&rig, c, 8);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	rig_send(&rig, fd, 100, 1);
	CHECK_EQUAL(&rig, take(&rig, 1, 8), 1);
	/* The call that wanted eight waited for the rest, and says so. */
	if (blocks(c) && c->ops->caps & ENGINE_BATCH)
		CHECK_EQUAL(&rig, rig.batch.waited_ns, rig.conf.sk_timeout_ns);
	else
		CHECK_EQUAL(&rig, rig.batch.waited_ns, 0);
	CHECK_EQUAL(&rig, rig_recv(&rig, 8), 0);
	util_close(&fd);
	rig_stop(&rig);
}

static void test_limit(void **state)
{
	const struct rig_case *c = *state;
	const unsigned limits[] = { 1, 7, 1, 32, 9 };
	unsigned sent = 0;
	struct rig rig;

	open_one(&rig, c, 32);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sent += limits[i];
	for (unsigned i = 0; i < sent; i++)
		rig_send(&rig, fd, 20, i);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		int n = rig_recv(&rig, limits[i]);

		/* All is there already: an engine that takes several takes all that it may. */
		CHECK_EQUAL(&rig, n, blocks(c) && !(c->ops->caps & ENGINE_BATCH) ? 1 : limits[i]);
		sent -= (unsigned)n;
	}
	CHECK_EQUAL(&rig, take(&rig, sent, 32), sent);
	CHECK_EQUAL(&rig, rig_recv(&rig, 32), 0);
	util_close(&fd);
	rig_stop(&rig);
}

/* A worker thread for the tests of wake and of signals. */
struct worker {
	struct rig *rig;
	pthread_t thread;
	atomic_int tid;
	atomic_bool stop;
	atomic_uint received;
	unsigned events, bad; /* read after the join */
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct batch *b = &w->rig->batch;

	atomic_store(&w->tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&w->stop)) {
		b->limit = w->rig->conf.batch;

		int n = w->rig->ops->recv(w->rig->engine, b);

		if (n < 0 || (b->event && b->event != EINTR))
			w->bad++;
		w->events += b->event == EINTR;
		for (int i = 0; i < n; i++)
			w->bad += !rig_payload(b->packets[i].data, b->packets[i].len, 3, 0);
		if (n > 0)
			atomic_fetch_add(&w->received, (unsigned)n);
	}
	return NULL;
}

/* The slot has to be opened by the thread that works, which wake() interrupts. */
static void *open_and_work(void *arg)
{
	struct worker *w = arg;

	rig_start(w->rig, 1);
	return work(w);
}

static void start_worker(struct worker *w, struct rig *rig)
{
	*w = (struct worker){ .rig = rig };
	CHECK_EQUAL(rig, pthread_create(&w->thread, NULL, open_and_work, w), 0);
	while (!atomic_load(&w->tid) && rig_waiting(rig))
		sched_yield();
	CHECK(rig, atomic_load(&w->tid));
}

/* 'S' when the thread sleeps in the kernel. */
static char thread_state(int tid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return '?';
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(file);
	return state;
}

static void wait_asleep(struct worker *w)
{
	if (w->rig->conf.wait == ENGINE_WAIT_SPIN)
		return;
	while (thread_state(atomic_load(&w->tid)) != 'S' && rig_waiting(w->rig))
		sched_yield();
}

/* Joins the worker, waking it again until it is gone, as the caller has to. Returns 0 or ETIMEDOUT. */
static int wake_and_join(struct worker *w)
{
	int rc;

	do {
		struct timespec soon;

		w->rig->ops->wake(w->rig->engine);
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 5000000;
		soon.tv_sec += soon.tv_nsec / 1000000000;
		soon.tv_nsec %= 1000000000;
		rc = pthread_timedjoin_np(w->thread, NULL, &soon);
	} while (rc == ETIMEDOUT && rig_waiting(w->rig));
	return rc;
}

/* Wakes a worker that sleeps in recv. Returns how long its last recv had waited in vain. */
static uint64_t wake_sleeper(const struct rig_case *c)
{
	struct worker w;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 8, 2048);
	/* Without a wake it would outlast the test's patience. */
	rig.conf.sk_timeout_ns = 60 * NSEC_PER_SEC;
	rig_socket(&rig, "127.0.0.1", 0);
	start_worker(&w, &rig);
	wait_asleep(&w);
	atomic_store(&w.stop, true);
	CHECK_EQUAL(&rig, wake_and_join(&w), 0);
	CHECK_EQUAL(&rig, w.events, 0);
	CHECK_EQUAL(&rig, w.bad, 0);
	/* A wake between the join and close harms nobody. */
	c->ops->wake(rig.engine);
	rig_stop(&rig);
	return rig.batch.waited_ns;
}

/* Under poll recv comes back by itself after a tick, which can happen at the moment of the wake, but not every time. */
static void test_wake(void **state)
{
	int tries = 5;

	while (wake_sleeper(*state) && --tries)
		;
	assert_int_not_equal(tries, 0);
}

/* A wake that finds nobody waiting ends the next recv, once. */
static void test_wake_before(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_one(&rig, c, 8);
	for (int k = 0; k < 2; k++) {
		c->ops->wake(rig.engine);
		c->ops->wake(rig.engine);
		CHECK_EQUAL(&rig, rig_recv(&rig, 8), 0);
		CHECK_EQUAL(&rig, rig.batch.waited_ns, 0);
		CHECK_EQUAL(&rig, rig.batch.event, 0);
	}

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	rig_send(&rig, fd, 10, 1);
	CHECK_EQUAL(&rig, take(&rig, 1, 8), 1);
	util_close(&fd);
	rig_stop(&rig);
}

static void nothing(int signal UNUSED)
{
}

static void test_signals(void **state)
{
	const struct rig_case *c = *state;
	const unsigned total = 600, window = 64;
	struct sigaction action = { .sa_handler = nothing };
	struct worker w;
	struct rig rig;

	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	rig_init(&rig, c->ops, c->wait, 8, 2048);
	rig_socket(&rig, "127.0.0.1", 0);
	start_worker(&w, &rig);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	/* One signal for every datagram, which comes while the worker waits, receives, or does neither. */
	for (unsigned sent = 0; sent < total; sent++) {
		while (sent - atomic_load(&w.received) >= window && rig_waiting(&rig))
			sched_yield();
		rig_send(&rig, fd, 50, 3);
		pthread_kill(w.thread, SIGUSR1);
	}
	while (atomic_load(&w.received) < total && rig_waiting(&rig))
		pthread_kill(w.thread, SIGUSR1);
	atomic_store(&w.stop, true);
	c->ops->wake(rig.engine);
	pthread_join(w.thread, NULL);
	CHECK_EQUAL(&rig, atomic_load(&w.received), total);
	CHECK_EQUAL(&rig, w.bad, 0);
	util_close(&fd);
	rig_stop(&rig);
}

/* Where a slot may hold several sockets; epoll also under block. */
static bool several(const struct rig_case *c)
{
	return c->wait != ENGINE_WAIT_BLOCK || c->ops->caps & ENGINE_MULTI;
}

static void test_fair(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	if (!several(c)) {
		struct err err = ERR_INIT;

		rig_init(&rig, c->ops, c->wait, 8, 2048);
		assert_true(engine_check(c->ops, &rig.conf, 2, &err) < 0);
		assert_non_null(strstr(err.text, "--wait"));
		return;
	}
	rig_init(&rig, c->ops, c->wait, 32, 2048);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_start(&rig, 2);

	int flood = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);
	int rare = rig_sender(&rig, "127.0.0.1", &rig.sock[1], 0, 0);
	unsigned got[2] = { 0, 0 }, before = 0;

	for (unsigned i = 0; i < 200; i++)
		rig_send(&rig, flood, 20, 0);
	for (unsigned i = 0; i < 3; i++)
		rig_send(&rig, rare, 20, 0);
	while (got[0] + got[1] < 203 && rig_waiting(&rig)) {
		int n = rig_recv(&rig, 32);

		CHECK(&rig, n >= 0);
		for (int i = 0; i < n; i++)
			got[rig.batch.packets[i].sock]++;
		if (!got[1])
			before = got[0];
	}
	CHECK_EQUAL(&rig, got[0], 200);
	CHECK_EQUAL(&rig, got[1], 3);
	CHECK(&rig, before <= 64); /* two batches of the flood at most */
	util_close(&flood);
	util_close(&rare);
	rig_stop(&rig);
}

static void test_add(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_one(&rig, c, 8);
	for (unsigned i = 1; i < RIG_SOCKS; i++) {
		rig_socket(&rig, "127.0.0.1", 0);

		int rc = c->ops->add(rig.engine, i);

		if (!several(c)) {
			CHECK_EQUAL(&rig, rc, -ENOTSUP);
			continue;
		}
		CHECK_EQUAL(&rig, rc, 0);
		for (unsigned k = 0; k <= i; k++) {
			int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[k], 0, 0);

			rig_send(&rig, fd, 30, 1);
			CHECK_EQUAL(&rig, take(&rig, 1, 8), 1);
			CHECK_EQUAL(&rig, rig.batch.packets[0].sock, k);
			util_close(&fd);
		}
	}
	if (several(c))
		CHECK_EQUAL(&rig, c->ops->add(rig.engine, 0), -ENOSPC);
	rig_stop(&rig);
}

int main(int argc, char **argv)
{
	static struct rig_suite suite;

	rig_add(&suite, "R23 idle", test_idle, 0, NULL);
	rig_add(&suite, "R23 one datagram", test_one_datagram, 0, NULL);
	rig_add(&suite, "limit", test_limit, 0, NULL);
	rig_add(&suite, "wake", test_wake, 0, NULL);
	rig_add(&suite, "wake before recv", test_wake_before, 0, NULL);
	rig_add(&suite, "R109 signals", test_signals, 0, NULL);
	rig_add(&suite, "R31 several sockets", test_fair, 0, NULL);
	rig_add(&suite, "add", test_add, 0, NULL);
	return rig_run(&suite, "contract/waiting", argc, argv);
}
