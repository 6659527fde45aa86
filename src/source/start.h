/* SPDX-License-Identifier: MIT */
/*
 * start - several hosts begin together: --start-at TIME, --start-on-stdin.
 *
 * TIME is one of
 *   "HH:MM:SS[.fraction]"  the next time the wall clock (local time) shows this, within 12 hours; a time of the last 12 hours is refused as over
 *   "+5s"                  from when the program was started
 *   "@1700000000.5"        seconds since 1970
 */
#ifndef SOURCE_START_H
#define SOURCE_START_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Waiting on the wall clock ends so long before the time; the rest is waited for on CLOCK_MONOTONIC, which nobody sets. */
#define START_LAST_NS 10000000

struct start {
	uint64_t at_ns;  /* CLOCK_REALTIME; 0 = no time was given */
	bool on_stdin;
};

/* text: TIME; now_ns: CLOCK_REALTIME. -EINVAL with a sentence that names --start-at. */
int start_parse(const char *text, uint64_t now_ns, uint64_t *at_ns, struct err *err);

/* Waits for the time, or for a line or the end of standard input. The signals of `ending` are blocked; one of them ends the wait: *signalled. *base_ns:
 * when to begin, on CLOCK_MONOTONIC, within START_LAST_NS from now; with on_stdin it is now. Returns 0 or -errno. Main thread. */
int start_wait(const struct start *start, const sigset_t *ending, uint64_t *base_ns, bool *signalled, struct err *err);

#endif
