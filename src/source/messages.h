/* SPDX-License-Identifier: MIT */
/*
 * messages - datagrams that are made before the run and taken in turn: those of a capture (pcap.c), questions for a name server (questions.c).
 *
 * Datagram k of the program (k counts over all threads) is a copy of message k % n; what differs from one copy to the next, such as the id of a query, is
 * written into the slot afterwards. Built by the main thread; read only while threads run.
 */
#ifndef SOURCE_MESSAGES_H
#define SOURCE_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct messages {
	unsigned n;              /* 0: there are none, datagrams come from --payload and --fill */
	unsigned room;           /* entries allocated */
	size_t *at;              /* where each begins in data, and where the last one ends: n + 1 entries; owned */
	unsigned char *data;     /* owned */
	size_t data_room;
	uint16_t shortest, longest; /* bytes */
	uint64_t *due_ns;        /* of each, since the first, never falling; NULL: they have no times; owned by whoever made it: messages_free frees it */
};

/* The most there can be: more than any query file or capture that people replay holds, less than memory. */
#define MESSAGES_MOST 16000000

/* Appends a copy; size up to 65535. -ENOMEM, or -E2BIG beyond MESSAGES_MOST, with a sentence. */
int messages_add(struct messages *m, const void *data, size_t size, struct err *err);

static inline const unsigned char *messages_data(const struct messages *m, uint64_t k)
{
	return m->data + m->at[k % m->n];
}

static inline uint16_t messages_size(const struct messages *m, uint64_t k)
{
	return (uint16_t)(m->at[k % m->n + 1] - m->at[k % m->n]);
}

/* Mean size in bytes. */
double messages_mean(const struct messages *m);

void messages_free(struct messages *m);

#endif
