/* SPDX-License-Identifier: MIT */
/* A table for people: one row per run or period, and a line each for what was refused, for GSO and for the pace.
 * "-" = undefined. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

	log_info("%u flow%s from %s to %s, payload %" PRIu64 " bytes, run id %08" PRIx32, flows->n,
		 flows->n > 1 ? "s" : "",
		 addr_format(&flows->flow[0].sock.local, from, sizeof(from)),
		 addr_format(&conf->dst, to, sizeof(to)), conf->payload, conf->run);
	if (conf->gso > 1)
		log_info("GSO: %u datagrams per message", conf_segments(conf));
	printf("%-16s %12s %10s %14s %9s %10s %9s %8s %7s\n", "sender", "sent", "refused", "bytes",
	       "seconds", "pps", "Mbit/s", "wall ns", "cpu ns");
	return flush(err);
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

static void print_pace(const struct report *r)
{
	const struct pacer *p = &r->pace;
	char achieved[CELL];

	printf("  pace: target %" PRIu64 ", achieved %s pps; largest burst %" PRIu64
	       "; late bursts %" PRIu64 " of %" PRIu64
	       "; late by us: p50 %.1f p99 %.1f max %.1f; schedule moved %" PRIu64 " times\n",
	       r->conf->rate, decimal(r->achieved, 1, achieved), p->largest, p->late, p->bursts,
	       (double)pacer_permille(p, 500) / 1e3, (double)pacer_permille(p, 990) / 1e3,
	       (double)p->late_max_ns / 1e3, p->moved);
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
	if (conf->rate)
		print_pace(r);
	return flush(err);
}

const struct report_voice report_text = { .header = header, .report = report };
