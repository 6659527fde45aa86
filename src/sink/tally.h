/* SPDX-License-Identifier: MIT */
/*
 * tally - fills a struct report from samples and from workers that have ended. Control thread.
 */
#ifndef SINK_TALLY_H
#define SINK_TALLY_H

#include "sink/report.h"

/* An interval: the difference of two samples. ready_ns: CLOCK_MONOTONIC when the run was ready. 0 or -ENOMEM. */
int tally_period(struct report *out, const struct setup *setup, const struct setup_engine *engine, unsigned run,
		 const struct sampler *sampler, const struct sample *before, const struct sample *now, uint64_t ready_ns);

/* A whole run, after its workers were joined: each worker's own window, from its first to its last datagram. */
int tally_sum(struct report *out, const struct setup *setup, const struct setup_engine *engine, unsigned run,
	      const struct sampler *sampler, uint64_t ready_ns);

/* Early demux as it was: values, and to how many of our sockets it could apply (FACTS: only connected ones, one per local address and port,
 * never on lo). */
void tally_demux(struct report *out, const struct guardian *guardian);

void tally_free(struct report *report);

#endif
