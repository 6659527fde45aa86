/* SPDX-License-Identifier: MIT */
/*
 * sent - --sent-from: what udp_source --format json has written, for its sum records. Main thread, at the end of a run.
 */
#ifndef SINK_SENT_H
#define SINK_SENT_H

#include "base/err.h"
#include "counters/ledger.h"

/* Is this a file's name, or an open descriptor? Refuses a number that is none. */
int sent_check(const char *from, struct err *err);

/* Datagrams that a source sent to itself before its run, and in how many messages: they show in the counters of its namespace. */
struct sent_probes {
	uint64_t datagrams, messages;
};

/* Reads all there is and fills the source's part of *out: sent, refused, segments, trailers, what its host dropped; several sums are added up. *probes: of sources in namespace
 * netns (net/netns.h; 0 = not known). A file is
 * read from its begin, a descriptor up to its end, or for as long as something comes within a second. Nothing is known when there is no sum record
 * yet: -ENODATA with a sentence, as for what is no JSON. */
int sent_read(const char *from, uint64_t netns, struct ledger_facts *out, struct sent_probes *probes, struct err *err);

#endif
