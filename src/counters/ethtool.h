/* SPDX-License-Identifier: MIT */
/*
 * ethtool - the statistics of an interface's driver under the driver's names, as `ethtool -S` shows them (SIOCETHTOOL: linux/ethtool.h). Any
 * thread; about its network namespace. No privilege needed.
 *
 * The kernel hands 64 bits; what a driver keeps in fewer cannot be told. Names may come twice: equal ones are told apart by their order.
 */
#ifndef COUNTERS_ETHTOOL_H
#define COUNTERS_ETHTOOL_H

#include <linux/ethtool.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ethtool_stat {
	char name[ETH_GSTRING_LEN + 1];
	uint64_t value;
};

struct ethtool {
	char device[IF_NAMESIZE];
	struct ethtool_stat *stat; /* owned */
	unsigned n, room;
};

/* Takes the place of what *e held; zeroed before the first. -EOPNOTSUPP: the driver has none. 0 or -errno with a sentence; ends with
 * ethtool_free also on failure. */
int ethtool_read(struct ethtool *e, const char *device, struct err *err);

/* What stat i of `to` has grown by; false: `from` does not have it. *wrapped as counter_increment. *hint: 0 before the first i, then left alone. */
bool ethtool_since(const struct ethtool *from, const struct ethtool *to, unsigned i, unsigned *hint, uint64_t *increment, bool *wrapped);

/* For tests: what the kernel's two answers say, name by name. */
int ethtool_take(struct ethtool *e, const struct ethtool_gstrings *names, const struct ethtool_stats *values);

void ethtool_free(struct ethtool *e);

#endif
