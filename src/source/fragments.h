/* SPDX-License-Identifier: MIT */
/*
 * fragments - which fragments of a datagram go out, and in which order. Without a clock, a socket or an allocation per datagram; the same plan for the same
 * datagram each time it is asked for. Any thread.
 */
#ifndef SOURCE_FRAGMENTS_H
#define SOURCE_FRAGMENTS_H

#include "base/random.h"
#include "net/wire.h"

enum fragments_order {
	FRAGMENTS_FORWARD,
	FRAGMENTS_REVERSE,
	FRAGMENTS_ODD_EVEN, /* numbers 1, 3, 5 ..., then 0, 2, 4 ... */
	FRAGMENTS_RANDOM,
};

enum fragments_attack {
	FRAGMENTS_NO_ATTACK,
	FRAGMENTS_FIRST,    /* of each datagram only the first one */
	FRAGMENTS_MIDDLE,   /* ... only number 1, which neither begins nor ends it */
};

/* As asked. */
struct fragments_conf {
	int size;      /* bytes of a fragment without IP header, a multiple of 8; 0 = no fragments */
	int order;     /* enum fragments_order */
	/* every Nth datagram of a flow; 0 = none: */
	int overlap;   /* the one that is sent last begins 8 bytes early */
	int duplicate; /* the one that is sent first is sent twice */
	int hole;      /* one, any, is not sent */
	int attack;    /* enum fragments_attack */
};

/* The plan of one datagram. */
struct fragments {
	struct wire_part *part; /* in the order of sending; owned */
	unsigned n;
	bool incomplete;        /* no receiver gets it: a hole, an attack, or an overlap, which RFC 5722 has thrown away (Linux for IPv4 too) */
	unsigned missing;       /* bytes of UDP payload that are in no part */
};

/* Parts that a datagram with this UDP payload can make. */
unsigned fragments_most(const struct fragments_conf *conf, size_t payload);

/* Memory for plans of datagrams up to this UDP payload. 0 or -ENOMEM; ends with fragments_free. */
int fragments_init(struct fragments *plan, const struct fragments_conf *conf, size_t payload);

/* For datagram number `index` of its flow, from 0. random: what is left to chance follows from it. */
void fragments_plan(struct fragments *plan, const struct fragments_conf *conf, size_t payload, uint64_t index, uint64_t random);

void fragments_free(struct fragments *plan);

#endif
