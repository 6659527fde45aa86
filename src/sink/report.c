/* SPDX-License-Identifier: MIT */
#include "sink/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double per(double amount, double by)
{
	return by > 0 ? amount / by : (double)NAN;
}

void report_rates(const struct report_worker *w, struct report_rates *out)
{
	const struct stats *s = &w->stats;
	double n = (double)s->datagrams, seconds = (double)w->duration_ns / (double)NSEC_PER_SEC;
	double batches = 0;

	for (unsigned i = 0; i < STATS_FILL; i++)
		batches += (double)s->fill[i];
	*out = (struct report_rates){
		.pps = per(n, seconds),
		.bps = per(8. * (double)s->wire_bytes, seconds),
		.wall_ns = per((double)w->duration_ns, w->duration_ns ? n : 0),
		.cpu_ns = per((double)w->cpu_ns, n),
		.user_ns = per((double)w->user_ns, w->split ? n : 0),
		.system_ns = per((double)w->system_ns, w->split ? n : 0),
		.cycles = per((double)w->cycles, n),
		.payload = per((double)s->bytes, n),
		.batch = per((double)s->buffers, batches),
		.segments = per(n, (double)s->buffers),
		.busy = per((double)w->cpu_ns, (double)w->duration_ns),
	};
}

void report_note(struct report *r, const char *format, ...)
{
	va_list args;

	if (r->notes == REPORT_NOTES)
		return;
	va_start(args, format);
	vsnprintf(r->note[r->notes++], sizeof(r->note[0]), format, args);
	va_end(args);
}

/* Jain, Chiu, Hawe: "A quantitative measure of fairness", DEC TR-301, 1984: (sum x)^2 / (n sum x^2); 1 = even, 1/n = one has all. */
static double fairness(const struct report *r)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < r->workers; i++) {
		double x = (double)r->worker[i].stats.datagrams;

		sum += x;
		squares += x * x;
	}
	return r->workers > 1 ? per(sum * sum, r->workers * squares) : (double)NAN;
}

static void note_spread(struct report *r)
{
	unsigned idle = 0;
	double flows = round(r->total.flows);

	for (unsigned i = 0; i < r->workers; i++)
		idle += r->worker[i].stats.datagrams == 0;
	if (r->workers > 1 && idle && !r->setup->conf->shared_socket && flows >= 1 && flows < r->workers)
		report_note(r, "%.0f flow%s seen: %u of %u threads idle by design (a flow stays on one socket)", flows,
		     flows < 2 ? "" : "s", idle, r->workers);
	for (unsigned i = 0; i < r->workers && r->workers > 1; i++)
		for (unsigned j = 0; j < r->workers; j++) {
			struct report_rates rates;

			report_rates(&r->worker[j], &rates);
			if (!r->worker[i].drops || i == j || rates.busy >= 0.1)
				continue;
			report_note(r, "worker %u dropped %llu while worker %u was less than 10 %% busy: uneven spread", i,
			     (unsigned long long)r->worker[i].drops, j);
			return;
		}
}

/* A buffer that is full whenever something is dropped does not meet bursts: a larger one would be full as well, a little later. */
static void note_drops(struct report *r)
{
	bool sustained = r->full >= REPORT_SUSTAINED && 2 * r->full > r->dropping;

	report_note(r, "the sockets dropped %llu: receive buffer %u of %u bytes at most; %s", (unsigned long long)r->total.drops, r->total.queue_max,
		    r->total.queue_limit, sustained ? "full at most looks: sustained overload, which a faster reader cures and --rcvbuf does not" :
		    "a faster reader or --rcvbuf helps where it was full, not against wrong checksums");
}

static void note_doubts(struct report *r)
{
	const struct stats *s = &r->total.stats;

	if (s->ctrunc) {
		report_note(r, "control messages of %llu datagrams were cut: the control buffer is too small", (unsigned long long)s->ctrunc);
		r->unreliable = true;
	}
	if (r->setup->conf->recv_ttl && !(r->engine->ops->caps & ENGINE_CMSG))
		report_note(r, "--recv-ttl: %s takes no control messages, so the values are not counted", r->engine->ops->name);
	if (r->total.connect_failed)
		report_note(r, "%llu flows got no connected socket (raise --max-flows or the limit of open files)",
		     (unsigned long long)r->total.connect_failed);
	if (r->total.drops)
		note_drops(r);
	if (r->end_unknown)
		report_note(r, "stopped while a batch was being filled: when its last datagram came is not known, and the window may "
			       "end up to --sk-timeout too late (--waitforone has no such batches)");
	if (s->truncated && !r->setup->conf->no_copy)
		report_note(r, "%llu datagrams were longer than --buffer-size", (unsigned long long)s->truncated);
}

static void add_worker(struct report_worker *t, const struct report_worker *w)
{
	stats_add(&t->stats, &w->stats);
	t->cpu_ns += w->cpu_ns;
	t->user_ns += w->user_ns;
	t->system_ns += w->system_ns;
	t->split |= w->split;
	t->wakeups += w->wakeups;
	t->preemptions += w->preemptions;
	t->ring_drops += w->ring_drops;
	t->connected += w->connected;
	t->connect_failed += w->connect_failed;
	t->cycles = MAX(t->cycles, w->cycles);
}

void report_total(struct report *r, uint64_t duration_ns)
{
	r->total.duration_ns = duration_ns;
	for (unsigned i = 0; i < r->workers; i++)
		add_worker(&r->total, &r->worker[i]);
	if (report_knows(r, STATS_truncated) && !r->total.stats.truncated)
		r->known |= STATS_WIRE_LEN;
	r->fairness = fairness(r);
	note_spread(r);
	note_doubts(r);
}

char *report_label(const struct setup_engine *e, char *buf, size_t size)
{
	const struct engine_conf *c = &e->conf;
	unsigned caps = e->ops->caps;
	bool name = caps & ENGINE_SRC && (c->need_src || strcmp(e->ops->name, "recvfrom") == 0);
	bool control = caps & ENGINE_CMSG && c->control_size;
	char batch[16] = "";

	if (caps & ENGINE_BATCH)
		snprintf(batch, sizeof(batch), "/%u", c->batch);
	snprintf(buf, size, "%s%s%s%s%s", e->ops->name, batch, name ? " +name" : "", control ? " +control" : "",
		 c->gro ? " +gro" : "");
	return buf;
}

int report_flush(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return errno ? -errno : -EIO;
}

const struct report_voice *report_voice(enum conf_format format)
{
	static const struct report_voice *const voices[] = { &report_text, &report_classic, &report_json };

	return voices[format];
}
