/* SPDX-License-Identifier: MIT */
/*
 * destination - datagrams per local address (--by-destination): a fixed table, so that a flood of addresses costs no memory.
 * Written by one worker; read and merged after it was joined.
 */
#ifndef SINK_DESTINATION_H
#define SINK_DESTINATION_H

#include <netinet/in.h>
#include <stdint.h>

#define DESTINATION_SLOTS 4096

struct destination {
	struct in6_addr ip;  /* IPv4 as ::ffff:a.b.c.d */
	uint64_t datagrams;  /* 0 = free slot */
	uint64_t bytes;
};

struct destinations {
	struct destination slot[DESTINATION_SLOTS];
	unsigned used;
	uint64_t other; /* datagrams to addresses that found no room */
};

void destination_count(struct destinations *d, const struct in6_addr *ip, uint64_t datagrams, uint64_t bytes);

void destination_merge(struct destinations *sum, const struct destinations *part);

#endif
