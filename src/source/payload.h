/* SPDX-License-Identifier: MIT */
/*
 * payload - the datagrams of one batch in memory: slots of equal room, one behind the other. With one size a GSO message is a run of slots.
 *
 * What does not change from datagram to datagram (the fill) is written once, when the memory is made; per datagram come the length, where sizes
 * vary, and the header. One owner thread.
 */
#ifndef SOURCE_PAYLOAD_H
#define SOURCE_PAYLOAD_H

#include "source/fill.h"
#include "source/impair.h"
#include "source/messages.h"
#include "source/size.h"
#include "net/seqhdr.h"

enum payload_header { PAYLOAD_SEQUENCE, PAYLOAD_PKTGEN, PAYLOAD_PLAIN };

struct payload_conf {
	unsigned slots;
	const struct size_plan *size;
	enum payload_header header;
	uint32_t run;
	const struct impair *impair;  /* NULL: none */
	const struct fill *fill;      /* NULL: the pattern */
	const struct messages *messages; /* NULL: none. Else payload_copy makes each datagram; size tells the shortest and longest */
};

struct payload {
	struct payload_conf conf;
	unsigned char *data; /* slots * room bytes; owned */
	uint16_t *len;       /* bytes of each datagram; owned */
	unsigned slots;
	size_t room;         /* bytes from slot to slot: the largest size */
	bool fixed;          /* all of one size, which is room */
	bool stamped;        /* a header with a time stamp fits: payload_number reads the clock */
	unsigned char head[SEQHDR_FULL]; /* the fill behind headers, for datagrams that are too short for one */
};

/* Allocates, and touches every page. r: for the fill. Ends with payload_free also on failure. */
int payload_init(struct payload *p, const struct payload_conf *conf, struct random *r, struct err *err);

/* Datagram k of the program into a slot; with messages only. */
void payload_copy(struct payload *p, unsigned slot, uint64_t k);

/* New lengths for slots first..end-1, where sizes vary and there are no messages. */
void payload_draw(struct payload *p, unsigned first, unsigned end, struct random *r);

/* Writes headers into slots first..end-1: this stream, which has had `accepted` datagrams so far. One CLOCK_REALTIME read per call where the header has a time
 * stamp: all datagrams of a call carry the same. */
void payload_number(struct payload *p, unsigned first, unsigned end, uint16_t stream, uint64_t accepted);

static inline unsigned char *payload_slot(const struct payload *p, unsigned slot)
{
	return p->data + slot * p->room;
}

/* Bytes of the datagrams in slots first..end-1. */
static inline uint64_t payload_bytes(const struct payload *p, unsigned first, unsigned end)
{
	uint64_t sum = 0;

	if (p->fixed)
		return (uint64_t)(end - first) * p->room;
	for (unsigned i = first; i < end; i++)
		sum += p->len[i];
	return sum;
}

void payload_free(struct payload *p);

#endif
