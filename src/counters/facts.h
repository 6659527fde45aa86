/* SPDX-License-Identifier: MIT */
/*
 * facts - what the kernel of the receiving host has counted between two readings, as the ledger wants it. Control thread; about its network namespace.
 *
 * The files are read one after the other: only when nothing arrives do they fit together to the last datagram.
 */
#ifndef COUNTERS_FACTS_H
#define COUNTERS_FACTS_H

#include "counters/ledger.h"
#include "counters/link.h"
#include "counters/mib.h"
#include "counters/sockstat.h"
#include "counters/softnet.h"

/* One reading. Zeroed before the first; its memory is used again by the next. */
struct facts_reading {
	struct mib mib;
	struct sockstat sockstat;
	struct link_lost link;
	bool has_link;
	struct softnet softnet; /* of the whole host */
	bool has_softnet;
	struct proc_text text;
};

enum facts_family { FACTS_V4 = 1, FACTS_V6 = 2 };

/* Fails only where /proc/net/snmp cannot be read; what else cannot be is unknown. */
int facts_read(struct facts_reading *r, struct err *err);

/* Fills the kernel's part of *out: of the families (enum facts_family), of UDP-Lite with lite. A counter that is missing in one of the two readings, or went
 * backwards, is unknown. */
void facts_since(const struct facts_reading *now, const struct facts_reading *before, unsigned families, bool lite, struct ledger_facts *out);

void facts_free(struct facts_reading *r);

#endif
