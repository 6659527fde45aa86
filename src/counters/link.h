/* SPDX-License-Identifier: MIT */
/*
 * link - statistics of interfaces, as ip -s link shows them (RTM_GETLINK, IFLA_STATS64). Any thread; about its network namespace.
 */
#ifndef COUNTERS_LINK_H
#define COUNTERS_LINK_H

#include <linux/if_link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/netlink.h"

/* On failure a sentence names the interface. */
int link_read(unsigned index, struct rtnl_link_stats64 *out, struct err *err);

/* What the interfaces of the namespace lost on the way in, lo among them: packets. */
struct link_lost {
	uint64_t errors;  /* rx_errors, rx_missed_errors, rx_nohandler */
	uint64_t dropped; /* rx_dropped: also at the backlog of a CPU, and protocols that nobody takes */
	bool xdp;         /* one of them has an XDP program */
};

int link_lost(struct link_lost *out, struct err *err);

/* Part of it, for tests: adds one answer. data: struct link_lost. */
void link_lost_take(const struct nlmsghdr *answer, void *data);

#endif
