/* SPDX-License-Identifier: MIT */
/*
 * nstat - prints what the protocol counters have grown by in a window, in the form of nstat(8) (iproute2, misc/nstat.c), with what that lacks: a
 * rate from our own time stamps, and in JSON the mark of a counter that went backwards. No history file is read or written. Control thread.
 *
 * A counter that only the later reading has began at 0: the kernel leaves out some (IcmpMsg..., Icmp6OutType...) until they count. Counters of 64
 * bits.
 */
#ifndef COUNTERS_NSTAT_H
#define COUNTERS_NSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "counters/mib.h"

struct nstat_view {
	bool zeros;                 /* also counters that did not change */
	const char *const *pattern; /* shell globs, case ignored; none = all counters */
	unsigned patterns;
};

/* "#kernel", then per counter its name, increment, and rate per second of ns. " (overflow)" behind one that went backwards, which is shown
 * without zeros too. */
void nstat_text(FILE *out, const struct mib *from, const struct mib *to, uint64_t ns, const struct nstat_view *view);

/* The same as one JSON line: kernel, rate (null where the counter went backwards), interval_ns, wrapped. 0 or -errno. */
int nstat_json(FILE *out, const struct mib *from, const struct mib *to, uint64_t ns, const struct nstat_view *view);

#endif
