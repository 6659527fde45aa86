/* SPDX-License-Identifier: MIT */
/*
 * trailers - what sources say at their end (udp_source --trailer): how many datagrams they sent, so that what was lost last is known too.
 *
 * Written by one worker; read after it was joined. One trailer of a run is enough; the latest of each run counts.
 */
#ifndef SINK_TRAILERS_H
#define SINK_TRAILERS_H

#include "net/seqhdr.h"

#define TRAILERS_RUNS 32

struct trailers {
	unsigned n;
	struct trailers_run {
		uint32_t run;
		struct seqhdr_sums sums;
	} run[TRAILERS_RUNS];
	uint64_t unread; /* cut off, or of a run that found no room */
};

/* Can a datagram of this length be one? */
static inline bool trailers_fits(uint32_t len)
{
	return len == SEQHDR_TRAILER_SIZE;
}

/* True: this payload is a trailer, and what it says is noted. */
bool trailers_take(struct trailers *t, const void *payload, size_t len);

/* sum = what either has heard. */
void trailers_merge(struct trailers *sum, const struct trailers *part);

/* All runs as one: datagrams, trailers sent up to the last ones heard (these among them) and to come; most segments. Of probes only those of namespace netns.
 * False: there is no trailer, or one could not be read. */
bool trailers_total(const struct trailers *t, uint64_t netns, struct seqhdr_sums *out);

#endif
