/* SPDX-License-Identifier: MIT */
#include "sink/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/num.h"
#include "sink/notify.h"
#include "sink/tally.h"

/* The longest that a run with --ledger takes for what is queued when it is told to end. */
#define DRAIN_NS (100 * NSEC_PER_MSEC)

/* A run in the making. Blocks are apart from everything else by their own alignment. */
struct run {
	struct run_context *context;
	const struct setup_engine *engine;
	unsigned index;
	struct worker_shared shared;
	struct worker *worker;
	struct stats_block *block;
	unsigned workers, started;
	struct sampler sampler;
	struct sample before, now;
	uint64_t ready_ns;
	uint64_t seen, moved_ns; /* --until-quiet: datagrams of any kind, and when the last of them were seen */
	bool failed;
};

int run_announce(struct run_context *c, struct err *err)
{
	int rc;

	if (c->announced)
		return 0;
	c->announced = true;
	rc = account_begin(&c->account, err);
	if (!rc)
		rc = counted_begin(&c->counted, c->setup->conf, err);
	if (rc)
		return rc;
	rc = c->voice->ready(c->header);
	if (rc)
		return err_sys(err, rc, "write the ready record");
	rc = notify_send("READY=1");
	if (rc)
		log_warning("cannot notify the service manager: %s", strerror(-rc));
	return 0;
}

/* Everything that was received, ours or not. */
static uint64_t received(const struct run *r)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < r->workers; i++) {
		struct stats s;

		stats_snapshot(&r->block[i], &s);
		all += s.datagrams + s.foreign + s.trailers;
	}
	return all;
}

/* --until-quiet: something came, all of it was read, and then nothing for so long. */
static bool is_quiet(const struct run *r)
{
	uint64_t quiet = r->context->setup->conf->until_quiet;

	return quiet && r->seen && !r->sampler.queued && clock_elapsed(r->moved_ns, clock_mono()) >= quiet;
}

static void look_for_traffic(struct run *r)
{
	uint64_t now = received(r);

	if (now != r->seen || r->sampler.queued)
		r->moved_ns = clock_mono();
	r->seen = now;
}

static bool run_ended(void *data)
{
	struct run *r = data;

	if (r->failed || is_quiet(r))
		return true;
	for (unsigned i = 0; i < r->started; i++)
		if (atomic_load(&r->worker[i].done) && (r->worker[i].result || r->context->setup->conf->count))
			return true;
	return false;
}

static void run_sample(void *data)
{
	struct run *r = data;
	uint64_t begin = atomic_load_explicit(&r->block[0].begin_ns, memory_order_relaxed);
	char pps[16], commas[32];
	uint64_t datagrams = 0, drops = 0;

	sampler_sockets(&r->sampler);
	if (r->context->setup->conf->until_quiet)
		look_for_traffic(r);
	if (r->context->progress && begin) {
		struct stats s;

		for (unsigned i = 0; i < r->workers; i++) {
			stats_snapshot(&r->block[i], &s);
			datagrams += s.datagrams;
		}
		for (unsigned i = 0; i < r->sampler.watched; i++)
			drops += r->sampler.drops[i];
		log_progress("%s  %.1f s  %s datagrams  %s pps  %llu dropped", r->engine->ops->name,
			     (double)(clock_mono() - begin) / 1e9, num_commas(datagrams, commas, sizeof(commas)),
			     num_si((double)datagrams * 1e9 / (double)MAX(clock_elapsed(begin, clock_mono()), 1), pps, sizeof(pps)),
			     (unsigned long long)drops);
	}
}

static int emit(struct run *r, struct report *report)
{
	int rc = r->context->voice->report(report);

	tally_free(report);
	return rc;
}

static void period(struct run *r, bool partial)
{
	struct report report;
	struct sample swap;

	sampler_read(&r->sampler, &r->now);
	if (clock_elapsed(r->before.mono_ns, r->now.mono_ns) == 0)
		return;
	if (tally_period(&report, r->context->setup, r->engine, r->index, &r->sampler, &r->before, &r->now, r->ready_ns))
		return;
	report.partial = partial;
	account_period(&r->context->account, &report, r->sampler.queued);
	tally_demux(&report, r->context->header->guardian);
	if (emit(r, &report))
		r->failed = true;
	swap = r->before;
	r->before = r->now;
	r->now = swap;
}

static void run_interval(void *data)
{
	period(data, false);
}

static int start_workers(struct run *r, struct err *err)
{
	sigset_t all, old;
	int rc = 0;

	/* Workers take no signal but the one that wakes them; everything else is for the control thread. */
	sigfillset(&all);
	sigdelset(&all, engine_wake_signal());
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (r->started = 0; r->started < r->workers && !rc; r->started += rc == 0) {
		struct worker *w = &r->worker[r->started];

		*w = (struct worker){ .shared = &r->shared, .block = &r->block[r->started] };
		stats_block_reset(w->block);
		setup_slot(r->context->setup, r->started, &w->slot);
		rc = -pthread_create(&w->thread, NULL, worker_main, w);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? err_sys(err, rc, "start worker %u of %u", r->started, r->workers) : 0;
}

/* All engines are open, or the first error. */
static int meet(struct run *r, struct err *err)
{
	worker_gather(&r->shared, r->started);
	for (unsigned i = 0; i < r->started; i++)
		if (r->worker[i].result) {
			if (err)
				*err = r->worker[i].err;
			return r->worker[i].result;
		}
	return 0;
}

/* A wake that comes just before a worker enters a blocking call is lost: it is repeated until the worker is done. */
static void join(struct run *r)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	atomic_store(&r->shared.stop, true);
	worker_release(&r->shared);
	for (unsigned i = 0; i < r->started; i++) {
		struct worker *w = &r->worker[i];

		while (w->engine && !atomic_load(&w->done)) {
			r->engine->ops->wake(w->engine);
			nanosleep(&pause, NULL);
		}
		pthread_join(w->thread, NULL);
	}
}

/* --ledger: nothing that waits in a socket is left there; bounded, for a source that goes on. */
static void drain(const struct run *r)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t end = clock_mono() + DRAIN_NS;
	struct sock_memory m;

	for (unsigned i = 0; i < r->sampler.watched; i++)
		while (!sock_memory(r->sampler.set->sock[i].fd, &m) && m.rmem && clock_mono() < end)
			nanosleep(&pause, NULL);
}

/* What sources told any of the workers. */
static void account(struct run *r, struct report *report)
{
	struct trailers all = { 0 };

	for (unsigned i = 0; i < r->workers; i++)
		if (r->worker[i].handler.trailers)
			trailers_merge(&all, r->worker[i].handler.trailers);
	account_sum(&r->context->account, report, r->sampler.queued, &all);
}

static int final_report(struct run *r, struct err *err)
{
	const struct sink_conf *conf = r->context->setup->conf;
	struct report report;
	int rc;

	if (conf->interval)
		period(r, true);
	sampler_read(&r->sampler, &r->now);
	rc = dropped_take(&r->context->dropped, err);
	if (rc)
		return rc;
	rc = tally_sum(&report, r->context->setup, r->engine, r->index, &r->sampler, r->ready_ns);
	if (rc)
		return err_sys(err, rc, "memory for the report");
	report.drop_reasons = dropped_run(&r->context->dropped);
	account(r, &report);
	tally_demux(&report, r->context->header->guardian);
	rc = emit(r, &report);
	if (rc || r->failed)
		return err_sys(err, rc ? rc : EIO, "write the report to standard output");
	for (unsigned i = 0; i < r->workers; i++)
		if (r->worker[i].result) {
			*err = r->worker[i].err;
			return r->worker[i].result;
		}
	return 0;
}

static int receive(struct run *r, struct err *err)
{
	struct run_context *c = r->context;
	const struct sink_conf *conf = c->setup->conf;
	struct control_run loop = {
		.duration_ns = conf->duration, .interval_ns = conf->interval, .interval = run_interval,
		.sample = run_sample, .ended = run_ended, .data = r,
	};
	int rc = run_announce(c, err);

	sampler_read(&r->sampler, &r->before);
	r->ready_ns = r->before.mono_ns;
	if (rc)
		atomic_store(&r->shared.stop, true);
	worker_release(&r->shared);
	if (!rc)
		control_wait(c->control, &loop);
	if (conf->ledger && !rc && !run_ended(r))
		drain(r);
	join(r);
	log_progress(NULL);
	if (!rc)
		rc = final_report(r, err);
	return rc ? rc : counted_print(&c->counted, conf, err);
}

static int open_run(struct run *r, struct err *err)
{
	struct setup *s = r->context->setup;
	struct engine_run er = { .conf = &r->engine->conf, .set = s->set.sock ? &s->set : NULL };

	r->workers = s->workers;
	r->shared = (struct worker_shared){
		.ops = r->engine->ops, .conf = s->conf, .run = er, .sender = s->sender,
		.handler_bits = handler_bits(s->conf, r->engine->ops, s->dual, s->workers),
		.notify = control_notify, .notify_data = r->context->control,
		.gate = PTHREAD_MUTEX_INITIALIZER, .gate_moved = PTHREAD_COND_INITIALIZER,
	};
	r->worker = calloc(r->workers, sizeof(*r->worker));
	r->block = aligned_alloc(PAD_ALIGN, r->workers * sizeof(*r->block));
	if (!r->worker || !r->block || sampler_open(&r->sampler, r->worker, r->workers, er.set, &r->context->carry) ||
	    sample_new(&r->before, &r->sampler) || sample_new(&r->now, &r->sampler))
		return err_sys(err, ENOMEM, "memory for %u workers", r->workers);
	return 0;
}

static void close_run(struct run *r)
{
	for (unsigned i = 0; r->worker && i < r->workers; i++) {
		handler_close(&r->worker[i].handler);
		r->engine->ops->close(r->worker[i].engine);
	}
	sockset_forget(&r->context->setup->set);
	sample_free(&r->before);
	sample_free(&r->now);
	sampler_close(&r->sampler);
	free(r->worker);
	free(r->block);
}

static int work(struct run *r, struct err *err)
{
	int rc = start_workers(r, err);
	int met = meet(r, rc ? NULL : err);

	rc = rc ? rc : met;
	if (!rc)
		return receive(r, err);
	join(r);
	return rc;
}

int run_execute(struct run_context *c, const struct setup_engine *e, unsigned index, struct err *err)
{
	struct run r = { .context = c, .engine = e, .index = index };
	int rc = open_run(&r, err);

	if (!rc && e->ops->prepare)
		rc = e->ops->prepare(&r.shared.run, err);
	if (!rc) {
		rc = work(&r, err);
		if (e->ops->quiesce)
			e->ops->quiesce(&r.shared.run);
	}
	close_run(&r);
	if (e->ops->teardown)
		e->ops->teardown(&r.shared.run);
	return rc;
}
