/* SPDX-License-Identifier: MIT */
#include "source/worker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

enum verdict { AGAIN, PLAIN, REFUSED, FATAL };

static enum verdict judge(int error, bool gso)
{
	switch (error) {
	case EINTR:
	case EAGAIN:
		return AGAIN;
	case EIO:
	case EINVAL:
	case EMSGSIZE:
		return gso ? PLAIN : REFUSED;
	case EBADF:
	case EFAULT:
	case ENOTSOCK:
	case ENOSYS:
	case EOPNOTSUPP:
	case EDESTADDRREQ:
		return FATAL;
	default:
		return REFUSED;
	}
}

static void pause_after(const struct worker *w, int error)
{
	const struct timespec t = { .tv_nsec = WORKER_PAUSE_NS };

	if (!w->conf->rate && error != ECONNREFUSED && error != EMSGSIZE)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* The message that begins at slot `first` met an error. Returns how many of its datagrams are done with, or
 * -errno. */
static int handle_error(struct worker *w, const struct flow *flow, unsigned first, unsigned end,
			int error)
{
	unsigned n = MIN(w->tx.segments, end - first);

	switch (judge(error, w->tx.segments > 1)) {
	case AGAIN:
		return 0;
	case PLAIN:
		w->gso_errno = error;
		tx_layout(&w->tx, 1);
		return 0;
	case FATAL:
		atomic_store(w->stop, true);
		return err_sys(&w->err, error, "%s", w->tx.ops->name);
	case REFUSED:
		break;
	}
	stats_refused(&w->stats, error, n);
	payload_number(&w->tx.payload, first + n, end, flow->stream, flow->sequence);
	pause_after(w, error);
	return n;
}

static bool stopping(const struct worker *w)
{
	return atomic_load_explicit(w->stop, memory_order_relaxed);
}

int worker_batch(struct worker *w, struct flow *flow, unsigned n)
{
	unsigned first = 0;

	payload_number(&w->tx.payload, 0, n, flow->stream, flow->sequence);
	while (first < n && !stopping(w)) {
		struct tx_result r = { 0 };
		int done;

		w->tx.ops->send(&w->tx, flow->fd, first, n, &r);
		flow->sequence += r.sent;
		first += r.sent;
		stats_add(&w->stats.at.sent, r.sent);
		stats_add(&w->stats.at.messages, r.messages);
		stats_add(&w->stats.at.calls, r.calls);
		stats_add(&w->stats.at.bytes, r.sent * (uint64_t)w->tx.payload.size);
		if (LIKELY(!r.error))
			continue;
		done = handle_error(w, flow, first, n, r.error);
		if (done < 0)
			return done;
		first += done;
	}
	return 0;
}

uint64_t worker_share(uint64_t count, unsigned index, unsigned threads)
{
	return count == UINT64_MAX ? count : count / threads + (index < count % threads);
}

/* With a rate a duration is a number of datagrams: those that are due before its end. */
static uint64_t datagrams(const struct source_conf *conf)
{
	uint64_t s = conf->duration_ns / NSEC_PER_SEC, ns = conf->duration_ns % NSEC_PER_SEC;

	if (!conf->rate || !conf->duration_ns || s >= UINT32_MAX)
		return conf->count;
	return MIN(conf->count,
		   s * conf->rate + (ns * conf->rate + NSEC_PER_SEC - 1) / NSEC_PER_SEC);
}

int worker_prepare(struct worker *w)
{
	const struct source_conf *conf = w->conf;
	const struct tx_conf tx = {
		.ops = tx_table[conf->sender],
		.batch = conf->batch,
		.segments = conf_segments(conf),
		.size = conf->payload,
		.run = conf->run,
		.pktgen = conf->pktgen_header,
		.dst = conf->dst,
	};
	char name[16]; /* TASK_COMM_LEN: for top -H and the like */
	int ret;

	snprintf(name, sizeof(name), "source-%u", w->index);
	prctl(PR_SET_NAME, name);
	ret = cpu_pin_self(w->cpu, &w->err);
	if (!ret)
		ret = tx_init(&w->tx, &tx, &w->err);
	if (ret)
		return ret;
	prctl(PR_SET_TIMERSLACK, 1UL); /* the default of 50 us would be added to each deadline */
	w->next_flow = w->index;
	w->left = worker_share(datagrams(conf), w->index, conf->threads);
	if (conf->rate)
		pacer_init(&w->pacer, &pacer_monotonic, conf->rate, w->index, conf->threads,
			   tx.segments, w->tx.payload.slots);
	return 0;
}

void worker_run(struct worker *w, uint64_t base_ns)
{
	const struct source_conf *conf = w->conf;

	clock_usage_self(&w->before);
	pacer_start(&w->pacer, base_ns);
	while (w->left && !stopping(w)) {
		unsigned n = MIN(w->tx.payload.slots, w->left);

		if (conf->rate)
			n = pacer_wait(&w->pacer, n, w->stop);
		if (!n || worker_batch(w, &w->flows->flow[w->next_flow], n))
			break;
		if (w->left != UINT64_MAX)
			w->left -= n;
		w->next_flow += conf->threads;
		if (w->next_flow >= w->flows->n)
			w->next_flow = w->index;
	}
	w->cpu_ran = cpu_current();
	clock_usage_self(&w->after);
}

void worker_free(struct worker *w)
{
	tx_free(&w->tx);
}
