/* SPDX-License-Identifier: MIT */
/*
 * rate - how many datagrams per second, and so when each is due: the plan behind --rate.
 *
 *   "500k"                     datagrams per second, for as long as the run lasts
 *   "30Mbit"                   bits of UDP payload per second; a datagram counts with the mean size
 *   "100k:5s,500k:5s"          steps
 *   "100k..2M/30s"             a ramp, linear in time
 *   "100k:5s,100k..1M/10s,1M"  one after the other; what has no time is the last and goes on
 *
 * One definition for all of them: datagram k is due when the rate, summed up over time, reaches k. The plan is a list of segments with the sum at the
 * beginning of each, so that the time follows from k alone: no rounding adds up, and threads that take different k share a plan exactly. Within a steady
 * segment it is exact integer arithmetic, rounded down to the ns; in a ramp the root of a quadratic equation in double precision, better than 1 ns up to 100
 * days. Sums are kept in whole datagrams and 10^-15 ("femto") of one. Pure functions, any thread.
 */
#ifndef SOURCE_RATE_H
#define SOURCE_RATE_H

#include "base/err.h"

/* Rates are whole millionths of a datagram per second, so that one given in bits is as good as exact. */
#define RATE_UNIT 1000000
#define RATE_MOST 1000000000 /* datagrams per second */
#define RATE_FEMTO UINT64_C(1000000000000000) /* parts of a datagram in sums */
#define RATE_SEGMENTS 64
#define RATE_LONGEST_NS UINT64_C(1000000000000000000) /* of a finite plan: 31 years */

struct rate_segment {
	uint64_t start_ns;  /* since the plan began */
	uint64_t ns;        /* how long; UINT64_MAX: for ever */
	uint64_t from, to;  /* rates at its ends, in millionths; equal: steady. 0 is a pause */
	uint64_t first;     /* number of the first datagram that is due here or later */
	uint64_t lead;      /* femto datagrams by which the sum at start_ns is short of `first` */
};

struct rate_plan {
	unsigned n;         /* segments; 0: there is no plan, datagrams go as fast as they can */
	struct rate_segment segment[RATE_SEGMENTS];
	uint64_t end_ns;    /* UINT64_MAX: it goes on for ever */
	uint64_t total;     /* datagrams that are due before end_ns; UINT64_MAX: no end */
	/* Times of a capture instead of segments: rate_from_times. */
	const uint64_t *times; /* NULL: segments */
	uint64_t count, period_ns;
	double speed;
};

/* mean: bytes of payload, for rates in bits. -EINVAL with a sentence that names --rate. */
int rate_parse(const char *text, double mean, struct rate_plan *out, struct err *err);

/* A plan where datagram k has the time times[k % count], again and again with a mean gap between the last and the first, all of it `speed` times as fast. times:
 * ns, never falling, the first 0; borrowed. There is no end. */
void rate_from_times(struct rate_plan *out, const uint64_t *times, uint64_t count, double speed);

/* One rate and no end. */
static inline int rate_is_steady(const struct rate_plan *plan)
{
	return plan->n == 1 && plan->segment[0].ns == UINT64_MAX;
}

/* When datagram k < total is due, in ns since the plan began. UINT64_MAX: not within 500 years. */
uint64_t rate_due(const struct rate_plan *plan, uint64_t k);

/* Datagrams per second when datagram k is due. With times 0: each has its own, so that nothing goes out together. */
double rate_at(const struct rate_plan *plan, uint64_t k);

/* The first number behind the segment that k belongs to; UINT64_MAX: there is none. */
uint64_t rate_segment_end(const struct rate_plan *plan, uint64_t k);

/* Datagrams that are due before ns; UINT64_MAX stands for the end of time. */
uint64_t rate_before(const struct rate_plan *plan, uint64_t ns);

/* The sum at ns, in datagrams and parts of one. */
double rate_sum(const struct rate_plan *plan, uint64_t ns);

#endif
