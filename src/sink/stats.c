/* SPDX-License-Identifier: MIT */
#include "sink/stats.h"

#include <errno.h>
#include <time.h>

#define STATS_INFO(field, unit, needs, help) [STATS_##field] = { #field, unit, help, needs },

const struct stats_info stats_info[STATS_COUNTER_COUNT] = { STATS_COUNTERS(STATS_INFO) };

#define STATS_ERRNO(code) { code, #code }

const struct stats_errno stats_errno[STATS_ERRNOS] = {
	STATS_ERRNO(ECONNREFUSED), STATS_ERRNO(EINTR),	     STATS_ERRNO(EFAULT),
	STATS_ERRNO(ENOBUFS),	   STATS_ERRNO(ENOMEM),	     STATS_ERRNO(EMSGSIZE),
	STATS_ERRNO(EPERM),	   STATS_ERRNO(EHOSTUNREACH), STATS_ERRNO(ENETUNREACH),
	STATS_ERRNO(ENETDOWN),	   STATS_ERRNO(EPROTO),	     STATS_ERRNO(EIO),
	{ 0, "other" },
};

_Static_assert(offsetof(struct stats, fill) == STATS_COUNTER_COUNT * sizeof(uint64_t), "fill follows the counters");

unsigned stats_errno_index(int code)
{
	unsigned i = 0;

	while (i < STATS_ERRNOS - 1 && stats_errno[i].code != code)
		i++;
	return i;
}

/* Publishing takes well under 1 us: spinning past it is enough, unless the worker lost its CPU in the middle. Then its turn has to come first; 1000
 * pauses of 50 us and the timer slack are about 100 ms. */
enum { SNAPSHOT_SPINS = 100, SNAPSHOT_TRIES = SNAPSHOT_SPINS + 1000, SNAPSHOT_PAUSE_NS = 50000 };

void stats_snapshot(const struct stats_block *block, struct stats *out)
{
	uint64_t *to = (uint64_t *)out;

	for (int tries = 0; tries < SNAPSHOT_TRIES; tries++) {
		if (tries >= SNAPSHOT_SPINS)
			nanosleep(&(struct timespec){ .tv_nsec = SNAPSHOT_PAUSE_NS }, NULL);
		uint64_t before = atomic_load_explicit(&block->sequence, memory_order_acquire);

		for (unsigned i = 0; i < STATS_WORDS; i++)
			to[i] = atomic_load_explicit(&block->word[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) && atomic_load_explicit(&block->sequence, memory_order_relaxed) == before)
			return;
	}
}

void stats_block_reset(struct stats_block *block)
{
	atomic_store(&block->sequence, 0);
	atomic_store(&block->begin_ns, 0);
	for (unsigned i = 0; i < STATS_WORDS; i++)
		atomic_store_explicit(&block->word[i], 0, memory_order_relaxed);
}

void stats_add(struct stats *sum, const struct stats *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (unsigned i = 0; i < STATS_WORDS; i++)
		to[i] += from[i];
}

void stats_delta(const struct stats *now, const struct stats *before, struct stats *out)
{
	const uint64_t *a = (const uint64_t *)now, *b = (const uint64_t *)before;
	uint64_t *to = (uint64_t *)out;

	for (unsigned i = 0; i < STATS_WORDS; i++)
		to[i] = a[i] - b[i];
}
