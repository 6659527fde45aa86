/* SPDX-License-Identifier: MIT */
/*
 * sequence - order, gaps and duplicates of the streams of udp_source (net/seqhdr.h), four things kept apart.
 *
 * Per stream the highest number so far and a bitmap of the SEQUENCE_WINDOW numbers below it: a number that is new and higher is
 * in order (what it jumped over is skipped), one inside the window is reordered or a duplicate, an older one is stale. A stream may
 * begin at any number. Missing at any time = skipped - reordered; what comes after the last datagram received cannot be
 * seen here, so it is a lower bound. A trailer (udp_source --trailer) is no datagram of the test: it tells how many numbers its stream had, and
 * those that did not come before it are skipped; from then on the bound is exact at that end. Written by one worker: all datagrams of a stream
 * must come to the same worker.
 */
#ifndef SINK_SEQUENCE_H
#define SINK_SEQUENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "net/seqhdr.h"
#include "sink/stats.h"

#define SEQUENCE_WINDOW 256

struct sequence;

/* run: shared by all workers of a run; 0, or bit 32 and the run id of the first datagram with a header: datagrams of another run are foreign. */
struct sequence *sequence_new(atomic_uint_least64_t *run);
void sequence_free(struct sequence *s);

/* Looks at one payload and counts it in *stats. Returns false when it is no datagram of the test: foreign, or a trailer. */
bool sequence_check(struct sequence *s, const void *payload, size_t len, struct stats *stats);

#endif
