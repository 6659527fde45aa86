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

void pacer_init(struct pacer *p, const struct pacer_clock *clock, uint64_t rate, unsigned thread,
		unsigned threads, unsigned atom, unsigned most)
{
	uint64_t due = rate * PACER_BURST_NS / NSEC_PER_SEC / threads;

	*p = (struct pacer){ .clock = clock, .rate = rate, .threads = threads };
	p->burst = MAX(MIN(due, most) / atom, 1) * atom;
	p->position = (uint64_t)thread * p->burst;
}

void pacer_start(struct pacer *p, uint64_t base)
{
	p->base = base;
}

uint64_t pacer_deadline(const struct pacer *p)
{
	/* Whole seconds apart, so that 64 bits are enough: the rest is below rate <= 1e9. */
	return p->base + p->position / p->rate * NSEC_PER_SEC +
	       p->position % p->rate * NSEC_PER_SEC / p->rate;
}

static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < 8)
		return ns;
	power = 63 - __builtin_clzll(ns);
	return MIN((power - 1) * 4 + (ns >> (power - 2) & 3), PACER_BUCKETS - 1);
}

static uint64_t bucket_top(unsigned bucket)
{
	unsigned power = bucket / 4 + 1;

	if (bucket < 8)
		return bucket;
	return ((UINT64_C(4) + bucket % 4 + 1) << (power - 2)) - 1;
}

static void record(struct pacer *p, uint64_t now, uint64_t late, unsigned n)
{
	if (!p->bursts++)
		p->first_ns = now;
	p->last_ns = now;
	p->last_burst = n;
	p->scheduled += n;
	p->run += n;
	p->largest = MAX(p->largest, p->run);
	p->late += late > PACER_LATE_NS;
	p->late_max_ns = MAX(p->late_max_ns, late);
	p->bucket[bucket_of(late)]++;
}

/* Returns the time, at or after due; 0 = stopped. */
static uint64_t wait_until(struct pacer *p, uint64_t due, const atomic_bool *stop)
{
	const struct pacer_clock *c = p->clock;
	uint64_t now = c->now(c->data);

	if (now < due)
		p->run = 0;
	while (now < due) {
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return 0;
		if (due - now > PACER_SPIN_NS)
			c->sleep_until(c->data, MIN(due - PACER_SPIN_NS, now + PACER_SLICE_NS));
		now = c->now(c->data);
	}
	return now;
}

unsigned pacer_wait(struct pacer *p, unsigned want, const atomic_bool *stop)
{
	unsigned n = MIN(want, p->burst);
	uint64_t due = pacer_deadline(p), now = wait_until(p, due, stop);

	if (!now)
		return 0;
	if (now - due > PACER_CATCHUP_NS) {
		p->moved++;
		p->moved_ns += now - due;
		p->base += now - due;
	}
	record(p, now, now - due, n);
	p->position += (uint64_t)n * p->threads;
	return n;
}

double pacer_achieved(const struct pacer *p)
{
	if (p->last_ns <= p->first_ns)
		return NAN;
	return (double)(p->scheduled - p->last_burst) * (double)NSEC_PER_SEC /
	       (double)(p->last_ns - p->first_ns);
}

void pacer_add(struct pacer *sum, const struct pacer *p)
{
	sum->bursts += p->bursts;
	sum->late += p->late;
	sum->moved += p->moved;
	sum->moved_ns += p->moved_ns;
	sum->largest = MAX(sum->largest, p->largest);
	sum->late_max_ns = MAX(sum->late_max_ns, p->late_max_ns);
	for (unsigned i = 0; i < PACER_BUCKETS; i++)
		sum->bucket[i] += p->bucket[i];
}

uint64_t pacer_permille(const struct pacer *p, unsigned permille)
{
	uint64_t rank = (p->bursts * permille + 999) / 1000, seen = 0;

	for (unsigned i = 0; i < PACER_BUCKETS; i++) {
		seen += p->bucket[i];
		if (seen && seen >= rank)
			return MIN(bucket_top(i), p->late_max_ns);
	}
	return 0;
}
