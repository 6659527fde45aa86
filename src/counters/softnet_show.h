/* SPDX-License-Identifier: MIT */
/*
 * softnet_show - prints what the CPUs' packet processing did in a window: a row per CPU, the sum, and by number the CPUs that dropped or were
 * squeezed. Control thread.
 */
#ifndef COUNTERS_SOFTNET_SHOW_H
#define COUNTERS_SOFTNET_SHOW_H

#include <stdio.h>

#include "counters/softnet.h"

/* Increments under the columns of softnet_stat.pl; "-" where one is not known. window: of softnet_since; ns: its length. */
void softnet_show_text(FILE *out, const struct softnet *window, uint64_t ns);

/* One JSON line: interval_ns, numbered, cpus, total, dropped_on, squeezed_on. Unknown is null. 0 or -errno. */
int softnet_show_json(FILE *out, const struct softnet *window, uint64_t ns);

#endif
