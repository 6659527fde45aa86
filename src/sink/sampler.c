/* SPDX-License-Identifier: MIT */
#include "sink/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sampler_open(struct sampler *s, struct worker *worker, unsigned workers, const struct sock_set *set,
		 struct sampler_carry *carry)
{
	unsigned n = set ? set->capacity : 1;

	*s = (struct sampler){ .worker = worker, .workers = workers, .set = set, .carry = carry };
	s->last_drops = calloc(n, sizeof(*s->last_drops));
	s->drops = calloc(n, sizeof(*s->drops));
	s->queue_max = calloc(n, sizeof(*s->queue_max));
	s->queue_limit = calloc(n, sizeof(*s->queue_limit));
	if (!s->last_drops || !s->drops || !s->queue_max || !s->queue_limit) {
		sampler_close(s);
		return -ENOMEM;
	}
	sampler_sockets(s);
	for (unsigned i = 0; carry && set && i < MIN(carry->n, s->watched); i++)
		s->drops[i] = (uint32_t)(s->last_drops[i] - carry->drops[i]);
	return 0;
}

/* Sockets that joined later do not outlive the run. */
static void keep(const struct sampler *s, struct sampler_carry *carry)
{
	unsigned n = MIN(s->watched, s->set->opened);

	if (carry->n < n) {
		free(carry->drops);
		*carry = (struct sampler_carry){ .n = n, .drops = calloc(n, sizeof(*carry->drops)) };
	}
	if (carry->drops)
		memcpy(carry->drops, s->last_drops, n * sizeof(*carry->drops));
	else
		carry->n = 0;
}

void sampler_close(struct sampler *s)
{
	if (s->carry && s->set && s->watched)
		keep(s, s->carry);
	free(s->last_drops);
	free(s->drops);
	free(s->queue_max);
	free(s->queue_limit);
	*s = (struct sampler){ 0 };
}

/* A queue that is always full when it drops is read too slowly; one that empties in between met a burst. */
static void look_for_overload(struct sampler *s, const struct sock_memory *m, uint32_t dropped)
{
	s->dropping += dropped > 0;
	s->full += dropped > 0 && m->rmem >= m->rcvbuf / 4 * 3;
}

void sampler_sockets(struct sampler *s)
{
	unsigned n = s->set ? atomic_load_explicit(&s->set->n, memory_order_acquire) : 0;

	s->queued = 0;
	for (unsigned i = 0; i < n; i++) {
		struct sock_memory m;

		if (sock_memory(s->set->sock[i].fd, &m)) {
			s->unread++;
			continue;
		}
		s->queued += m.rmem;
		if (i < s->watched)
			look_for_overload(s, &m, m.drops - s->last_drops[i]);
		/* A socket of the start counts from now; one that joined later was made during the run and counts from 0. */
		if (i < s->watched)
			s->drops[i] += (uint32_t)(m.drops - s->last_drops[i]);
		else if (s->watched && m.drops)
			s->drops[i] = m.drops;
		s->last_drops[i] = m.drops;
		s->queue_max[i] = MAX(s->queue_max[i], m.rmem);
		s->queue_limit[i] = m.rcvbuf;
	}
	s->watched = n;
}

int sample_new(struct sample *out, const struct sampler *s)
{
	out->mono_ns = 0;
	out->worker = calloc(s->workers, sizeof(*out->worker));
	out->drops = calloc(s->set ? s->set->capacity : 1, sizeof(*out->drops));
	if (out->worker && out->drops)
		return 0;
	sample_free(out);
	return -ENOMEM;
}

void sample_free(struct sample *sample)
{
	free(sample->worker);
	free(sample->drops);
	*sample = (struct sample){ 0 };
}

void sampler_read(struct sampler *s, struct sample *out)
{
	sampler_sockets(s);
	for (unsigned i = 0; i < s->workers; i++) {
		stats_snapshot(s->worker[i].block, &out->worker[i].stats);
		if (atomic_load(&s->worker[i].done) || clock_usage_thread(s->worker[i].tid, &out->worker[i].usage))
			out->worker[i].usage = s->worker[i].end;
	}
	for (unsigned i = 0; i < s->watched; i++)
		out->drops[i] = s->drops[i];
	out->mono_ns = clock_mono();
}
