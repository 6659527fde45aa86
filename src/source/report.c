/* SPDX-License-Identifier: MIT */
#include "source/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "net/sock_buffer.h"

/* IP_MTU_DISCOVER values under which the kernel refuses a datagram larger than the MTU instead of cutting it:
 * IP_PMTUDISC_DO, PROBE, INTERFACE (ip_dont_fragment and ip_sk_ignore_df in net/ip.h). */
#define REFUSES_LARGE(pmtu) ((pmtu) >= 2 && (pmtu) <= 4)

static void snapshot(const struct workers *team, struct stats *out)
{
	struct stats one;

	*out = (struct stats){ 0 };
	for (unsigned i = 0; i < team->n; i++) {
		stats_snapshot(&team->member[i].worker.stats, &one);
		stats_sum(out, &one);
	}
}

void report_period(struct report *r, const struct workers *team, struct report_mark *mark)
{
	struct report_mark now = { .ns = clock_mono() };

	snapshot(team, &now.stats);
	*r = (struct report){
		.kind = REPORT_PERIOD,
		.conf = team->member[0].worker.conf,
		.since_ns = clock_elapsed(team->base_ns, mark->ns),
		.until_ns = clock_elapsed(team->base_ns, now.ns),
		.total = { .cpu_asked = -1, .cpu_ran = -1, .start_ns = mark->ns, .end_ns = now.ns },
		.target = NAN,
		.achieved = NAN,
	};
	stats_difference(&r->total.stats, &now.stats, &mark->stats);
	*mark = now;
}

/* A paced thread waits for its first datagram: that is not sending time. */
static uint64_t started(const struct worker *w)
{
	return w->pacer.bursts ? w->pacer.first_ns : w->before.mono_ns;
}

static void fill_row(struct report_row *row, const struct worker *w)
{
	/* The split is sampled and scaled, so that a part may come out smaller than before: keep it within the
	 * whole. */
	uint64_t cpu = w->after.cpu_ns - w->before.cpu_ns;
	uint64_t user = MIN(clock_elapsed(w->before.user_ns, w->after.user_ns), cpu);

	*row = (struct report_row){
		.index = w->index,
		.cpu_asked = w->cpu,
		.cpu_ran = w->cpu_ran,
		.start_ns = started(w),
		.end_ns = w->after.mono_ns,
		.cpu_ns = cpu,
		.user_ns = user,
		.system_ns = cpu - user,
	};
	stats_snapshot(&w->stats, &row->stats);
}

void report_total(struct report *r)
{
	struct report_row *total = &r->total;

	*total = (struct report_row){ .cpu_asked = -1, .cpu_ran = -1, .start_ns = UINT64_MAX };
	for (unsigned i = 0; i < r->n; i++) {
		const struct report_row *row = &r->thread[i];

		stats_sum(&total->stats, &row->stats);
		total->start_ns = MIN(total->start_ns, row->start_ns);
		total->end_ns = MAX(total->end_ns, row->end_ns);
		total->cpu_ns += row->cpu_ns;
		total->user_ns += row->user_ns;
		total->system_ns += row->system_ns;
	}
}

static void add_impairments(struct report *r, const struct flows *flows)
{
	const struct impair *p = &r->conf->impair;

	for (unsigned i = 0; i < flows->n; i++) {
		r->withheld += impair_withheld(p, flows->flow[i].sequence);
		r->reordered += impair_reordered(p, flows->flow[i].sequence);
		r->duplicated += impair_duplicates(p, flows->flow[i].sequence);
	}
}

static void add_rates(struct report *r)
{
	const struct stats *s = &r->total.stats;

	r->target = r->achieved = NAN;
	if (!r->conf->rate.n || !r->pace.bursts)
		return;
	r->target = pacer_target(&r->pace);
	r->achieved = pacer_released(&r->pace) * (double)s->sent / (double)MAX(stats_attempted(s), 1);
}

int report_sum(struct report *r, const struct workers *team, struct err *err)
{
	*r = (struct report){
		.kind = REPORT_SUM,
		.conf = team->member[0].worker.conf,
		.thread = calloc(team->n, sizeof(*r->thread)),
		.n = team->n,
		.signalled = team->signalled,
	};
	if (!r->thread)
		return err_sys(err, ENOMEM, "memory for the report");
	for (unsigned i = 0; i < r->n; i++) {
		const struct worker *w = &team->member[i].worker;

		fill_row(&r->thread[i], w);
		pacer_add(&r->pace, &w->pacer);
		if (w->gso_errno)
			r->gso_errno = w->gso_errno;
	}
	report_total(r);
	add_rates(r);
	add_impairments(r, team->member[0].worker.flows);
	r->since_ns = 0;
	r->until_ns = clock_elapsed(team->base_ns, r->total.end_ns);
	return 0;
}

void report_rates(const struct report_row *row, struct report_rates *out)
{
	const struct stats *s = &row->stats;
	double ns = clock_elapsed(row->start_ns, row->end_ns), sent = s->sent;

	*out = (struct report_rates){
		.seconds = ns / (double)NSEC_PER_SEC,
		.pps = ns > 0 ? sent * (double)NSEC_PER_SEC / ns : NAN,
		.bps = ns > 0 ? 8 * (double)s->bytes * (double)NSEC_PER_SEC / ns : NAN,
		.wall_ns = s->sent ? ns / sent : NAN,
		.cpu_ns = s->sent && row->cpu_ns ? (double)row->cpu_ns / sent : NAN,
		.user_ns = s->sent && row->cpu_ns ? (double)row->user_ns / sent : NAN,
		.system_ns = s->sent && row->cpu_ns ? (double)row->system_ns / sent : NAN,
		.per_call = s->calls ? sent / (double)s->calls : NAN,
	};
}

void report_free(struct report *r)
{
	free(r->thread);
	r->thread = NULL;
}

/* Packets of our own are never cut by the kernel: too large ones are refused. */
static void notice_raw_mtu(const struct source_conf *conf, const struct flows *flows)
{
	const struct wire_part part = wire_part(conf->size.high + WIRE_UDP,
						conf->fragments.size ? (unsigned)conf->fragments.size : UINT16_MAX, 0);
	size_t size = wire_ip_size(conf->dst.sa.sa_family, &part) + part.len;

	if (flows->mtu && size > flows->mtu)
		log_notice("packets of %zu bytes do not fit the path MTU of %u: refused with EMSGSIZE; --fragment makes smaller ones",
			   size, flows->mtu);
}

static void notice_mtu(const struct source_conf *conf, const struct flows *flows)
{
	char cut[64];

	if (conf->sender == TX_RAW) {
		notice_raw_mtu(conf, flows);
		return;
	}
	if (flows->fragments <= 1)
		return;
	snprintf(cut, sizeof(cut), "%u fragments per datagram", flows->fragments);
	log_notice("payload %u does not fit the path MTU of %u (at most %u do): %s",
		   conf->size.high, flows->mtu, flows->fit,
		   REFUSES_LARGE(conf->pmtu) ? "refused with EMSGSIZE, as --pmtu forbids fragments"
					     : cut);
}

/* Many ports do not make many flows for whoever looks at fragments: all but the first have none. */
static void notice_ports(const struct source_conf *conf, const struct flows *flows)
{
	if (flows->fragments > 1 && !REFUSES_LARGE(conf->pmtu) && conf->flows > 1 && conf->src.n <= 1)
		log_notice("fragments carry no ports: all %d flows hash to one receive queue; --src-range tells them apart",
			   conf->flows);
}

static void notice_spread(const struct source_conf *conf, const struct flows *flows)
{
	const bool sink = conf->spread.kind == SPREAD_SINK;
	unsigned least, most;

	if (!conf->spread.kind)
		return;
	spread_least_most(&flows->spread, &least, &most);
	log_notice("--spread: %u flows on %u %s, %u to %u on each", flows->n, conf->spread.queues, sink ? "workers" : "queues", least, most);
}

void report_notices(const struct source_conf *conf, const struct flows *flows)
{
	char text[256];

	notice_spread(conf, flows);
	notice_mtu(conf, flows);
	if (conf->pcap_text && *capture_left_out(&conf->capture, text, sizeof(text)))
		log_notice("--pcap %s: %s", conf->pcap_text, text);
	if (conf->capture.truncated)
		log_warning("--pcap %s: the file ends within a packet; what is before it is sent", conf->pcap_text);
	notice_ports(conf, flows);
	if (sock_buffer_shortfall(&flows->flow[0].sock.sndbuf, text, sizeof(text)))
		log_notice("%s", text);
}

const struct report_voice *report_voice(int format)
{
	return format == CONF_JSON ? &report_json : &report_text;
}
