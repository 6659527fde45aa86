/* SPDX-License-Identifier: MIT */
/*
 * hist - a histogram of durations for percentiles: sixteen buckets per power of two, so that a percentile is at most 1/16 too high. Constant
 * time and memory, no allocation. One owner thread; read by others after it has ended.
 */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

/* 16 exact ones, then up to 2^39: in ns 9 minutes. The last one has the rest and answers with the largest. */
#define HIST_BUCKETS (16 * 36)

struct hist {
	uint64_t n;    /* values */
	uint64_t max;  /* the largest, exact */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_record(struct hist *h, uint64_t value);

/* *sum += *h */
void hist_add(struct hist *sum, const struct hist *h);

/* What so many of a thousand values did not exceed: an upper bound, at most 1/16 too high and never above max. 0 without values. */
uint64_t hist_permille(const struct hist *h, unsigned permille);

#endif
