/* SPDX-License-Identifier: MIT */
/*
 * group - the mark of a reuse-port group that does not want company.
 *
 * Several workers on one port need SO_REUSEPORT, and with it any later program of the same user could take a share
 * of the traffic unseen. So such a group holds an abstract unix datagram socket, whose name says protocol, address,
 * port and device, for as long as it lives. Abstract names belong to the network namespace, as ports do, and vanish
 * with their holder, SIGKILL included. Programs other than ours do not look. Main thread.
 */
#ifndef NET_GROUP_H
#define NET_GROUP_H

#include "net/addr.h"

/* What the name is made of. */
struct group_key {
	const struct addr *addr;
	bool lite, dual;
	const char *device; /* NULL = any */
};

/* The marks held; all zero = none. */
struct group {
	int *fd;
	unsigned n;
};

/* Adds the mark(s) for an address: two for a dual-stack wildcard. 0; -EADDRINUSE with a sentence when another group
 * has one. */
int group_mark(struct group *group, const struct group_key *key, struct err *err);

/* For those who want to share: does a group that does not hold this address, or the wildcard of its port? 0 = no;
 * -EADDRINUSE with a sentence. */
int group_check(const struct group_key *key, struct err *err);

void group_close(struct group *group);

#endif
