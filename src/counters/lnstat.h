/* SPDX-License-Identifier: MIT */
/*
 * lnstat - the tables under /proc/net/stat (rt_cache, nf_conntrack, arp_cache) as lnstat(8) shows them: a line of titles, then a row of hexadecimal
 * numbers of 32 bits per CPU. Any thread.
 *
 * The first column (entries) is a level, the same in every row. The others are counters, summed over the CPUs: of the network namespace in
 * nf_conntrack, of the whole host in rt_cache and arp_cache.
 */
#ifndef COUNTERS_LNSTAT_H
#define COUNTERS_LNSTAT_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/proc.h"

struct lnstat_field {
	const char *name; /* in the text of the lnstat */
	uint64_t value;
};

struct lnstat {
	struct lnstat_field *field; /* owned */
	unsigned n, room;
	struct proc_text text;
};

/* table: "nf_conntrack". Takes the place of what *l held; zeroed before the first. -ENOENT: this kernel has no such table, or its module is not
 * loaded. 0 or -errno with a sentence; ends with lnstat_free also on failure. */
int lnstat_read(struct lnstat *l, const char *table, struct err *err);

/* False: there is no such column. */
bool lnstat_get(const struct lnstat *l, const char *name, uint64_t *value);

/* What a column has grown by (modulo 2^32); of the first, the level of `to`. False: one of the two lacks it. */
bool lnstat_since(const struct lnstat *from, const struct lnstat *to, const char *name, uint64_t *increment);

void lnstat_free(struct lnstat *l);

#endif
