/* SPDX-License-Identifier: MIT */
/*
 * spread - source ports so that the flows fall evenly on the receive queues of the receiver's network card, or on the workers of udp_sink --connect-each.
 *
 * Flow i is to fall on queue i % queues. Its port is the next one for which that is so, among --src-ports or, when they were not given, those of
 * net.ipv4.ip_local_port_range. Main thread.
 */
#ifndef SOURCE_SPREAD_H
#define SOURCE_SPREAD_H

#include "net/range.h"
#include "net/rss.h"

enum spread_kind { SPREAD_NONE, SPREAD_RSS, SPREAD_SINK };

struct spread_plan {
	enum spread_kind kind;
	unsigned queues;      /* or workers */
	const char *device;   /* whose key and table are in rss; NULL: none. Part of the text that was parsed */
	struct rss rss;       /* SPREAD_RSS */
};

/* "rss:Q", "rss:Q:DEV", "sink:N"; others are refused with the reason. Ends with spread_plan_free also on failure. key: of --rss-key, NULL: that of the
 * device, or the standard one. */
int spread_parse(const char *text, const char *key, struct spread_plan *out, struct err *err);
void spread_plan_free(struct spread_plan *plan);

/* "rss" or "sink". */
const char *spread_name(enum spread_kind kind);

struct spread {
	const struct spread_plan *plan;
	struct addr dst, host;    /* host: the source address of flows that are not bound to one */
	struct range_ports ports;
	unsigned addresses;       /* source addresses that flows have in turn */
	uint32_t *next;           /* per address and queue: index of the port to be looked at next; owned */
	unsigned *flows;          /* per queue: those that were placed; owned */
};

/* ports: n = 0 where they were not given. Ends with spread_close also on failure. */
int spread_open(struct spread *s, const struct spread_plan *plan, const struct addr *dst, const struct addr *host, const struct range_ports *ports,
		unsigned addresses, struct err *err);

/* The next port for this flow, put into its source address. -ENOSPC with a sentence: there is none left. */
int spread_port(struct spread *s, unsigned flow, struct addr *from, struct err *err);

/* The flow has this source now: it is counted on the queue that its packets go to. */
void spread_placed(struct spread *s, const struct addr *from);

void spread_least_most(const struct spread *s, unsigned *least, unsigned *most);

void spread_close(struct spread *s);

#endif
