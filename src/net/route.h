/* SPDX-License-Identifier: MIT */
/*
 * route - by which interface the kernel would send to an address (RTM_GETROUTE). Any thread.
 */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H

#include "net/addr.h"

/* to: destination; from: source address, NULL or a wildcard where the kernel chooses it; mark: as SO_MARK, 0 = none. *index: the interface. On failure a
 * sentence names the destination. */
int route_device(const struct addr *to, const struct addr *from, uint32_t mark, unsigned *index, struct err *err);

#endif
