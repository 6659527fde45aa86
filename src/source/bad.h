/* SPDX-License-Identifier: MIT */
/*
 * bad - packets that are wrong on purpose, or unusual: which datagrams, and in what way. Pure functions, any thread.
 */
#ifndef SOURCE_BAD_H
#define SOURCE_BAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* name; does the socket that it is meant for get it, over IPv4 and over IPv6 */
#define BAD_LIST(X)                                                                                            \
	X(CHECKSUM, "checksum", false, false)           /* one that does not fit */                            \
	X(ZERO_CHECKSUM, "zero-checksum", true, false)  /* none: legal with IPv4 (RFC 768), not with IPv6 */   \
	X(LENGTH_SHORT, "length-short", false, false)   /* a UDP length of 7, less than its header */          \
	X(LENGTH_LONG, "length-long", false, false)     /* a UDP length of one more than the packet has */     \
	X(TRUNCATED, "truncated", false, false)         /* the packet ends in the middle of the UDP header */  \
	X(PORT_ZERO, "port-zero", true, true)           /* source port 0: legal, but cannot be answered */     \
	X(CLOSED_PORT, "closed-port", false, false)     /* to a port where nobody listens */

enum bad_kind {
#define X(id, name, v4, v6) BAD_##id,
	BAD_LIST(X)
#undef X
	BAD_KINDS,
	BAD_NONE = BAD_KINDS,
};

/* Bytes of a truncated UDP header. */
#define BAD_TRUNCATED_TO 4

struct bad_plan {
	unsigned n;
	struct {
		enum bad_kind kind;
		uint32_t every;       /* the Nth, 2Nth ... datagram of a flow */
	} entry[BAD_KINDS];           /* in the order given; where several are due the first of them counts */
	uint16_t closed_port;         /* where BAD_CLOSED_PORT goes; the caller sets it */
};

const char *bad_name(enum bad_kind kind);

/* "KIND[:N],..."; N is 1 when not given. -EINVAL with a sentence. */
int bad_parse(const char *text, struct bad_plan *out, struct err *err);

bool bad_has(const struct bad_plan *plan, enum bad_kind kind);

/* What datagram number `index` of its flow, from 0, is. */
static inline enum bad_kind bad_due(const struct bad_plan *plan, uint64_t index)
{
	for (unsigned i = 0; i < plan->n; i++)
		if ((index + 1) % plan->entry[i].every == 0)
			return plan->entry[i].kind;
	return BAD_NONE;
}

/* family: of the packet. */
bool bad_is_delivered(enum bad_kind kind, int family);

#endif
