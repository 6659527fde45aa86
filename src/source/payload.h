/* SPDX-License-Identifier: MIT */
/*
 * payload - the datagrams of one batch in memory: equal slots, one behind the other (a GSO message is a run of
 * slots).
 *
 * The fill (byte k of the datagram is k modulo 256: a copy shifted by some bytes shows itself) is written once,
 * when the memory is made; what changes per datagram is the header only. One owner thread.
 */
#ifndef SOURCE_PAYLOAD_H
#define SOURCE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct payload {
	unsigned char *data; /* slots * size bytes; owned */
	unsigned slots;
	size_t size;         /* bytes of a datagram */
	uint32_t run;
	bool pktgen;         /* header of the kernel's pktgen instead of seqhdr */
	bool stamped;        /* the header has room for a time stamp: payload_number reads the clock */
};

/* Allocates, and touches every page. run, pktgen and size as in the configuration. */
int payload_init(struct payload *p, unsigned slots, size_t size, uint32_t run, bool pktgen,
		 struct err *err);

/* Writes headers into slots first..end-1: this stream, sequence numbers from `sequence` on. One CLOCK_REALTIME
 * read per call where the header has a time stamp: all datagrams of a call carry the same. */
void payload_number(struct payload *p, unsigned first, unsigned end, uint16_t stream,
		    uint64_t sequence);

static inline unsigned char *payload_slot(const struct payload *p, unsigned slot)
{
	return p->data + slot * p->size;
}

void payload_free(struct payload *p);

#endif
