/* SPDX-License-Identifier: MIT */
/*
 * range - a run of addresses: "198.18.0.0/15", "198.18.0.1-198.18.0.9", "2001:db8::/64", or a single one. Pure functions, any thread.
 */
#ifndef NET_RANGE_H
#define NET_RANGE_H

#include "net/addr.h"

struct range {
	struct addr first;  /* port 0 */
	uint64_t n;         /* addresses; 2^64 - 1 stands for that many and more */
};

/* The whole prefix belongs to it, network and broadcast address too. family as addr_parse. Refuses host bits behind the prefix, an end before the beginning,
 * two families. */
int range_parse(const char *text, int family, struct range *out, struct err *err);

struct range_ports {
	uint16_t first;
	uint32_t n;         /* 0: none */
};

/* "53" or "1000-1999", 1 to 65535. option: its name, for the sentence. */
int range_parse_ports(const char *option, const char *text, struct range_ports *out, struct err *err);

/* Address number i, i < n. */
void range_at(const struct range *range, uint64_t i, struct addr *out);

#endif
