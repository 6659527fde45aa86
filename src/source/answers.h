/* SPDX-License-Identifier: MIT */
/*
 * answers - reads what a name server answers, beside the sending threads: one reading thread for each, which takes the flows of that thread.
 *
 * Latency is from when a query was to be sent (with --rate: by the plan; else when its batch was put together) to when its answer was read: open loop, so that a
 * source that falls behind does not hide it. The clock is read once for what one recvmmsg(2) brought. The readers are not pinned: they are to use the CPUs that
 * senders leave.
 */
#ifndef SOURCE_ANSWERS_H
#define SOURCE_ANSWERS_H

#include "base/hist.h"
#include "net/dns.h"
#include "source/flows.h"

/* name, help */
#define ANSWERS_COUNTERS(X)                                                                    \
	X(answered, "queries whose answer came in time")                                       \
	X(late, "whose answer came after --dns-timeout")                                       \
	X(unexpected, "answers to no query that waits: a second one, or another question or id") \
	X(malformed, "datagrams that are no answer")                                           \
	X(truncated, "of the answers, late ones too, with TC set")

struct answers_counts {
#define X(name, help) uint64_t name;
	ANSWERS_COUNTERS(X)
#undef X
	uint64_t rcode[DNS_RCODES]; /* of the answers, late ones too */
	struct hist latency;        /* of the answers in time, ns */
	uint64_t latency_min_ns, latency_sum_ns;
};

struct answers;

/* The threads begin to read. flows->asked is set. Main, before workers_start. Ends with answers_free; *out is NULL without DNS. */
int answers_start(struct answers **out, const struct source_conf *conf, struct flows *flows, struct err *err);

/* After the sending threads have ended: waits until each of the `sent` queries was answered or --dns-timeout has passed, then ends the threads. signalled: a
 * signal has ended the run, nothing is waited for. pause: sleeps until a time at the latest; true = a signal asks to end. Accepts NULL. */
void answers_finish(struct answers *a, uint64_t sent, bool signalled, bool (*pause)(uint64_t ns));

struct answers_sum {
	uint64_t asked;       /* queries that the kernel accepted */
	struct answers_counts counts;
	uint64_t lost;        /* no answer in time, or their place was needed (asked.h) */
	uint64_t outstanding; /* still within their time when a signal ended the run. asked = answered + late + lost + outstanding */
	uint64_t socket_drops; /* of all flows: answers may be among them */
};

/* After answers_finish. */
void answers_sum(const struct answers *a, struct answers_sum *out);

void answers_free(struct answers *a);

#endif
