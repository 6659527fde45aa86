/* SPDX-License-Identifier: MIT */
/*
 * asked - the DNS queries of one sending thread that wait for their answers; shared by that thread, which asks, and one that reads the answers (answers.c).
 *
 * Query n of a flow (n counts what was tried) has the id n * 40503 + a constant of the flow, modulo 65536: an odd factor, so that 65536 queries in a row have
 * different ids, which do not look like a counter. Each flow has a table of the last queries, up to 65536; with many flows it is smaller (ASKED_ENTRIES for
 * all). A query that still waits when its place is needed again is lost.
 *
 * No lock: an entry's state says whose turn it is. The sender takes an entry (state 0), writes it, and releases it with its number; the reader reads it, and has it
 * when the state is still the same. Numbers do not come back, so an entry that was written over meanwhile is noticed: its fields are released and acquired as the
 * state is, so that whoever sees a new field sees that the old state is over too. Memory is allocated once.
 */
#ifndef SOURCE_ASKED_H
#define SOURCE_ASKED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "net/dns.h"
#include "source/payload.h"

#define ASKED_PER_FLOW 65536
#define ASKED_ENTRIES (1u << 22) /* of a thread: 128 MiB */
#define ASKED_FACTOR 40503       /* odd; 65536 / golden ratio (D. Knuth, TAOCP 3, 6.4) */

struct asked_entry {
	atomic_uint_least64_t state; /* 0: free; else 2 * (query number + 1), and 1 once it was answered */
	atomic_uint_least64_t due_ns;
	atomic_uint_least64_t message;
};

struct asked_flow {
	uint64_t next;               /* query number; sender only */
	uint16_t offset;             /* of ids */
};

struct asked {
	const struct messages *messages;
	bool random;                 /* names have a first label to be written over */
	uint64_t seed;
	unsigned threads;            /* flow f of the program is ours when f % threads is our number, and is ours number f / threads */
	unsigned flows, room;        /* room: entries of a flow, a power of two */
	struct asked_flow *flow;     /* owned */
	struct asked_entry *entry;   /* owned */
	atomic_uint_least64_t lost;  /* whose place was needed; sender writes */
};

/* flows: of this thread, which is number `thread` of `threads`. seed: of ids and labels, the same for all threads: then no two labels of the program are the
 * same. 0 or -ENOMEM with a sentence. Ends with asked_free also on failure. */
int asked_init(struct asked *a, const struct messages *messages, unsigned flows, unsigned thread, unsigned threads, bool random, uint64_t seed,
	       struct err *err);

/* Sender: the query in `slot`, which is a copy of `message`, is about to be sent by flow f of the program: puts id and label into it. due_ns: when it was to be
 * sent, CLOCK_MONOTONIC. */
void asked_put(struct asked *a, unsigned f, struct payload *p, unsigned slot, uint64_t message, uint64_t due_ns);

/* Sender: of the last `count` queries of flow f the n from number `first` of them on were not sent. */
void asked_cancel(struct asked *a, unsigned f, unsigned count, unsigned first, unsigned n);

/* Reader: is this the answer to a query of flow f that waits? Then it waits no longer, and *due_ns is set. */
bool asked_match(struct asked *a, unsigned f, const struct dns_answer *answer, uint64_t *due_ns);

/* Queries that wait and were to be sent at since_ns or later. After both threads have ended, or as a guess. */
uint64_t asked_waiting(const struct asked *a, uint64_t since_ns);

void asked_free(struct asked *a);

#endif
