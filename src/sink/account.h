/* SPDX-License-Identifier: MIT */
/*
 * account - --ledger: readings of the kernel at the edges of runs and intervals, and the ledger that they give with what the run itself has counted.
 * Control thread.
 *
 * The first window begins before the ready record is written, so that nothing sent after it is missed; the next one begins where the last has ended.
 */
#ifndef SINK_ACCOUNT_H
#define SINK_ACCOUNT_H

#include "counters/facts.h"
#include "sink/report.h"
#include "sink/trailers.h"

struct account {
	const struct setup *setup; /* NULL: no ledger was asked for */
	unsigned families;         /* enum facts_family */
	uint64_t netns;
	bool begun;
	unsigned runs;             /* that have ended */
	struct facts_reading begin, last, now; /* of the run; of the interval */
};

/* After the sockets are open. Nothing is read without --ledger. */
int account_open(struct account *a, const struct setup *setup, struct err *err);

/* Takes the reading that the first run begins with; later calls do nothing. */
int account_begin(struct account *a, struct err *err);

/* Adds the ledger of an interval to its report. queued: bytes in our receive buffers. A reading that fails leaves it out. */
void account_period(struct account *a, struct report *report, uint64_t queued);

/* Adds the ledger of a run that has ended, with what sources said. trailers: merged of all workers. The next run begins here. */
void account_sum(struct account *a, struct report *report, uint64_t queued, const struct trailers *trailers);

void account_close(struct account *a);

#endif
