/* SPDX-License-Identifier: MIT */
/*
 * workers - the team of sending threads: start, go, stop, join. Main thread, unless said otherwise.
 */
#ifndef SOURCE_WORKERS_H
#define SOURCE_WORKERS_H

#include <pthread.h>

#include "net/seqhdr.h"
#include "source/worker.h"

struct member {
	struct worker worker;
	pthread_t thread;
	struct workers *team;
};

struct workers {
	struct member *member;    /* n entries */
	unsigned n;
	unsigned started;
	atomic_bool stop;
	atomic_uint running;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned ready;           /* threads that have prepared; under lock */
	bool open;                /* the gate: they may send; under lock */
	void (*ended)(void *data);
	void *ended_data;
	uint64_t base_ns;         /* CLOCK_MONOTONIC when sending begins: all times of the report count from here */
	bool signalled;           /* a signal ended the run; set by who saw it */
};

/* Starts all threads; returns when each has pinned itself and allocated. On failure no thread is left. ended:
 * each thread's last act, so that the control thread looks at workers_running. */
int workers_start(struct workers *team, const struct source_conf *conf, struct flows *flows,
		  void (*ended)(void *), void *data, struct err *err);

/* They begin to send at base_ns, on CLOCK_MONOTONIC; 0: as soon as all of them can be awake. */
void workers_go(struct workers *team, uint64_t base_ns);

/* Threads still sending. */
unsigned workers_running(const struct workers *team);

/* Ends the run: they stop within a system call (at most 50 ms when the send buffer is stuck) or a slice of sleep
 * (50 ms); then waits for them. Returns 0, or the error of the first that failed (err may be NULL). */
int workers_stop(struct workers *team, struct err *err);

/* For trailers: what the kernel has accepted, and the segments in use at the end. After workers_stop. */
struct seqhdr_sums workers_sums(const struct workers *team);

/* After workers_stop, or a failed workers_start. */
void workers_free(struct workers *team);

#endif
