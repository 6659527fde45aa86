/* SPDX-License-Identifier: MIT */
/*
 * stats - what a thread has sent: one padded block per thread, written by that thread only.
 *
 * Counters only grow. The owner publishes once per system call or batch by relaxed load and store (a plain add,
 * no bus lock); anybody may take a snapshot at any time. A period is the difference of two snapshots.
 */
#ifndef SOURCE_STATS_H
#define SOURCE_STATS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/util.h"
#include "source/bad.h"

/* name, help. Structs, sums, differences and the records all come from this list. */
#define STATS_COUNTERS(X)                                                             \
	X(sent, "datagrams the kernel accepted")                                      \
	X(messages, "messages the kernel accepted; under GSO several datagrams each") \
	X(fragments, "messages of --sender raw that were fragments")                  \
	X(incomplete, "sent datagrams of which no receiver gets all fragments")       \
	X(calls, "send system calls, failed ones too")                                \
	X(zerocopy_copied, "messages of --zerocopy that the kernel copied after all") \
	X(bytes, "payload bytes of the accepted datagrams, as far as they went out")

/* Refused datagrams are counted by errno: what a UDP send may return on Linux. Anything else is counted under
 * the last entry. */
struct stats_errno {
	int error;        /* 0: others */
	const char *name;
	const char *hint; /* what to look at, or NULL */
};
#define STATS_ERRNOS 19
extern const struct stats_errno stats_errno[STATS_ERRNOS];

/* "EPERM", or "other". */
const char *stats_errno_name(int error);

struct stats {
#define X(name, help) uint64_t name;
	STATS_COUNTERS(X)
#undef X
	uint64_t bad[BAD_KINDS]; /* sent datagrams that are wrong on purpose */
	uint64_t refused[STATS_ERRNOS];
};

/* The published form. */
struct stats_block {
	alignas(PAD_ALIGN) struct {
#define X(name, help) _Atomic uint64_t name;
		STATS_COUNTERS(X)
#undef X
		_Atomic uint64_t bad[BAD_KINDS];
		_Atomic uint64_t refused[STATS_ERRNOS];
	} at;
};

_Static_assert(sizeof(struct stats_block) % PAD_ALIGN == 0,
	       "blocks of two threads must not share a line");

/* Owner: adds to one counter. */
static inline void stats_add(_Atomic uint64_t *counter, uint64_t value)
{
	uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, now + value, memory_order_relaxed);
}

/* Owner: n datagrams were refused with this errno. */
void stats_refused(struct stats_block *block, int error, uint64_t n);

/* Any thread. */
void stats_snapshot(const struct stats_block *block, struct stats *out);

/* *sum += *add; *out = a - b, counter by counter. */
void stats_sum(struct stats *sum, const struct stats *add);
void stats_difference(struct stats *out, const struct stats *a, const struct stats *b);

/* Datagrams refused, all reasons. */
uint64_t stats_refused_total(const struct stats *s);

/* Sent datagrams that reach a socket whole, unless they are lost. family: of the packets. */
uint64_t stats_deliverable(const struct stats *s, int family);

/* Datagrams offered to the kernel: each ended as sent or as refused. */
static inline uint64_t stats_attempted(const struct stats *s)
{
	return s->sent + stats_refused_total(s);
}

#endif
