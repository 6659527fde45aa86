/* SPDX-License-Identifier: MIT */
/*
 * handler - what is done with a received batch besides counting it: checks, views, connected sockets, simulated work.
 *
 * One per worker; only what was asked for is there, and a worker without any of it (bits == 0) never calls in. Tables are read
 * by the control thread after the worker was joined.
 */
#ifndef SINK_HANDLER_H
#define SINK_HANDLER_H

#include "engine/engine.h"
#include "sink/conf.h"
#include "sink/destination.h"
#include "sink/each.h"
#include "sink/flows.h"
#include "sink/pktgen.h"
#include "sink/sequence.h"
#include "sink/stats.h"
#include "sink/trailers.h"

enum handler_bit {
	HANDLER_FAMILY = 1 << 0,   /* IPv4 and IPv6 apart, by source address */
	HANDLER_FLOWS = 1 << 1,    /* number of flows */
	HANDLER_SENDER = 1 << 2,   /* --check-sender */
	HANDLER_SEQUENCE = 1 << 3, /* --check-sequence */
	HANDLER_PKTGEN = 1 << 4,   /* --check-pktgen */
	HANDLER_DEST = 1 << 5,     /* --by-destination */
	HANDLER_FIELDS = 1 << 6,   /* TOS and TTL histograms */
	HANDLER_EACH = 1 << 7,     /* --connect-each */
	HANDLER_WORK = 1 << 8,     /* --work */
	HANDLER_TRAILERS = 1 << 9, /* --ledger */
};

/* Header fields as received, from control messages. */
struct handler_fields {
	uint64_t tos[256], ttl[256];
	uint32_t rxq_ovfl; /* highest cumulative drop count that came with a datagram */
	uint64_t malformed;
};

struct handler {
	unsigned bits;
	const struct sink_conf *conf;
	struct addr sender;
	struct flows *flows;
	struct sequence *sequence;
	struct pktgen pktgen;
	struct destinations *destinations;
	struct handler_fields *fields;
	struct trailers *trailers;
	struct each each;
};

/* Which bits the options ask for and this engine can serve. shared: several workers, or a dual-stack socket. */
unsigned handler_bits(const struct sink_conf *conf, const struct engine_ops *ops, bool dual, unsigned workers);

/* Worker. run: see sequence_new. 0 or -ENOMEM. */
int handler_open(struct handler *h, unsigned bits, const struct sink_conf *conf, const struct addr *sender,
		 const struct engine_ops *ops, struct sock_set *set, const struct engine_slot *slot,
		 atomic_uint_least64_t *run);

/* Worker: after the batch was counted into *stats; takes foreign datagrams out again. */
void handler_batch(struct handler *h, struct engine *engine, const struct batch *batch, struct stats *stats);

/* Control, after the worker was joined. */
void handler_close(struct handler *h);

#endif
