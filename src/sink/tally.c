/* SPDX-License-Identifier: MIT */
#include "sink/tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int begin(struct report *out, const struct setup *setup, const struct setup_engine *engine, unsigned run,
		 unsigned workers)
{
	const struct sink_conf *conf = setup->conf;
	unsigned bits = handler_bits(conf, engine->ops, setup->dual, setup->workers);

	*out = (struct report){ .setup = setup, .engine = engine, .run = run, .workers = workers };
	out->known |= engine->ops->caps & ENGINE_TRUNC ? STATS_TRUNC : 0;
	out->known |= engine->ops->caps & ENGINE_WIRE_LEN ? STATS_WIRE_LEN : 0;
	out->known |= engine->ops->caps & ENGINE_CMSG && engine->conf.control_size ? STATS_CONTROL : 0;
	out->known |= bits & HANDLER_FAMILY ? STATS_FAMILY : 0;
	out->known |= bits & HANDLER_SEQUENCE ? STATS_SEQUENCE : 0;
	out->known |= bits & (HANDLER_SEQUENCE | HANDLER_TRAILERS) ? STATS_TRAILERS : 0;
	out->known |= bits & HANDLER_PKTGEN ? STATS_PKTGEN : 0;
	out->worker = calloc(workers, sizeof(*out->worker));
	return out->worker ? 0 : -ENOMEM;
}

static void identity(struct report_worker *w, const struct worker *from)
{
	w->index = from->slot.index;
	w->cpu_asked = from->slot.cpu;
	w->cpu_obtained = from->cpu_obtained;
	w->flows = (double)NAN;
}

static void usage(struct report_worker *w, const struct clock_usage *from, const struct clock_usage *to)
{
	struct clock_usage used;

	clock_usage_since(from, to, &used);
	w->cpu_ns = used.cpu_ns;
	w->user_ns = used.user_ns;
	w->system_ns = used.system_ns;
	w->cycles = used.cycles;
	w->wakeups = used.voluntary;
	w->preemptions = used.involuntary;
}

/* Drops and queues of the sockets that belong to this worker alone; a shared socket shows in the total only. */
static void sockets_of(struct report_worker *w, const struct worker *from, const struct setup *setup,
		       const struct sampler *s, const uint64_t *before)
{
	if (setup->conf->shared_socket)
		return;
	for (unsigned i = 0; i < from->slot.nsocks; i++) {
		unsigned k = from->slot.socks[i];

		w->drops += s->drops[k] - (before ? before[k] : 0);
		w->queue_max = MAX(w->queue_max, s->queue_max[k]);
		w->queue_limit = MAX(w->queue_limit, s->queue_limit[k]);
	}
}

static void sockets_of_all(struct report_worker *total, const struct sampler *s, const uint64_t *before)
{
	for (unsigned k = 0; k < s->watched; k++) {
		total->drops += s->drops[k] - (before ? before[k] : 0);
		total->queue_max = MAX(total->queue_max, s->queue_max[k]);
		total->queue_limit = MAX(total->queue_limit, s->queue_limit[k]);
	}
}

int tally_period(struct report *out, const struct setup *setup, const struct setup_engine *engine, unsigned run,
		 const struct sampler *sampler, const struct sample *before, const struct sample *now, uint64_t ready_ns)
{
	int rc = begin(out, setup, engine, run, sampler->workers);

	if (rc)
		return rc;
	out->kind = REPORT_PERIOD;
	out->since_ns = clock_elapsed(ready_ns, before->mono_ns);
	out->until_ns = clock_elapsed(ready_ns, now->mono_ns);
	for (unsigned i = 0; i < out->workers; i++) {
		struct report_worker *w = &out->worker[i];
		const struct worker *from = &sampler->worker[i];

		identity(w, from);
		stats_delta(&now->worker[i].stats, &before->worker[i].stats, &w->stats);
		usage(w, &before->worker[i].usage, &now->worker[i].usage);
		w->split = w->cpu_ns >= 10 * REPORT_TICK_NS;
		w->duration_ns = clock_elapsed(before->mono_ns, now->mono_ns);
		sockets_of(w, from, setup, sampler, before->drops);
	}
	out->total.flows = (double)NAN;
	sockets_of_all(&out->total, sampler, before->drops);
	report_total(out, clock_elapsed(before->mono_ns, now->mono_ns));
	return 0;
}

/* What a worker's own tables held. */
static int views(struct report *out, struct report_worker *w, const struct worker *from, struct flows *all)
{
	const struct handler *h = &from->handler;

	if (h->flows) {
		w->flows = flows_count(h->flows);
		flows_merge(all, h->flows);
	}
	w->connected = h->each.flows;
	w->connect_failed = h->each.failed;
	if (h->destinations) {
		struct destinations *sum = out->destinations ? out->destinations : calloc(1, sizeof(*sum));

		if (!sum)
			return -ENOMEM;
		out->destinations = sum;
		destination_merge(sum, h->destinations);
	}
	if (h->fields) {
		struct handler_fields *sum = out->fields ? out->fields : calloc(1, sizeof(*sum));

		if (!sum)
			return -ENOMEM;
		out->fields = sum;
		for (unsigned i = 0; i < 256; i++) {
			sum->tos[i] += h->fields->tos[i];
			sum->ttl[i] += h->fields->ttl[i];
		}
		sum->rxq_ovfl = MAX(sum->rxq_ovfl, h->fields->rxq_ovfl);
		sum->malformed += h->fields->malformed;
	}
	return 0;
}

static int sum_worker(struct report *out, unsigned i, const struct sampler *sampler, struct flows *all)
{
	struct report_worker *w = &out->worker[i];
	const struct worker *from = &sampler->worker[i];
	struct engine_counters counters = { 0 };

	identity(w, from);
	stats_snapshot(from->block, &w->stats);
	if (from->begin.mono_ns) {
		usage(w, &from->begin, &from->end);
		w->split = true;
		w->duration_ns = clock_elapsed(from->begin.mono_ns, from->last_ns);
	}
	sockets_of(w, from, out->setup, sampler, NULL);
	if (from->engine && out->engine->ops->counters)
		out->engine->ops->counters(from->engine, &counters);
	w->ring_drops = counters.ring_drops;
	return views(out, w, from, all);
}

int tally_sum(struct report *out, const struct setup *setup, const struct setup_engine *engine, unsigned run,
	      const struct sampler *sampler, uint64_t ready_ns)
{
	struct flows all = { { 0 } };
	uint64_t first = UINT64_MAX, last = 0;
	int rc = begin(out, setup, engine, run, sampler->workers);

	for (unsigned i = 0; !rc && i < out->workers; i++) {
		const struct worker *w = &sampler->worker[i];

		rc = sum_worker(out, i, sampler, &all);
		if (w->begin.mono_ns) {
			first = MIN(first, w->begin.mono_ns);
			last = MAX(last, w->last_ns);
			out->end_unknown |= w->end_unknown;
		}
	}
	if (rc) {
		tally_free(out);
		return rc;
	}
	out->kind = REPORT_SUM;
	out->since_ns = last ? clock_elapsed(ready_ns, first) : 0;
	out->until_ns = last ? clock_elapsed(ready_ns, last) : 0;
	out->total.flows = sampler->worker[0].handler.flows ? flows_count(&all) : (double)NAN;
	out->total.cpu_asked = out->total.cpu_obtained = -1;
	sockets_of_all(&out->total, sampler, NULL);
	out->dropping = sampler->dropping;
	out->full = sampler->full;
	report_total(out, last ? clock_elapsed(first, last) : 0);
	return 0;
}

#define MOST_LOCALS 64

/* Sockets that early demux could find: connected ones, one for each local address and port, none on loopback. */
static unsigned demux_sockets(const struct sock_set *set)
{
	const struct addr *local[MOST_LOCALS];
	unsigned locals = 0;

	for (unsigned i = 0; i < set->n && locals < MOST_LOCALS; i++) {
		const struct sock *s = &set->sock[i];
		bool known = !s->peer.len || addr_is_loopback(&s->local);

		for (unsigned j = 0; j < locals && !known; j++)
			known = addr_equal(local[j], &s->local);
		if (!known)
			local[locals++] = &s->local;
	}
	return locals;
}

void tally_demux(struct report *out, const struct guardian *guardian)
{
	const struct sock_set *set = &out->setup->set;
	bool loopback = set->n > 0;

	out->early_demux = guardian->ip;
	out->udp_early_demux = guardian->udp;
	out->sockets = set->n;
	out->demux_sockets = guardian->ip > 0 && guardian->udp > 0 ? demux_sockets(set) : 0;
	for (unsigned i = 0; i < set->n; i++)
		loopback &= addr_is_loopback(&set->sock[i].local);
	if (guardian->holds && loopback)
		report_note(out, "--early-demux changes nothing here: the kernel skips early demux on lo");
}

void tally_free(struct report *report)
{
	free(report->worker);
	free(report->destinations);
	free(report->fields);
	free(report->ledger);
	*report = (struct report){ 0 };
}
