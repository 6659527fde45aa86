/* SPDX-License-Identifier: MIT */
#include "source/rate_times.h"

void rate_from_times(struct rate_plan *out, const uint64_t *times, uint64_t count, double speed)
{
	uint64_t span = times[count - 1], gap = count > 1 ? span / (count - 1) : 0;

	*out = (struct rate_plan){ .n = 1, .end_ns = UINT64_MAX, .total = UINT64_MAX, .times = times, .count = count, .period_ns = span + gap, .speed = speed };
}

/* Before the speed is taken into account. */
static uint64_t original(const struct rate_plan *plan, uint64_t k)
{
	uint64_t rounds = k / plan->count, ns;

	if (__builtin_mul_overflow(rounds, plan->period_ns, &ns) || __builtin_add_overflow(ns, plan->times[k % plan->count], &ns))
		return UINT64_MAX;
	return ns;
}

uint64_t rate_times_due(const struct rate_plan *plan, uint64_t k)
{
	uint64_t ns = original(plan, k);
	double scaled = (double)ns / plan->speed;

	if (ns == UINT64_MAX || scaled >= 0x1p63)
		return UINT64_MAX;
	return plan->speed == 1 ? ns : (uint64_t)scaled; /* a double is exact to 1 ns for 104 days */
}

double rate_times_sum(const struct rate_plan *plan, uint64_t k, uint64_t ns)
{
	uint64_t due, next;

	if (!k || k == UINT64_MAX)
		return (double)k;
	due = rate_times_due(plan, k - 1);
	next = rate_times_due(plan, k);
	/* k - 1 is the last that is due: number k follows it. */
	return (double)(k - 1) + (next > due ? (double)(ns - due) / (double)(next - due) : 0);
}
