/* SPDX-License-Identifier: MIT */
#include "source/target.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A thread that uses so much of its time on a CPU has none left. */
#define BUSY 0.9

enum target target_verdict(const struct report *r)
{
	double target = r->target;

	if (!r->conf->rate.n || r->signalled || isnan(r->achieved) || r->pace.last_ns - r->pace.first_ns < TARGET_LEAST_NS)
		return TARGET_UNKNOWN;
	return fabs(r->achieved - target) > TARGET_TOLERANCE * target ? TARGET_MISSED : TARGET_MET;
}

/* CPU time of the threads as a part of the time they ran. */
static double busy(const struct report *r)
{
	uint64_t wall = 0;

	for (unsigned i = 0; i < r->n; i++)
		wall += clock_elapsed(r->thread[i].start_ns, r->thread[i].end_ns);
	return wall ? (double)r->total.cpu_ns / (double)wall : 0;
}

static const struct stats_errno *most_refused(const struct stats *s)
{
	unsigned most = 0;

	for (unsigned i = 1; i < STATS_ERRNOS; i++)
		if (s->refused[i] > s->refused[most])
			most = i;
	return &stats_errno[most];
}

static void refused(const struct stats *s, char *buf, size_t size)
{
	const struct stats_errno *e = most_refused(s);

	snprintf(buf, size, "; the kernel refused %" PRIu64 " of %" PRIu64 " datagrams, most with %s%s%s%s", stats_refused_total(s), stats_attempted(s),
		 e->name, e->hint ? " (" : "", e->hint ? e->hint : "", e->hint ? ")" : "");
}

char *target_sentence(const struct report *r, char *buf, size_t size)
{
	const struct stats *s = &r->total.stats;
	char why[320] = "";

	if ((double)stats_refused_total(s) > TARGET_TOLERANCE * (double)stats_attempted(s))
		refused(s, why, sizeof(why));
	else if (r->pace.moved)
		snprintf(why, sizeof(why), "; the schedule was moved %" PRIu64 " time%s, by %.3f s in all, as %s", r->pace.moved, r->pace.moved > 1 ? "s" : "",
			 (double)r->pace.moved_ns / (double)NSEC_PER_SEC,
			 busy(r) > BUSY ? "sending took all the CPU time of the threads: more --threads, a larger --batch or --gso may help"
					: "the threads waited for a CPU, or for room in the send buffer");
	snprintf(buf, size, "the rate was missed: %.1f instead of %.1f datagrams per second%s", r->achieved, r->target, why);
	return buf;
}
