/* SPDX-License-Identifier: MIT */
/*
 * stats - what a worker counts, and how the control thread reads it while the worker runs.
 *
 * One X-macro gives the struct, the sum, the delta and the names in every output format. Counters only grow and are never
 * reset; a period is the difference of two snapshots. Each worker is the only writer of its block, which lies 128 bytes
 * apart from everything else; publishing is a handful of plain stores, once per batch. The sequence number in front makes
 * a snapshot consistent (datagrams and bytes of the same batches): a seqlock with one writer.
 */
#ifndef SINK_STATS_H
#define SINK_STATS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* Which option or engine ability makes a counter known; where it is not, reports say null or "-", never 0. */
enum stats_need {
	STATS_ALWAYS = 0,
	STATS_TRUNC = 1 << 0,    /* engine sees truncation */
	STATS_FAMILY = 1 << 1,   /* family of each packet is known */
	STATS_SEQUENCE = 1 << 2, /* --check-sequence */
	STATS_PKTGEN = 1 << 3,   /* --check-pktgen */
	STATS_CONTROL = 1 << 4,  /* control messages are asked for and the engine takes them */
	STATS_WIRE_LEN = 1 << 5, /* nothing was truncated, or the engine knows how long it was */
	STATS_TRAILERS = 1 << 6, /* --check-sequence or --ledger */
};

/* X(field, unit, needs, help) */
#define STATS_COUNTERS(X)                                                                                            \
	X(datagrams, "datagrams", STATS_ALWAYS, "UDP datagrams received and accepted (GRO buffers are split)")       \
	X(buffers, "buffers", STATS_ALWAYS, "receive buffers filled; fewer than datagrams only with GRO")            \
	X(calls, "calls", STATS_ALWAYS, "receive system calls made")                                                 \
	X(empty_polls, "calls", STATS_ALWAYS, "receive system calls that found nothing (EAGAIN)")                    \
	X(bytes, "bytes", STATS_ALWAYS, "UDP payload bytes stored in our buffers")                                   \
	X(wire_bytes, "bytes", STATS_WIRE_LEN, "UDP payload bytes that the senders sent; more than bytes when truncated") \
	X(empty, "datagrams", STATS_ALWAYS, "datagrams without payload")                                             \
	X(truncated, "datagrams", STATS_TRUNC, "datagrams longer than the buffer")                                   \
	X(ctrunc, "datagrams", STATS_CONTROL, "datagrams whose control messages were cut (MSG_CTRUNC)")              \
	X(foreign, "datagrams", STATS_ALWAYS, "datagrams of another run or sender, not in any other counter")        \
	X(ipv4, "datagrams", STATS_FAMILY, "of these, IPv4 (mapped addresses too)")                                  \
	X(ipv6, "datagrams", STATS_FAMILY, "of these, IPv6")                                                         \
	X(errors, "events", STATS_ALWAYS, "errors that a receive call returned; by errno in errors_by_errno")        \
	X(seq_in_order, "datagrams", STATS_SEQUENCE, "carried the next sequence number of their stream, or jumped ahead") \
	X(seq_reordered, "datagrams", STATS_SEQUENCE, "came late and filled a gap")                                  \
	X(seq_duplicate, "datagrams", STATS_SEQUENCE, "sequence number was seen before")                             \
	X(seq_stale, "datagrams", STATS_SEQUENCE, "too old to tell a late one from a duplicate")                     \
	X(seq_skipped, "datagrams", STATS_SEQUENCE, "sequence numbers jumped over; missing = skipped - reordered")   \
	X(seq_no_header, "datagrams", STATS_SEQUENCE, "carried no sequence header")                                  \
	X(trailers, "datagrams", STATS_TRAILERS, "told how many there were (udp_source --trailer); in no other counter") \
	X(pktgen_disorder, "datagrams", STATS_PKTGEN, "pktgen header older than the one before it")                  \
	X(pktgen_bad_magic, "datagrams", STATS_PKTGEN, "no pktgen header")                                           \
	X(pktgen_bad_repeat, "headers", STATS_PKTGEN, "repeated pktgen headers that differ from the first (level 2)")

#define STATS_FIELD(field, unit, needs, help) uint64_t field;
#define STATS_INDEX(field, unit, needs, help) STATS_##field,

/* Batch fill: bucket b counts receive batches of 2^(b-1)+1 .. 2^b packets: 1, 2, 3-4, 5-8, ... 513-1024. */
#define STATS_FILL 11

/* Errors that get a counter of their own, in the order of stats_errno; the last is "other". */
#define STATS_ERRNOS 13
extern const struct stats_errno {
	int code;
	const char *name;
} stats_errno[STATS_ERRNOS];

/* A plain copy: what a worker accumulates, and what a snapshot or a difference is. */
struct stats {
	STATS_COUNTERS(STATS_FIELD)
	uint64_t fill[STATS_FILL];
	uint64_t error[STATS_ERRNOS];
};

enum { STATS_WORDS = sizeof(struct stats) / sizeof(uint64_t) };
enum stats_index { STATS_COUNTERS(STATS_INDEX) STATS_COUNTER_COUNT };

/* Names and units for reports, in the order of enum stats_index. */
extern const struct stats_info {
	const char *name, *unit, *help;
	unsigned needs;
} stats_info[STATS_COUNTER_COUNT];

/* One counter of a copy, by index. */
static inline uint64_t stats_get(const struct stats *s, enum stats_index i)
{
	return ((const uint64_t *)s)[i];
}

struct stats_block {
	alignas(PAD_ALIGN) atomic_uint_least64_t sequence; /* odd while being written */
	atomic_uint_least64_t word[STATS_WORDS];
	atomic_uint_least64_t begin_ns; /* CLOCK_MONOTONIC of the first datagram, 0 = none yet */
};

_Static_assert(alignof(struct stats_block) == PAD_ALIGN, "blocks of two workers must not share cache lines");
_Static_assert(sizeof(struct stats_block) % PAD_ALIGN == 0, "blocks of two workers must not share cache lines");

/* The words that change with every batch: those before seq_in_order. */
enum { STATS_HOT = STATS_seq_in_order };

static ALWAYS_INLINE void stats_store(struct stats_block *block, const uint64_t *from, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		atomic_store_explicit(&block->word[i], from[i], memory_order_relaxed);
}

/* Worker: makes *now visible; once per batch. Relaxed stores into our own lines: no lock, no atomic read-modify-write. bucket: the only word of
 * fill that changed. all: more than the hot words changed (an error, or a check is on). */
static ALWAYS_INLINE void stats_publish(struct stats_block *block, const struct stats *now, unsigned bucket, bool all)
{
	const uint64_t *from = (const uint64_t *)now;
	uint64_t seq = atomic_load_explicit(&block->sequence, memory_order_relaxed);

	atomic_store_explicit(&block->sequence, seq + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	stats_store(block, from, 0, STATS_HOT);
	stats_store(block, from, STATS_COUNTER_COUNT + bucket, 1);
	if (UNLIKELY(all))
		stats_store(block, from, STATS_HOT, STATS_WORDS - STATS_HOT);
	atomic_store_explicit(&block->sequence, seq + 2, memory_order_release);
}

/* Control thread: a consistent copy. Retries while the worker is publishing, and sleeps between tries where the worker lost its CPU in the
 * middle of it; after about 100 ms of that gives up being consistent. */
void stats_snapshot(const struct stats_block *block, struct stats *out);

/* Control thread, before workers exist. */
void stats_block_reset(struct stats_block *block);

void stats_add(struct stats *sum, const struct stats *part);

/* now - before, word by word (both from the same block, or both sums). */
void stats_delta(const struct stats *now, const struct stats *before, struct stats *out);

/* Index into stats.error for an errno. */
unsigned stats_errno_index(int code);

/* Bucket of a batch of n packets (n >= 1). */
static inline unsigned stats_fill_bucket(unsigned n)
{
	unsigned b = n <= 1 ? 0 : 32 - (unsigned)__builtin_clz(n - 1);

	return b < STATS_FILL ? b : STATS_FILL - 1;
}

#endif
