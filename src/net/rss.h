/* SPDX-License-Identifier: MIT */
/*
 * rss - which receive queue a network card chooses for a packet: its hash key and its indirection table. Main thread.
 */
#ifndef NET_RSS_H
#define NET_RSS_H

#include <linux/ethtool.h>

#include "net/toeplitz.h"

#define RSS_TABLE 128        /* entries where a card does not tell: what many have */
#define RSS_TABLE_MOST 65536
#define RSS_QUEUES_MOST 1024

struct rss {
	unsigned queues;
	struct toeplitz_key key;
	unsigned n;           /* entries of the table */
	uint32_t *table;      /* queue of each; owned */
	bool own_key, own_table; /* read from a device, not assumed */
};

/* The standard key and a table of RSS_TABLE entries that go round the queues, as drivers set it up. Ends with rss_free also on failure. */
int rss_standard(struct rss *out, unsigned queues, struct err *err);

/* What a device of this network namespace has (ETHTOOL_GRSSH), as far as it tells; the rest is as in rss_standard, which came first. -ENODEV and others with
 * a sentence; it is an error too when it has another hash or other queues than those. */
int rss_read(struct rss *rss, const char *device, struct err *err);

/* The second half of it. answer: with its table and its key behind it. */
int rss_take(struct rss *rss, const char *device, const struct ethtool_rxfh *answer, struct err *err);

/* Cards take the lower bits; tables have a power of 2 of entries. */
static inline unsigned rss_queue(const struct rss *rss, uint32_t hash)
{
	return rss->table[hash % rss->n];
}

void rss_free(struct rss *rss);

#endif
