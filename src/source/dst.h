/* SPDX-License-Identifier: MIT */
/*
 * dst - where datagrams go: one address, or a range of addresses times a range of ports, in turn or at random. Destination d of a plan is address
 * d / ports, port d % ports.
 */
#ifndef SOURCE_DST_H
#define SOURCE_DST_H

#include "base/random.h"
#include "net/range.h"

enum dst_order { DST_SEQUENTIAL, DST_RANDOM };

/* Constant while sending. */
struct dst_plan {
	struct range range;
	uint16_t first_port;
	uint32_t ports;
	enum dst_order order;
	uint64_t length;     /* datagrams to one destination before the next (pktgen's flowlen), >= 1 */
	uint64_t n;          /* destinations */
};

/* ports: "53", "1000-1999", or NULL: port. */
int dst_plan(struct dst_plan *plan, const struct range *range, const char *ports, uint16_t port, struct err *err);

/* Where a thread is in the plan. Thread t of T begins at destination t and takes every T-th, so that together they go through all in turn. */
struct dst_walk {
	const struct dst_plan *plan;
	uint64_t at;         /* destination now */
	uint64_t left;       /* datagrams that still go there */
	uint64_t step;
};

void dst_start(struct dst_walk *walk, const struct dst_plan *plan, unsigned thread, unsigned threads);

/* The destination of the next n datagrams, which go together. */
void dst_next(struct dst_walk *walk, struct random *r, unsigned n, struct addr *out);

#endif
