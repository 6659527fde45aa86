/* SPDX-License-Identifier: MIT */
/*
 * qdisc - the queueing discipline that packets sent by an interface go through (RTM_GETQDISC). Any thread; see tc(8).
 */
#ifndef NET_QDISC_H
#define NET_QDISC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/netlink.h"

struct qdisc {
	unsigned index;   /* interface */
	char root[16];    /* kind of the root, "fq"; IFNAMSIZ of the kernel */
	char kind[16];    /* of the queues themselves: that of the root, or under mq and mqprio that of every queue; "several" where they differ */
	/* etf: its clock and how long before its time a packet must have come; else -1 and 0 */
	int clock;
	uint32_t delta_ns;
	uint32_t handle;  /* of the root */
	/* Of the root, those below it among them: packets that it dropped, a 32-bit counter; known: the kernel told. */
	uint32_t drops;
	bool drops_known;
};

/* On failure a sentence names the interface. */
int qdisc_of(unsigned index, struct qdisc *out, struct err *err);

/* Parts of it, for tests: before the first answer, and each answer. data: the struct. Answers about other interfaces change nothing. */
void qdisc_begin(struct qdisc *out, unsigned index);
void qdisc_take(const struct nlmsghdr *answer, void *data);

#endif
