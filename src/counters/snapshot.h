/* SPDX-License-Identifier: MIT */
/*
 * snapshot - the counters of the kernel at one time: two of them are the edges of a window. Control thread.
 *
 * The files are read one after the other, the protocol counters right after the time stamp: under traffic they differ by what came in between.
 */
#ifndef COUNTERS_SNAPSHOT_H
#define COUNTERS_SNAPSHOT_H

#include "counters/ethtool.h"
#include "counters/mib.h"
#include "counters/softnet.h"

/* What to read. */
struct snapshot_want {
	bool mib, softnet;
	const char *const *device; /* for their ethtool statistics */
	unsigned devices;
};

struct snapshot {
	uint64_t mono_ns;
	struct mib mib;
	struct softnet softnet;
	struct ethtool *ethtool; /* owned: one per device wanted */
	unsigned devices;
};

/* Takes the place of what *s held; zeroed before the first, and then always with the same want. 0 or -errno with a sentence; ends with
 * snapshot_free also on failure. */
int snapshot_read(struct snapshot *s, const struct snapshot_want *want, struct err *err);

void snapshot_free(struct snapshot *s);

#endif
