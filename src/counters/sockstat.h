/* SPDX-License-Identifier: MIT */
/*
 * sockstat - /proc/net/sockstat and sockstat6: how many datagrams are in reassembly in this network namespace. Levels, not counters. Any thread.
 */
#ifndef COUNTERS_SOCKSTAT_H
#define COUNTERS_SOCKSTAT_H

#include <stdint.h>

#include "counters/proc.h"

#define SOCKSTAT_UNKNOWN UINT64_MAX

struct sockstat {
	uint64_t frag, frag6; /* "FRAG: inuse", "FRAG6: inuse"; UNKNOWN where the file or the line is not there */
};

/* What cannot be read is unknown. text: memory that is used again, zeroed before the first; free it with proc_free. */
void sockstat_read(struct sockstat *out, struct proc_text *text);

#endif
