/* SPDX-License-Identifier: MIT */
/*
 * pktgen - checks the header of the kernel's packet generator, as netoptimizer's udp_sink --check-pktgen does.
 *
 * Level 1: magic number, and not older than the header before it. Level 2: also that the header repeats unchanged through the
 * payload. Level 3: also that each sequence number follows the one before. Written by one worker.
 */
#ifndef SINK_PKTGEN_H
#define SINK_PKTGEN_H

#include "net/seqhdr.h"
#include "sink/stats.h"

struct pktgen {
	int level;
	bool started;
	struct pktgenhdr last;
};

/* Looks at one payload (stored bytes) and counts in *stats. */
void pktgen_check(struct pktgen *p, const void *payload, size_t len, struct stats *stats);

#endif
