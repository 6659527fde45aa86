/* SPDX-License-Identifier: MIT */
/*
 * toeplitz - the hash by which network cards choose a receive queue (receive side scaling). Pure functions, any thread.
 *
 * Microsoft, "RSS hashing functions" and "Verifying the RSS hash calculation" (Windows hardware developer documentation): over source address, destination
 * address, source port, destination port as they are in the packet; each bit that is set adds (by exclusive or) the 32 bits of the key that begin there.
 */
#ifndef NET_TOEPLITZ_H
#define NET_TOEPLITZ_H

#include "net/addr.h"

#define TOEPLITZ_KEY 40       /* bytes that two IPv6 addresses and two ports need */
#define TOEPLITZ_KEY_MOST 256 /* ethtool(8) shows no longer ones */

struct toeplitz_key {
	unsigned len;         /* TOEPLITZ_KEY or more; what is behind them has no effect on what is hashed here */
	unsigned char byte[TOEPLITZ_KEY_MOST];
};

/* The key of Microsoft's documents, which many drivers use until they are given another. */
extern const struct toeplitz_key toeplitz_standard;

/* "6d:5a:56:da:..." as `ethtool -x` prints it. option: its name, for the sentence. */
int toeplitz_parse_key(const char *option, const char *text, struct toeplitz_key *out, struct err *err);

/* Of a UDP packet between these addresses and ports, of one family; mapped addresses are those of IPv4 packets. */
uint32_t toeplitz_udp(const struct toeplitz_key *key, const struct addr *src, const struct addr *dst);

#endif
