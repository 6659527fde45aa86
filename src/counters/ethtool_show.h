/* SPDX-License-Identifier: MIT */
/*
 * ethtool_show - prints what a driver's statistics have grown by in a window, in the lines of ethtool_stats.pl. Only what changed, sorted by name.
 * A counter that one of the two readings lacks is left out; those of the same name are added up. Control thread.
 */
#ifndef COUNTERS_ETHTOOL_SHOW_H
#define COUNTERS_ETHTOOL_SHOW_H

#include <stdio.h>

#include "counters/ethtool.h"

/* Rates per second of ns, rounded. " (overflow)" behind a counter that went backwards. 0 or -ENOMEM. */
int ethtool_show_text(FILE *out, const struct ethtool *from, const struct ethtool *to, uint64_t ns);

/* One JSON line: device, counters (increments), rate (null where one went backwards), interval_ns, wrapped. 0 or -errno. */
int ethtool_show_json(FILE *out, const struct ethtool *from, const struct ethtool *to, uint64_t ns);

#endif
