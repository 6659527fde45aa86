/* SPDX-License-Identifier: MIT */
#include "source/worker.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "source/asked.h"

enum verdict { AGAIN, PLAIN, REFUSED, FATAL };

/* gso: the message held segments; required: it has to (--gso require). */
static enum verdict judge(int error, bool gso, bool required)
{
	switch (error) {
	case EINTR:
	case EAGAIN:
		return AGAIN;
	case EIO:
	case EINVAL:
	case EMSGSIZE:
		return !gso ? REFUSED : required ? FATAL : PLAIN;
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

	if (!w->conf->rate.n && error != ECONNREFUSED && error != EMSGSIZE)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Under --pace txtime: each message of the n datagrams at hand gets the time of its first. */
static void put_times(struct worker *w, unsigned n)
{
	struct timespec t;
	uint64_t ahead;

	if (!w->tx.timed)
		return;
	clock_gettime(w->conf->txtime_clock, &t);
	ahead = (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec - clock_mono();
	for (unsigned slot = 0; slot < n; slot += w->tx.segments)
		tx_time(&w->tx, slot, pacer_due(&w->pacer, w->tried + slot) + ahead);
}

/* The message that begins at slot `first` met an error. Returns how many of its datagrams are done with, or
 * -errno. */
static int handle_error(struct worker *w, const struct flow *flow, unsigned first, unsigned end,
			int error)
{
	unsigned n = MIN(w->tx.segments, end - first);

	switch (judge(error, w->tx.segments > 1, w->conf->gso_require)) {
	case AGAIN:
		return 0;
	case PLAIN:
		w->gso_errno = error;
		tx_layout(&w->tx, 1);
		put_times(w, end);
		return 0;
	case FATAL:
		atomic_store(w->stop, true);
		return err_sys(&w->err, error, "%s%s", w->tx.ops->name,
			       w->tx.segments > 1 ? " with UDP_SEGMENT, which --gso require asks for" : "");
	case REFUSED:
		break;
	}
	stats_refused(&w->stats, error, n);
	if (w->asked)
		asked_cancel(w->asked, flow->stream, end, first, n);
	payload_number(&w->tx.payload, first + n, end, flow->stream, flow->sequence);
	pause_after(w, error);
	return n;
}

static bool stopping(const struct worker *w)
{
	return atomic_load_explicit(w->stop, memory_order_relaxed);
}

/* What one call did, beginning with slot `first`. */
static void count(struct worker *w, unsigned first, const struct tx_result *r)
{
	stats_add(&w->stats.at.bytes, payload_bytes(&w->tx.payload, first, first + r->sent) - r->missing);
	stats_add(&w->stats.at.sent, r->sent);
	stats_add(&w->stats.at.messages, r->messages);
	stats_add(&w->stats.at.calls, r->calls);
	stats_add(&w->stats.at.zerocopy_copied, r->copied);
	if (!(w->tx.ops->caps & TX_PACKETS))
		return;
	stats_add(&w->stats.at.fragments, r->fragments);
	stats_add(&w->stats.at.incomplete, r->incomplete);
	for (unsigned i = 0; i < BAD_KINDS; i++)
		stats_add(&w->stats.at.bad[i], r->bad[i]);
}

static void take_messages(struct worker *w, unsigned n)
{
	for (unsigned slot = 0; slot < n && w->conf->messages.n; slot++)
		payload_copy(&w->tx.payload, slot, pacer_number(&w->pacer, w->tried + slot));
}

/* DNS: the queries of the batch get their ids, and wait for their answers from the time that they were to be sent. */
static void ask(struct worker *w, const struct flow *flow, unsigned n)
{
	uint64_t now = w->asked ? clock_mono() : 0;

	for (unsigned slot = 0; slot < n && w->asked; slot++) {
		uint64_t i = w->tried + slot;

		asked_put(w->asked, flow->stream, &w->tx.payload, slot, pacer_number(&w->pacer, i), w->conf->rate.n ? pacer_due(&w->pacer, i) : now);
	}
}

int worker_batch(struct worker *w, struct flow *flow, unsigned n)
{
	unsigned first = 0;

	take_messages(w, n);
	tx_draw(&w->tx, n, &w->walk, &w->random);
	ask(w, flow, n);
	put_times(w, n);
	payload_number(&w->tx.payload, 0, n, flow->stream, flow->sequence);
	while (first < n && !stopping(w)) {
		struct tx_result r = { 0 };
		int done;

		w->tx.ops->send(&w->tx, flow, first, n, &r);
		count(w, first, &r);
		flow->sequence += r.sent;
		first += r.sent;
		if (LIKELY(!r.error))
			continue;
		done = handle_error(w, flow, first, n, r.error);
		if (done < 0)
			return done;
		first += done;
	}
	if (w->asked && first < n)
		asked_cancel(w->asked, flow->stream, n, first, n - first);
	w->tried += n;
	return 0;
}

uint64_t worker_share(uint64_t count, unsigned index, unsigned threads)
{
	return count == UINT64_MAX ? count : count / threads + (index < count % threads);
}

/* The thread's datagrams. With a rate a duration is a number of them: those that are due before its end. */
static uint64_t share(struct worker *w, unsigned segments)
{
	const struct source_conf *conf = w->conf;
	const struct pacer_conf pacer = {
		.clock = &pacer_monotonic,
		.plan = &conf->rate,
		.mode = conf->pace,
		.thread = w->index,
		.threads = conf->threads,
		.burst = conf->burst,
		.atom = segments,
		.most = w->tx.payload.slots,
		.ahead_ns = conf->ahead_ns,
	};

	pacer_init(&w->pacer, &pacer);
	if (!conf->rate.n)
		return worker_share(conf->count, w->index, conf->threads);
	return pacer_share(&w->pacer, conf->until_ns ? MIN(conf->count, rate_before(&conf->rate, conf->until_ns)) : conf->count);
}

int worker_prepare(struct worker *w)
{
	const struct source_conf *conf = w->conf;
	const struct tx_conf tx = {
		.ops = tx_table[conf->sender],
		.batch = conf->batch,
		.segments = conf->segments,
		.addressed = conf->addressed,
		.dst = conf->dst,
		.timed = conf->pace == PACER_TXTIME,
		.zerocopy = conf->zerocopy,
		.stop = w->stop,
		.raw = &w->flows->raw,
		.payload = {
			.size = &conf->size,
			.header = conf->header,
			.run = conf->run,
			.impair = impair_any(&conf->impair) ? &conf->impair : NULL,
			.fill = &conf->fill,
			.messages = conf->messages.n ? &conf->messages : NULL,
		},
	};
	char name[16]; /* TASK_COMM_LEN: for top -H and the like */
	int ret;

	w->asked = w->flows->asked ? &w->flows->asked[w->index] : NULL;
	snprintf(name, sizeof(name), "source-%u", w->index);
	prctl(PR_SET_NAME, name);
	unshare(CLONE_FILES); /* a table that no other thread uses: the kernel then counts no reference in each call, some 2 % of its cost */
	random_seed(&w->random, conf->seed, w->index);
	dst_start(&w->walk, &conf->to, w->index, conf->threads);
	ret = cpu_pin_self(w->cpu, &w->err);
	if (!ret)
		ret = tx_init(&w->tx, &tx, &w->random, &w->err);
	if (!ret && order_init(&w->order, &conf->order, worker_share(w->flows->n, w->index, conf->threads)))
		ret = err_sys(&w->err, ENOMEM, "memory for the order of flows");
	if (ret)
		return ret;
	prctl(PR_SET_TIMERSLACK, 1UL); /* the default of 50 us would be added to each deadline */
	w->left = share(w, tx.segments);
	return 0;
}

/* Whose turn it is, and for how many of n datagrams. Without --flow-length a turn is a batch. */
static unsigned take_turn(struct worker *w, unsigned n)
{
	uint64_t length = w->conf->flow_length;

	if (!w->turn) {
		w->flow = &w->flows->flow[w->index + w->conf->threads * order_next(&w->order, &w->random)];
		w->turn = length && w->order.n > 1 ? length : UINT64_MAX;
	}
	return MIN(n, w->turn);
}

static void end_turn(struct worker *w, unsigned n)
{
	w->turn = w->turn == UINT64_MAX ? 0 : w->turn - n;
	if (w->left != UINT64_MAX)
		w->left -= n;
}

void worker_run(struct worker *w, uint64_t base_ns)
{
	const struct source_conf *conf = w->conf;

	if (!conf->rate.n)
		pacer_hold(&pacer_monotonic, base_ns, w->stop);
	clock_usage_self(&w->before);
	pacer_start(&w->pacer, base_ns);
	while (w->left && !stopping(w)) {
		unsigned n = take_turn(w, MIN(w->tx.payload.slots, w->left));

		if (conf->rate.n)
			n = pacer_wait(&w->pacer, n, w->stop);
		if (!n || worker_batch(w, w->flow, n))
			break;
		end_turn(w, n);
	}
	w->cpu_ran = cpu_current();
	clock_usage_self(&w->after);
}

void worker_free(struct worker *w)
{
	tx_free(&w->tx);
	order_free(&w->order);
}
