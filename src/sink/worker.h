/* SPDX-License-Identifier: MIT */
/*
 * worker - one receiving thread: pin, open the engine, meet the others, receive until told to stop.
 *
 * The receive loop takes no lock, allocates nothing, logs nothing and reads no clock per packet: the clock is read at the first datagram, when
 * the queue was seen empty, and at the end. Where the call itself waits, an empty queue is never seen: there the time of the last tick is noted per batch.
 */
#ifndef SINK_WORKER_H
#define SINK_WORKER_H

#include <pthread.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "sink/handler.h"
#include "sink/stats.h"

/* What the workers of a run share; written by the control thread before they start, except where noted. */
struct worker_shared {
	const struct engine_ops *ops;
	const struct sink_conf *conf;
	struct engine_run run;
	struct addr sender;          /* --check-sender */
	unsigned handler_bits;
	pthread_mutex_t gate;        /* guards arrived and open */
	pthread_cond_t gate_moved;
	unsigned arrived;            /* workers whose engine is open or has failed */
	bool open;                   /* measuring begins (or stop is set) */
	void (*notify)(void *);      /* a worker has ended by itself; any thread */
	void *notify_data;
	alignas(PAD_ALIGN) atomic_bool stop;
	atomic_uint_least64_t run_id;                       /* --check-sequence, see sequence.h */
	alignas(PAD_ALIGN) atomic_uint_least64_t received;  /* --count with several workers: added to once per batch */
};

struct worker {
	struct worker_shared *shared;
	struct stats_block *block;
	struct engine_slot slot;
	int tid;                   /* valid after worker_gather */
	int cpu_obtained;          /* valid after worker_gather, and again after the join */
	int result;                /* 0 or -errno; after worker_gather and after the join */
	struct err err;
	atomic_bool done;
	pthread_t thread;
	/* the worker's own until joined */
	struct engine *engine;
	struct handler handler;
	struct stats now;
	struct clock_usage begin, end; /* begin.mono_ns == 0: nothing was received */
	uint64_t last_ns;              /* CLOCK_MONOTONIC of the last datagram, as near as known */
	uint64_t seen_ns;              /* last timer tick before the last batch */
	bool end_unknown;              /* last_ns is when the last batch was cut off, not when its last datagram came */
	bool dirty;                    /* datagrams came after last_ns was taken */
	bool active;                   /* datagrams came after end was taken */
};

/* pthread start routine; argument: struct worker. */
void *worker_main(void *worker);

/* Control thread: waits until n workers have opened their engines or failed. */
void worker_gather(struct worker_shared *shared, unsigned n);

/* Control thread: lets them go. */
void worker_release(struct worker_shared *shared);

#endif
