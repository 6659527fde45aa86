/* SPDX-License-Identifier: MIT */
/*
 * local_loss - what the sending host itself dropped after its kernel had accepted it: "accepted" is not "on the wire". Main thread, before and after the run.
 *
 * Three counters, which see the same loss in part: SndbufErrors of UDP (this namespace: datagrams whose send was told of a drop by the queueing discipline
 * and said so to nobody, as without IP_RECVERR), drops of the root queueing discipline of the interface, and tx_dropped of that interface. The last two count packets,
 * whoever sent them: fragments, or with GSO several datagrams in one. The interface is that of the first destination.
 */
#ifndef SOURCE_LOCAL_LOSS_H
#define SOURCE_LOCAL_LOSS_H

#include <net/if.h>

#include "net/qdisc.h"
#include "source/flows.h"

#define LOCAL_LOSS_UNKNOWN UINT64_MAX

struct local_loss {
	unsigned index;               /* of the interface; 0 = not known */
	char device[IF_NAMESIZE];
	char qdisc[16];               /* kind of the root */
	/* LOCAL_LOSS_UNKNOWN: the kernel does not say */
	uint64_t sndbuf_errors;       /* datagrams */
	uint64_t qdisc_drops;         /* packets; a 32-bit counter */
	uint64_t tx_dropped;          /* packets */
};

/* Reads the counters as they are. What cannot be read is unknown, and no error. */
void local_loss_read(const struct flows *flows, const struct source_conf *conf, struct local_loss *out);

/* What was added from one reading to the next, in place of the later one. A counter that went backwards, or another discipline, is unknown. */
void local_loss_since(struct local_loss *now, const struct local_loss *before);

/* Was anything lost that had been accepted? Then one sentence with the place and what to do. told: the sockets learn what the queueing discipline drops, as
 * ENOBUFS (IP_RECVERR); the counters have that too, twice where sendmmsg(2) swallowed the error and the datagram was tried again. */
bool local_loss_sentence(const struct local_loss *l, bool told, char *buf, size_t size);

#endif
