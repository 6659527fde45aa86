/* SPDX-License-Identifier: MIT */
/*
 * worker - what one sending thread does: prepare, then send its share of the datagrams and account for each.
 *
 * While running nothing is allocated, logged or locked; the clock is read per batch where the header carries a
 * time stamp and per burst under --rate, else never. The times of --pace txtime are computed per message.
 *
 * What becomes of a datagram:
 *   accepted: sent; its flow's sequence number moves on
 *   EINTR, EAGAIN: tried again, not counted
 *   EIO, EINVAL, EMSGSIZE on a GSO message: GSO is off from here on and the same datagrams go out plain; not
 *     counted
 *   EBADF, EFAULT, ENOTSOCK, ENOSYS, EOPNOTSUPP, EDESTADDRREQ: the program itself is wrong; the thread ends and
 *     the run fails
 *   any other errno: refused, counted by errno; the next datagram takes its sequence number over. Without --rate
 *     a pause follows, except after ECONNREFUSED (a passing event) and EMSGSIZE (ends with the count anyway)
 */
#ifndef SOURCE_WORKER_H
#define SOURCE_WORKER_H

#include "base/clock.h"
#include "source/flows.h"
#include "source/pacer.h"
#include "source/stats.h"
#include "source/tx.h"

/* After a refusal without --rate: keeps a run that is refused throughout (a firewall, a full queue) from spinning. */
#define WORKER_PAUSE_NS 100000

struct worker {
	struct stats_block stats;
	/* set before worker_prepare, constant afterwards */
	unsigned index;           /* of conf->threads */
	int cpu;                  /* to be pinned to; -1 = none */
	const struct source_conf *conf;
	struct flows *flows;
	struct asked *asked;      /* DNS; NULL: none */
	atomic_bool *stop;        /* of all threads: set from outside, or here when the thread cannot go on */
	/* of the thread */
	struct tx tx;
	struct random random;
	struct dst_walk walk;
	struct order order;       /* of the flows of this thread */
	struct pacer pacer;       /* waits under --rate; else it only has no figures */
	uint64_t tried;           /* datagrams so far, but those of the batch at hand */
	uint64_t left;            /* still to be tried; UINT64_MAX = no end */
	struct flow *flow;        /* whose turn it is */
	uint64_t turn;            /* datagrams left of it; 0 = the next flow */
	/* for the report; read after the thread has ended */
	struct err err;           /* why it could not start, or had to end */
	int gso_errno;            /* why GSO was turned off; 0 = it was not */
	struct clock_usage before, after; /* around the sends */
	int cpu_ran;
};

/* Pins the thread and allocates. Thread of the worker. On failure w->err says why. */
int worker_prepare(struct worker *w);

/* Sends everything; base_ns: when to begin, and the beginning of the plan of --rate. Thread of the worker. */
void worker_run(struct worker *w, uint64_t base_ns);

/* One batch: the datagrams in slots 0..n-1 for this flow. Returns 0, or -errno when the thread cannot go on. */
int worker_batch(struct worker *w, struct flow *flow, unsigned n);

/* The share of thread `index` of `count`: shares differ by one at most and add up exactly. UINT64_MAX (no end)
 * stays. */
uint64_t worker_share(uint64_t count, unsigned index, unsigned threads);

/* After the thread has ended. */
void worker_free(struct worker *w);

#endif
