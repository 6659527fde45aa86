/* SPDX-License-Identifier: MIT */
#include "source/pacer.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"

static uint64_t real_now(void *data UNUSED)
{
	return clock_mono();
}

static void real_sleep_until(void *data UNUSED, uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

const struct pacer_clock pacer_monotonic = { .now = real_now, .sleep_until = real_sleep_until };

/* What goes out at one deadline, ns. */
static const uint64_t burst_ns[] = {
	[PACER_HYBRID] = PACER_BURST_NS, [PACER_SLEEP] = PACER_SLEEP_BURST_NS, [PACER_SPIN] = PACER_BURST_NS,
	[PACER_TXTIME] = PACER_QUEUE_NS, [PACER_FQ] = PACER_QUEUE_NS,
};

void pacer_init(struct pacer *p, const struct pacer_conf *conf)
{
	*p = (struct pacer){ .conf = *conf, .block = conf->burst ? conf->burst : conf->atom };
}

void pacer_start(struct pacer *p, uint64_t base)
{
	const struct pacer_conf *c = &p->conf;
	uint64_t gap = c->plan->n ? (uint64_t)((double)NSEC_PER_SEC * c->threads / MAX(rate_at(c->plan, pacer_number(p, 0)), 1)) : 0;

	p->base = p->begin = base;
	p->margin = MAX(MIN(gap / 4, PACER_MARGIN_FIRST_NS), PACER_MARGIN_LEAST_NS);
}

uint64_t pacer_share(const struct pacer *p, uint64_t count)
{
	uint64_t round = (uint64_t)p->block * p->conf.threads, before = (uint64_t)p->block * p->conf.thread, rest = count % round;

	if (count == UINT64_MAX)
		return count;
	return count / round * p->block + (rest > before ? MIN(rest - before, p->block) : 0);
}

uint64_t pacer_number(const struct pacer *p, uint64_t i)
{
	return (i / p->block * p->conf.threads + p->conf.thread) * p->block + i % p->block;
}

uint64_t pacer_due(const struct pacer *p, uint64_t i)
{
	return p->base + rate_due(p->conf.plan, pacer_number(p, i));
}

/* Datagrams that go out together with number k, the thread's next one. */
static uint64_t burst_size(const struct pacer *p, uint64_t k)
{
	const struct pacer_conf *c = &p->conf;
	uint64_t blocks, left;

	if (c->burst)
		return c->burst;
	blocks = (uint64_t)(rate_at(c->plan, k) * (double)burst_ns[c->mode] / (double)NSEC_PER_SEC / c->threads / p->block);
	blocks = MIN(blocks, c->most / p->block);
	if (!p->next)
		blocks = blocks * (c->thread + 1) / c->threads;
	/* Behind the end of a segment the rate is another one. */
	left = (rate_segment_end(c->plan, k) - k - 1) / ((uint64_t)p->block * c->threads) + 1;
	return MAX(MIN(blocks, left), 1) * p->block;
}

struct wait {
	const struct pacer_clock *clock;
	uint64_t due, spin_ns; /* sleep ends so long before */
	bool waited;           /* out: it was not that late yet */
	uint64_t overslept;    /* out: so long after the end of the sleep; UINT64_MAX: there was none */
};

/* Returns the time, at or after due; 0 = stopped. */
static uint64_t wait_until(struct wait *w, const atomic_bool *stop)
{
	const struct pacer_clock *c = w->clock;
	uint64_t now = c->now(c->data);

	w->waited = now < w->due;
	w->overslept = UINT64_MAX;
	while (now < w->due && w->due - now > w->spin_ns) {
		uint64_t end = w->due - w->spin_ns;

		if (atomic_load_explicit(stop, memory_order_relaxed))
			return 0;
		c->sleep_until(c->data, MIN(end, now + PACER_SLICE_NS));
		now = c->now(c->data);
		w->overslept = clock_elapsed(end, now);
	}
	while (now < w->due) {
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return 0;
		now = c->now(c->data);
	}
	return now;
}

static uint64_t spin_ns(const struct pacer *p)
{
	return p->conf.mode == PACER_HYBRID ? p->margin : p->conf.mode == PACER_SPIN ? UINT64_MAX : 0;
}

static void learn_margin(struct pacer *p, uint64_t overslept)
{
	uint64_t wanted = overslept + overslept / 4;

	p->margin = wanted > p->margin ? wanted : p->margin - (p->margin - wanted) / 32;
	p->margin = MAX(MIN(p->margin, PACER_MARGIN_MOST_NS), PACER_MARGIN_LEAST_NS);
}

bool pacer_hold(const struct pacer_clock *clock, uint64_t ns, const atomic_bool *stop)
{
	struct wait w = { .clock = clock, .due = ns, .spin_ns = PACER_MARGIN_FIRST_NS };

	return wait_until(&w, stop);
}

static void record(struct pacer *p, uint64_t now, uint64_t late)
{
	hist_record(&p->lateness, late);
	if (p->bursts++)
		hist_record(&p->gap, late > p->late_before ? late - p->late_before : p->late_before - late);
	else
		p->first_ns = now;
	p->last_ns = now;
	p->before_last = p->next;
	p->on_time += late <= PACER_ON_TIME_NS;
	p->late += late > PACER_LATE_NS;
	p->late_before = late;
}

/* Waits for the next burst and settles its size. */
static bool begin_burst(struct pacer *p, const atomic_bool *stop)
{
	uint64_t k = pacer_number(p, p->next), due = p->base + rate_due(p->conf.plan, k), now, late;
	struct wait w = { .clock = p->conf.clock, .due = due - p->conf.ahead_ns, .spin_ns = spin_ns(p) };

	now = wait_until(&w, stop);
	if (!now)
		return false;
	if (w.overslept != UINT64_MAX)
		learn_margin(p, w.overslept);
	late = clock_elapsed(due, now);
	if (w.waited)
		p->run = 0;
	record(p, now, late);
	if (late > PACER_CATCHUP_NS) {
		p->moved++;
		p->moved_ns += late;
		p->base += late;
		p->late_before = 0;
	}
	p->pending = burst_size(p, k);
	return true;
}

unsigned pacer_wait(struct pacer *p, unsigned want, const atomic_bool *stop)
{
	unsigned n;

	if (!p->pending && !begin_burst(p, stop))
		return 0;
	n = (unsigned)MIN(want, p->pending);
	p->pending -= n;
	p->next += n;
	p->run += n;
	p->largest = MAX(p->largest, p->run);
	return n;
}

void pacer_add(struct pacer *sum, const struct pacer *p)
{
	if (!p->bursts)
		return;
	if (!sum->bursts)
		*sum = (struct pacer){ .conf = p->conf, .begin = p->begin, .first_ns = p->first_ns };
	/* What was released before the last burst of all. */
	sum->before_last = p->last_ns >= sum->last_ns ? sum->next + p->before_last : sum->before_last + p->next;
	sum->next += p->next;
	sum->bursts += p->bursts;
	sum->on_time += p->on_time;
	sum->late += p->late;
	sum->moved += p->moved;
	sum->moved_ns += p->moved_ns;
	sum->largest = MAX(sum->largest, p->largest);
	sum->first_ns = MIN(sum->first_ns, p->first_ns);
	sum->last_ns = MAX(sum->last_ns, p->last_ns);
	hist_add(&sum->lateness, &p->lateness);
	hist_add(&sum->gap, &p->gap);
}

double pacer_released(const struct pacer *p)
{
	if (p->last_ns <= p->first_ns)
		return NAN;
	return (double)p->before_last * (double)NSEC_PER_SEC / (double)(p->last_ns - p->first_ns);
}

double pacer_target(const struct pacer *p)
{
	const struct rate_plan *plan = p->conf.plan;
	uint64_t from, until;

	if (p->last_ns <= p->first_ns)
		return NAN;
	if (rate_is_steady(plan))
		return rate_at(plan, 0);
	from = rate_due(plan, 0);
	until = MIN(p->last_ns - p->begin, plan->end_ns);
	return (rate_sum(plan, until) - rate_sum(plan, from)) * (double)NSEC_PER_SEC / (double)(until - from);
}
