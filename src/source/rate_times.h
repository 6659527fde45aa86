/* SPDX-License-Identifier: MIT */
/*
 * rate_times - the plan whose datagrams have times of their own. For rate.c only, which is what others call.
 */
#ifndef SOURCE_RATE_TIMES_H
#define SOURCE_RATE_TIMES_H

#include "source/rate.h"

uint64_t rate_times_due(const struct rate_plan *plan, uint64_t k);

/* Datagrams due by ns, in between in proportion. k: those that are due before ns + 1. */
double rate_times_sum(const struct rate_plan *plan, uint64_t k, uint64_t ns);

#endif
