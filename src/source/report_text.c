/* SPDX-License-Identifier: MIT */
/* A table for people: one row per run or period, and a line each for what was refused, for GSO and for the pace.
 * "-" = undefined. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "source/report.h"

#define CELL 32

static char *decimal(double x, int digits, char *buf)
{
	if (isfinite(x))
		snprintf(buf, CELL, "%.*f", digits, x);
	else
		snprintf(buf, CELL, "-");
	return buf;
}

static int flush(struct err *err)
{
	errno = EIO; /* of an earlier write, whose cause stdio does not keep */
	if (fflush(stdout) || ferror(stdout))
		return err_sys(err, errno, "writing to standard output");
	return 0;
}

static int header(const struct source_conf *conf, const struct flows *flows, struct err *err)
{
	char from[ADDR_TEXT], to[ADDR_TEXT];

	log_info("%u flow%s from %s to %s, payload %s bytes, run id %08" PRIx32, flows->n,
		 flows->n > 1 ? "s" : "",
		 addr_format(&flows->flow[0].sock.local, from, sizeof(from)),
		 addr_format(&conf->dst, to, sizeof(to)), conf->size_text, conf->run);
	if (conf->segments > 1)
		log_info("GSO: %u datagrams per message", conf->segments);
	printf("%-16s %12s %10s %14s %9s %10s %9s %8s %7s\n", "sender", "sent", "refused", "bytes",
	       "seconds", "pps", "Mbit/s", "wall ns", "cpu ns");
	return flush(err);
}

static int ready(const struct source_conf *conf, struct err *err UNUSED)
{
	char text[32];
	time_t s = (time_t)(conf->start.at_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!conf->start.at_ns)
		log_notice("ready: a line on standard input starts");
	else if (localtime_r(&s, &tm) && strftime(text, sizeof(text), "%F %T", &tm))
		log_notice("ready: starts at %s.%03u", text, (unsigned)(conf->start.at_ns % NSEC_PER_SEC / NSEC_PER_MSEC));
	return 0;
}

static void print_row(const struct report *r, const char *label, const struct report_row *row)
{
	struct report_rates k;
	char cell[4][CELL];

	report_rates(row, &k);
	printf("%-16s %12" PRIu64 " %10" PRIu64 " %14" PRIu64 " %9.3f %10s %9s %8s %7s%s\n", label,
	       row->stats.sent, stats_refused_total(&row->stats), row->stats.bytes, k.seconds,
	       decimal(k.pps, 0, cell[0]), decimal(k.bps / 1e6, 1, cell[1]),
	       decimal(k.wall_ns, 0, cell[2]), decimal(k.cpu_ns, 0, cell[3]),
	       r->partial ? " (partial)" : "");
}

static void print_refused(const struct stats *s)
{
	const char *before = "  refused:";

	for (unsigned i = 0; i < STATS_ERRNOS; i++) {
		const struct stats_errno *e = &stats_errno[i];

		if (!s->refused[i])
			continue;
		printf("%s %" PRIu64 " %s", before, s->refused[i], e->name);
		if (e->hint)
			printf(" (%s)", e->hint);
		before = ",";
	}
	if (stats_refused_total(s))
		printf("\n");
}

/* What --sender raw made of the datagrams. */
static void print_packets(const struct report *r)
{
	const struct stats *s = &r->total.stats;
	int family = addr_packet_family(&r->conf->dst);
	const char *before = "  bad on purpose:";

	if (r->conf->fragments.size)
		printf("  fragments: %" PRIu64 "; datagrams that no receiver gets whole: %" PRIu64 "\n", s->fragments, s->incomplete);
	for (unsigned i = 0; i < BAD_KINDS; i++) {
		if (!s->bad[i])
			continue;
		printf("%s %" PRIu64 " %s%s", before, s->bad[i], bad_name(i),
		       bad_is_delivered(i, family) ? " (delivered)" : "");
		before = ",";
	}
	if (before[0] == ',')
		printf("\n");
}

static void print_percentiles(const char *what, const struct hist *h)
{
	if (h->n)
		printf("  %s us: p50 %.1f p90 %.1f p99 %.1f p99.9 %.1f max %.1f\n", what, (double)hist_permille(h, 500) / 1e3,
		       (double)hist_permille(h, 900) / 1e3, (double)hist_permille(h, 990) / 1e3, (double)hist_permille(h, 999) / 1e3,
		       (double)h->max / 1e3);
}

static void print_pace(const struct report *r)
{
	const struct pacer *p = &r->pace;
	char target[CELL], achieved[CELL], on_time[CELL];

	printf("  pace: target %s, achieved %s pps; within 20 us of their time %s %% of %" PRIu64 " bursts; largest burst %" PRIu64
	       "; schedule moved %" PRIu64 " times\n", decimal(r->target, 1, target), decimal(r->achieved, 1, achieved),
	       decimal(100. * (double)p->on_time / (double)p->bursts, 2, on_time), p->bursts, p->largest, p->moved);
	print_percentiles("bursts late by", &p->lateness);
	if (r->conf->pace < PACER_TXTIME)
		print_percentiles("gaps off by", &p->gap);
}

static void print_dns(const struct answers_sum *d)
{
	const struct answers_counts *c = &d->counts;
	const char *comma = "";

	printf("  dns: asked %" PRIu64 ", answered %" PRIu64 " (%.2f %%), late %" PRIu64 ", lost %" PRIu64, d->asked, c->answered,
	       d->asked ? 100. * (double)c->answered / (double)d->asked : 0., c->late, d->lost);
	if (d->outstanding)
		printf(", outstanding %" PRIu64, d->outstanding);
	if (c->unexpected || c->malformed || c->truncated)
		printf(", unexpected %" PRIu64 ", malformed %" PRIu64 ", truncated %" PRIu64, c->unexpected, c->malformed, c->truncated);
	if (d->socket_drops)
		printf(", dropped by the sockets %" PRIu64, d->socket_drops);
	printf("\n  rcodes: ");
	for (unsigned i = 0; i < DNS_RCODES; i++) {
		if (!c->rcode[i])
			continue;
		printf("%s%" PRIu64 " %s", comma, c->rcode[i], dns_rcode_name(i));
		comma = ", ";
	}
	printf("%s\n", *comma ? "" : "-");
	print_percentiles("latency", &c->latency);
}

static int report(const struct report *r, struct err *err)
{
	const struct source_conf *conf = r->conf;
	char label[CELL];

	log_progress(NULL);
	snprintf(label, sizeof(label), "%s/%d", tx_table[conf->sender]->name, conf->batch);
	print_row(r, label, &r->total);
	for (unsigned i = 0; r->n > 1 && i < r->n; i++) {
		snprintf(label, sizeof(label), "  thread %u cpu %d", r->thread[i].index,
			 r->thread[i].cpu_ran);
		print_row(r, label, &r->thread[i]);
	}
	if (r->kind == REPORT_PERIOD)
		return flush(err);
	print_refused(&r->total.stats);
	if (r->gso_errno)
		printf("  GSO was turned off: the kernel refused UDP_SEGMENT with %s\n",
		       stats_errno_name(r->gso_errno));
	print_packets(r);
	if (conf->zerocopy)
		printf("  zero copy: the kernel copied %" PRIu64 " of %" PRIu64 " messages all the same\n",
		       r->total.stats.zerocopy_copied, r->total.stats.messages);
	if (impair_any(&conf->impair))
		printf("  faults made: %" PRIu64 " withheld, %" PRIu64 " reordered, %" PRIu64 " duplicated\n", r->withheld, r->reordered,
		       r->duplicated);
	if (conf->trailer)
		printf("  trailers: %" PRIu64 "\n", r->trailers);
	if (conf->rate.n)
		print_pace(r);
	if (r->dns)
		print_dns(r->dns);
	return flush(err);
}

const struct report_voice report_text = { .header = header, .ready = ready, .report = report };
