/* SPDX-License-Identifier: MIT */
#include "source/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "net/netns.h"

/* Sending begins so much after the gate opens: time for all threads to wake up. */
#define START_NS NSEC_PER_MSEC

/* Says that one more is ready, and waits for the gate. */
static void meet(struct workers *team)
{
	pthread_mutex_lock(&team->lock);
	team->ready++;
	pthread_cond_broadcast(&team->changed);
	while (!team->open)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static void *thread_main(void *data)
{
	struct member *m = data;
	struct workers *team = m->team;
	bool ready = !worker_prepare(&m->worker);

	if (!ready)
		atomic_store(&team->stop, true);
	meet(team);
	if (ready)
		worker_run(&m->worker, team->base_ns);
	atomic_fetch_sub(&team->running, 1);
	team->ended(team->ended_data);
	return NULL;
}

/* The next thread, with every signal blocked: main alone handles them. */
static int spawn(struct workers *team, const struct source_conf *conf, struct flows *flows)
{
	const struct cpu_list *cpus = &conf->cpus;
	struct member *m = &team->member[team->started];
	sigset_t all, old;
	int ret;

	*m = (struct member){
		.team = team,
		.worker = {
			.index = team->started,
			.cpu = cpus->n ? cpus->cpu[team->started % cpus->n] : -1,
			.conf = conf,
			.flows = flows,
			.stop = &team->stop,
		},
	};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&m->thread, NULL, thread_main, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret)
		team->started++;
	return ret;
}

static void wait_ready(struct workers *team)
{
	pthread_mutex_lock(&team->lock);
	while (team->ready < team->started)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static int first_error(const struct workers *team, struct err *err)
{
	for (unsigned i = 0; i < team->started; i++) {
		if (team->member[i].worker.err.code) {
			if (err)
				*err = team->member[i].worker.err;
			return -team->member[i].worker.err.code;
		}
	}
	return 0;
}

int workers_start(struct workers *team, const struct source_conf *conf, struct flows *flows,
		  void (*ended)(void *), void *data, struct err *err)
{
	int ret = 0;

	*team = (struct workers){
		.n = conf->threads,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.ended = ended,
		.ended_data = data,
		.member = aligned_alloc(_Alignof(struct member),
					conf->threads * sizeof(*team->member)),
	};
	if (!team->member)
		return err_sys(err, ENOMEM, "memory for %d threads", conf->threads);
	atomic_init(&team->running, team->n);
	while (team->started < team->n && !ret)
		ret = spawn(team, conf, flows);
	if (ret)
		err_sys(err, ret, "cannot start thread %u of %u", team->started + 1, team->n);
	wait_ready(team);
	if (!ret)
		ret = first_error(team, err);
	if (ret) {
		atomic_store(&team->stop, true);
		workers_go(team, 0);
		workers_stop(team, NULL);
		workers_free(team);
	}
	return ret;
}

void workers_go(struct workers *team, uint64_t base_ns)
{
	pthread_mutex_lock(&team->lock);
	team->base_ns = base_ns ? base_ns : clock_mono() + START_NS;
	team->open = true;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
}

unsigned workers_running(const struct workers *team)
{
	return atomic_load(&team->running);
}

int workers_stop(struct workers *team, struct err *err)
{
	atomic_store(&team->stop, true);
	for (unsigned i = 0; i < team->started; i++)
		pthread_join(team->member[i].thread, NULL);
	return first_error(team, err);
}

struct seqhdr_sums workers_sums(const struct workers *team)
{
	struct seqhdr_sums sums = { .segments = 1, .netns = netns_cookie() };

	for (unsigned i = 0; i < team->started; i++) {
		struct stats one;

		stats_snapshot(&team->member[i].worker.stats, &one);
		sums.datagrams += one.sent;
		sums.segments = (uint16_t)MAX(sums.segments, team->member[i].worker.conf->segments);
		sums.probes = (uint16_t)team->member[i].worker.conf->probe.datagrams;
		sums.messages = (uint16_t)team->member[i].worker.conf->probe.messages;
	}
	return sums;
}

void workers_free(struct workers *team)
{
	for (unsigned i = 0; i < team->started; i++)
		worker_free(&team->member[i].worker);
	free(team->member);
	*team = (struct workers){ 0 };
}
