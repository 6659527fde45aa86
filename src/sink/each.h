/* SPDX-License-Identifier: MIT */
/*
 * each - a connected socket for every flow (--connect-each).
 *
 * The first datagram of a flow arrives at the listener; the worker opens a second socket on the same address, connects it to the
 * sender, and adds it to its engine. Later datagrams of the flow go there by the kernel's own choice (the connected socket scores higher).
 * What was queued at the listener in between is received there: nothing is lost. One per worker.
 */
#ifndef SINK_EACH_H
#define SINK_EACH_H

#include "engine/engine.h"

struct each {
	const struct engine_ops *ops;
	struct sock_set *set;
	const unsigned *listeners; /* socket indexes that are listeners of this worker */
	unsigned nlisteners;
	unsigned most;             /* flows at most */
	unsigned flows;            /* sockets made */
	uint64_t failed;           /* flows that got none: limit reached, or the kernel refused. A lower bound once the table is full */
	unsigned known;            /* flows in seen */
	struct addr *seen;         /* open addressing, slots entries */
	unsigned slots;
};

int each_open(struct each *e, const struct engine_ops *ops, struct sock_set *set, const struct engine_slot *slot,
	      unsigned most);

/* Worker: looks at a packet that has src and, on a wildcard listener, info with the destination. */
void each_see(struct each *e, struct engine *engine, const struct packet *p);

void each_close(struct each *e);

#endif
