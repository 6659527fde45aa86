/* SPDX-License-Identifier: MIT */
/*
 * ledger_count - the first half of the ledger: what was counted at each place, in the units of its counter, overlaps taken out. For ledger.c alone. Pure functions.
 */
#ifndef COUNTERS_LEDGER_COUNT_H
#define COUNTERS_LEDGER_COUNT_H

#include "counters/ledger.h"

/* What was counted at a place; high UNKNOWN: no limit. */
struct ledger_count {
	uint64_t low, high;
};

static inline bool ledger_known(uint64_t n)
{
	return n != LEDGER_UNKNOWN;
}

/* Unknown stays unknown. */
static inline uint64_t ledger_plus(uint64_t a, uint64_t b)
{
	return ledger_known(a) && ledger_known(b) ? a + b : LEDGER_UNKNOWN;
}

/* Never below 0: counters are not read at the same moment. */
static inline uint64_t ledger_minus(uint64_t a, uint64_t b)
{
	return ledger_known(a) && ledger_known(b) ? (a > b ? a - b : 0) : LEDGER_UNKNOWN;
}

static inline struct ledger_count ledger_just(uint64_t n)
{
	return ledger_known(n) ? (struct ledger_count){ n, n } : (struct ledger_count){ 0, LEDGER_UNKNOWN };
}

/* Does the namespace's count agree with what our sockets say, so that it can be taken for ours? Needs l->facts and l->others. */
bool ledger_count_alone(const struct ledger *l);

/* Fills c, LEDGER_N entries. Needs l->alone too. */
void ledger_count_places(const struct ledger *l, struct ledger_count *c);

#endif
