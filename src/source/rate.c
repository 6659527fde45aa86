/* SPDX-License-Identifier: MIT */
#include "source/rate.h"

#include <math.h>

#include "base/clock.h"
#include "source/rate_times.h"

static double pps(uint64_t millionths)
{
	return (double)millionths / RATE_UNIT;
}

/* How much faster it gets in each second. */
static double slope(const struct rate_segment *s)
{
	return (pps(s->to) - pps(s->from)) / ((double)s->ns / (double)NSEC_PER_SEC);
}

/* The segment that datagram k belongs to: pauses have none, so it is the last that begins with k or before. */
static const struct rate_segment *find(const struct rate_plan *plan, uint64_t k)
{
	const struct rate_segment *s = &plan->segment[plan->n - 1];

	while (s > plan->segment && s->first > k)
		s--;
	return s;
}

/* (n + lead / 10^15) datagrams at one rate take so many ns, rounded down: n * 10^15 / rate by long division, as 64 bits do not hold the product. A rate is
 * at most 10^15 millionths, so the rest times 1000 fits. */
static uint64_t steady(uint64_t n, uint64_t lead, uint64_t rate)
{
	uint64_t ns = n / rate, rest = n % rate;

	if (ns >= UINT64_MAX / RATE_FEMTO)
		return UINT64_MAX;
	for (unsigned i = 0; i < 5; i++) {
		rest *= 1000;
		ns = ns * 1000 + rest / rate;
		rest %= rate;
	}
	return ns + (rest + lead) / rate;
}

/* x = a t + g t^2 / 2 for t in s; in this form nothing cancels out, whichever way the ramp goes. */
static double ramp(double x, double a, double g)
{
	return x > 0 ? 2 * x / (a + sqrt(fmax(a * a + 2 * g * x, 0))) : 0;
}

/* Datagrams of a segment up to number k, k among them. */
static double inside(const struct rate_segment *s, uint64_t k)
{
	return (double)(k - s->first) + (double)s->lead / (double)RATE_FEMTO;
}

uint64_t rate_due(const struct rate_plan *plan, uint64_t k)
{
	const struct rate_segment *s = find(plan, k);
	uint64_t ns;

	if (plan->times)
		return rate_times_due(plan, k);
	if (s->from == s->to)
		ns = steady(k - s->first, s->lead, s->from);
	else
		ns = (uint64_t)fmin(ramp(inside(s, k), pps(s->from), slope(s)) * (double)NSEC_PER_SEC, (double)s->ns - 1);
	return ns > UINT64_MAX - s->start_ns ? UINT64_MAX : s->start_ns + ns;
}

double rate_at(const struct rate_plan *plan, uint64_t k)
{
	const struct rate_segment *s = find(plan, k);
	double a = pps(s->from);

	if (plan->times)
		return 0;
	return s->from == s->to ? a : sqrt(fmax(a * a + 2 * slope(s) * inside(s, k), 0));
}

uint64_t rate_segment_end(const struct rate_plan *plan, uint64_t k)
{
	const struct rate_segment *s = find(plan, k);

	return s == &plan->segment[plan->n - 1] ? plan->total : s[1].first;
}

uint64_t rate_before(const struct rate_plan *plan, uint64_t ns)
{
	uint64_t low = 0, high = plan->total;

	if (ns >= plan->end_ns)
		return high;
	/* The first k that is not due before ns. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (rate_due(plan, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double rate_sum(const struct rate_plan *plan, uint64_t ns)
{
	const struct rate_segment *s = &plan->segment[plan->n - 1];
	double t;

	if (plan->times)
		return rate_times_sum(plan, rate_before(plan, ns == UINT64_MAX ? ns : ns + 1), ns);
	while (s > plan->segment && s->start_ns > ns)
		s--;
	t = (double)(ns - s->start_ns < s->ns ? ns - s->start_ns : s->ns) / (double)NSEC_PER_SEC;
	return (double)s->first - (double)s->lead / (double)RATE_FEMTO + pps(s->from) * t + (s->from == s->to ? 0 : slope(s) * t * t / 2);
}
