/* SPDX-License-Identifier: MIT */
/*
 * link - statistics of one interface, as ip -s link shows them (RTM_GETLINK, IFLA_STATS64). Any thread; about its network namespace.
 */
#ifndef COUNTERS_LINK_H
#define COUNTERS_LINK_H

#include <linux/if_link.h>

#include "base/err.h"

/* On failure a sentence names the interface. */
int link_read(unsigned index, struct rtnl_link_stats64 *out, struct err *err);

#endif
