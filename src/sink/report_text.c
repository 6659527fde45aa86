/* SPDX-License-Identifier: MIT */
/* A table for people: one row per run or interval, notes under it. Undefined and unknown values are "-". */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/num.h"
#include "net/addr.h"
#include "net/sock_buffer.h"
#include "sink/report.h"
#include "sink/report_ledger.h"

#define CELL 32

static char *decimal(double x, int digits, char *buf)
{
	if (isfinite(x))
		snprintf(buf, CELL, "%.*f", digits, x);
	else
		snprintf(buf, CELL, "-");
	return buf;
}

/* Negative: not known. */
static char *known(int value, char *buf)
{
	return decimal(value < 0 ? (double)NAN : value, 0, buf);
}

/* What was obtained where it is less than what was asked. */
static void say_buffer(const struct sock *k, const char *local)
{
	char text[240];

	if (sock_buffer_shortfall(&k->rcvbuf, text, sizeof(text)))
		log_warning("%s: receive buffer: %s", local, text);
	else
		log_info("%s: receive buffer %" PRIu64 " bytes%s", local, k->rcvbuf.granted, k->rcvbuf.forced ? " (forced)" : "");
}

static void say_sockets(const struct setup *s)
{
	char local[ADDR_TEXT], peer[ADDR_TEXT];

	for (unsigned i = 0; i < s->set.n; i++) {
		const struct sock *k = &s->set.sock[i];

		addr_format(&k->local, local, sizeof(local));
		if (i < s->nlisten)
			say_buffer(k, local);
		if (k->peer.len)
			log_notice("%s: connected to %s", local, addr_format(&k->peer, peer, sizeof(peer)));
	}
	if (s->drained.peer || s->drained.foreign)
		log_notice("thrown away because it was queued before connect(2): %" PRIu64 " datagrams of the peer, %" PRIu64
			   " foreign", s->drained.peer, s->drained.foreign);
	if (s->others > 0)
		log_notice("joined a group: %d other socket%s share%s the port", s->others, s->others > 1 ? "s" : "",
			   s->others > 1 ? "" : "s");
}

static int header(const struct report_header *h)
{
	const struct setup *s = h->setup;
	struct utsname uts = { .release = "?" };
	char ip[CELL], udp[CELL];

	say_sockets(s);
	for (const char *line = s->choice; *line; line += strcspn(line, "\n"), line += *line == '\n')
		log_notice("%.*s", (int)strcspn(line, "\n"), line);
	uname(&uts);
	printf("udp_sink %s, Linux %s, early demux ip %s, udp %s\n", PACKAGE_VERSION, uts.release,
	       known(h->guardian->ip, ip), known(h->guardian->udp, udp));
	printf("%-26s %4s %11s %10s %8s %7s %7s %7s %8s %6s %9s %9s\n", "engine", "run", "datagrams", "pps", "wall ns",
	       "cpu ns", "user", "system", "payload", "batch", "wakeups", "drops");
	return report_flush();
}

int report_say_ready(const struct report_header *h)
{
	const struct setup *s = h->setup;
	char text[ADDR_TEXT];

	if (!s->set.n)
		log_notice("ready: no sockets, %u worker%s", s->workers, s->workers > 1 ? "s" : "");
	for (unsigned i = 0; i < s->nlisten && i < s->set.n; i++)
		log_notice("ready: listening on %s%s, %u worker%s", addr_format(&s->set.sock[i].local, text, sizeof(text)),
			   s->set.sock[i].dual ? " (IPv6 and IPv4)" : "", s->workers, s->workers > 1 ? "s" : "");
	return 0;
}

static void print_row(const struct report *r, const char *label, const struct report_worker *w)
{
	struct report_rates k;
	char cell[8][CELL], run[CELL];

	report_rates(w, &k);
	if (r->kind == REPORT_SUM)
		snprintf(run, sizeof(run), "%u", r->run);
	else
		snprintf(run, sizeof(run), "%.0fs", (double)r->until_ns / (double)NSEC_PER_SEC);
	printf("%-26s %4s %11" PRIu64 " %10s %8s %7s %7s %7s %8s %6s %9" PRIu64 " %9" PRIu64 "%s%s\n", label, run,
	       w->stats.datagrams, decimal(k.pps, 0, cell[0]), decimal(k.wall_ns, 0, cell[1]), decimal(k.cpu_ns, 0, cell[2]),
	       decimal(k.user_ns, 0, cell[3]), decimal(k.system_ns, 0, cell[4]), decimal(k.payload, 0, cell[5]),
	       decimal(k.batch, 1, cell[6]), w->wakeups, w->drops + w->ring_drops, r->partial ? " (partial)" : "",
	       r->unreliable ? " (unreliable)" : "");
}

/* Counters that only matter when they are not zero. */
static void print_exceptions(const struct report *r)
{
	const struct stats *s = &r->total.stats;
	static const enum stats_index shown[] = { STATS_empty, STATS_truncated, STATS_ctrunc, STATS_foreign, STATS_empty_polls };

	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++)
		if (stats_get(s, shown[i]))
			printf("  %s %" PRIu64, stats_info[shown[i]].name, stats_get(s, shown[i]));
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		if (s->error[i])
			printf("  %s %" PRIu64, stats_errno[i].name, s->error[i]);
	for (unsigned i = STATS_ipv4; i <= STATS_ipv6; i++)
		if (report_knows(r, i))
			printf("  %s %" PRIu64, stats_info[i].name, stats_get(s, i));
	if (r->setup->conf->check_sequence) {
		for (unsigned i = STATS_seq_in_order; i <= STATS_trailers; i++)
			printf("  %s %" PRIu64, stats_info[i].name, stats_get(s, i));
		printf("  missing >= %" PRIu64, report_missing(s));
	}
	for (unsigned i = STATS_pktgen_disorder; r->setup->conf->check_pktgen && i <= STATS_pktgen_bad_repeat; i++)
		printf("  %s %" PRIu64, stats_info[i].name, stats_get(s, i));
	if (r->setup->conf->connect_each)
		printf("  connected sockets %" PRIu64, r->total.connected);
	printf("\n");
}

static bool has_exceptions(const struct report *r)
{
	const struct stats *s = &r->total.stats;
	const struct sink_conf *c = r->setup->conf;

	return s->empty || s->truncated || s->ctrunc || s->foreign || s->empty_polls || s->errors || c->check_sequence ||
	       c->check_pktgen || c->connect_each || r->known & STATS_FAMILY;
}

static void print_workers(const struct report *r)
{
	char label[64], flows[CELL], fair[CELL];

	for (unsigned i = 0; i < r->workers; i++) {
		const struct report_worker *w = &r->worker[i];

		snprintf(label, sizeof(label), "  worker %u cpu %d flows %s", i, w->cpu_obtained, decimal(w->flows, 0, flows));
		print_row(r, label, w);
	}
	printf("  fairness %s\n", decimal(r->fairness, 3, fair));
}

static void print_destinations(const struct destinations *d)
{
	char text[ADDR_TEXT];

	for (unsigned i = 0; i < DESTINATION_SLOTS; i++) {
		struct addr a;

		if (!d->slot[i].datagrams)
			continue;
		addr_from_in6(&a, &d->slot[i].ip, 0, 0);
		printf("  to %s: %" PRIu64 " datagrams, %" PRIu64 " bytes\n", addr_format_host(&a, text, sizeof(text)),
		       d->slot[i].datagrams, d->slot[i].bytes);
	}
	if (d->other)
		printf("  to other addresses (table full): %" PRIu64 " datagrams\n", d->other);
}

static void print_fields(const struct handler_fields *f)
{
	for (unsigned i = 0; i < 256; i++)
		if (f->tos[i])
			printf("  TOS 0x%02x (DSCP %u, ECN %u): %" PRIu64 "\n", i, i >> 2, i & 3, f->tos[i]);
	for (unsigned i = 0; i < 256; i++)
		if (f->ttl[i])
			printf("  TTL %u: %" PRIu64 "\n", i, f->ttl[i]);
}

static void print_demux(const struct report *r)
{
	char ip[CELL], udp[CELL];

	printf("  early demux: ip %s, udp %s; could apply to %u of %u sockets\n", known(r->early_demux, ip),
	       known(r->udp_early_demux, udp), r->demux_sockets, r->sockets);
}

static int report(const struct report *r)
{
	char label[64];

	log_progress(NULL);
	print_row(r, report_label(r->engine, label, sizeof(label)), &r->total);
	if (r->kind == REPORT_PERIOD) {
		if (r->ledger)
			report_ledger_print(r->ledger);
		return report_flush();
	}
	if (r->workers > 1)
		print_workers(r);
	if (has_exceptions(r))
		print_exceptions(r);
	if (r->setup->conf->connect || r->setup->conf->connect_each || r->setup->conf->early_demux != CONF_DEMUX_KEEP)
		print_demux(r);
	if (r->destinations)
		print_destinations(r->destinations);
	if (r->fields)
		print_fields(r->fields);
	dropped_print(r->drop_reasons, stdout);
	if (r->ledger)
		report_ledger_print(r->ledger);
	for (unsigned i = 0; i < r->notes; i++)
		printf("  %s\n", r->note[i]);
	return report_flush();
}

static int skipped(const struct setup_engine *e)
{
	printf("%-26s skipped: %s\n", e->ops->name, e->why.text);
	return report_flush();
}

const struct report_voice report_text = {
	.name = "text", .header = header, .ready = report_say_ready, .report = report, .skipped = skipped,
};
