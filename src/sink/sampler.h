/* SPDX-License-Identifier: MIT */
/*
 * sampler - reads everything at one moment: the workers' blocks, their CPU clocks, the sockets' drops and queues. Control thread.
 *
 * Sources are not read atomically with each other; only a window whose source has stopped and whose queue is drained can be judged to the last
 * datagram.
 */
#ifndef SINK_SAMPLER_H
#define SINK_SAMPLER_H

#include "base/clock.h"
#include "net/sockset.h"
#include "sink/stats.h"
#include "sink/worker.h"

struct sample_worker {
	struct stats stats;
	struct clock_usage usage;
};

struct sample {
	uint64_t mono_ns;
	struct sample_worker *worker; /* workers entries */
	uint64_t *drops;              /* per socket, since the sampler began; capacity of the set */
};

/* What the sockets had dropped when the last run ended: what they drop between two runs counts in the next one, as what they queue does. Empty before the
 * first run. */
struct sampler_carry {
	unsigned n;
	uint32_t *drops; /* n entries; owned, free(3) */
};

struct sampler {
	struct worker *worker;
	unsigned workers;
	const struct sock_set *set;  /* NULL: an engine without sockets */
	uint32_t *last_drops;        /* 32-bit counters as read last, per socket */
	uint64_t *drops;             /* their sum since the start, wraps taken out */
	uint32_t *queue_max;         /* largest receive memory seen, per socket, bytes */
	uint32_t *queue_limit;       /* receive memory limit, per socket, bytes */
	unsigned watched;            /* sockets that have a baseline */
	uint64_t queued;             /* receive memory in use when looked at last, of all sockets, bytes */
	uint64_t unread;             /* samples in which a socket could not be read */
	unsigned dropping, full;     /* looks that found new drops; of these, those that found that socket's memory 3/4 full */
	struct sampler_carry *carry;
};

/* carry: read here, and written by sampler_close; NULL = none. */
int sampler_open(struct sampler *s, struct worker *worker, unsigned workers, const struct sock_set *set,
		 struct sampler_carry *carry);

/* Drops and queues only: cheap, several times a second. Sockets that joined the set get their baseline. */
void sampler_sockets(struct sampler *s);

int sample_new(struct sample *out, const struct sampler *s);
void sample_free(struct sample *sample);

/* Everything. A worker that has ended keeps the usage it ended with. */
void sampler_read(struct sampler *s, struct sample *out);

void sampler_close(struct sampler *s);

#endif
