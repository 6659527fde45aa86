/* SPDX-License-Identifier: MIT */
/* One JSON object per line: header, ready, period, sum, skipped. Described in udpsink-report(5). Undefined and unknown values are null. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/record.h"
#include "net/netns.h"
#include "sink/env.h"
#include "sink/report.h"
#include "sink/report_ledger.h"

#define SCHEMA 1

static int print(json_t *record)
{
	int rc = record ? record_line(stdout, record) : -ENOMEM;

	json_decref(record);
	return rc;
}

static json_t *typed(const char *type)
{
	json_t *o = json_object();

	record_add_text(o, "type", type);
	return o;
}

static void add_addr(json_t *o, const char *name, const struct addr *a)
{
	char text[ADDR_TEXT];

	record_add_text(o, name, a->len ? addr_format(a, text, sizeof(text)) : NULL);
}

/* Negative: not known. */
static void add_known(json_t *o, const char *name, int64_t value)
{
	if (value < 0)
		record_add(o, name, json_null());
	else
		record_add_int(o, name, value);
}

static json_t *buffer(const struct sock_buffer *b)
{
	json_t *o = json_object();

	add_known(o, "asked", b->asked ? (int64_t)b->asked : -1);
	record_add_uint(o, "granted", b->granted);
	add_known(o, "limit", b->limit ? (int64_t)b->limit : -1);
	record_add_bool(o, "forced", b->forced);
	record_add_text(o, "sysctl", b->sysctl);
	return o;
}

static json_t *socket_record(const struct sock *s)
{
	static const struct {
		enum cmsg_want bit;
		const char *name;
	} wants[] = { { CMSG_WANT_PKTINFO, "pktinfo" }, { CMSG_WANT_TTL, "ttl" },     { CMSG_WANT_TOS, "tos" },
		      { CMSG_WANT_DROPS, "rxq_ovfl" },	{ CMSG_WANT_STAMP, "stamp" }, { CMSG_WANT_GRO, "gro" } };
	json_t *o = json_object(), *on = json_object();

	add_addr(o, "local", &s->local);
	add_addr(o, "peer", &s->peer);
	record_add_text(o, "family", s->family == AF_INET ? "ipv4" : "ipv6");
	record_add_bool(o, "dual_stack", s->dual);
	record_add_bool(o, "reuse_port", s->reuse_port);
	for (unsigned i = 0; i < ARRAY_SIZE(wants); i++)
		record_add_bool(on, wants[i].name, s->want & wants[i].bit);
	record_add(o, "receives", on);
	record_add_uint(o, "busy_poll_us", s->busy_poll_us);
	record_add(o, "rcvbuf", buffer(&s->rcvbuf));
	return o;
}

/* Sockets of the start; those of --connect-each join later. */
static json_t *sockets(const struct setup *s)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < s->set.n; i++)
		json_array_append_new(list, socket_record(&s->set.sock[i]));
	return list;
}

static json_t *options(const struct opt_set *set)
{
	json_t *o = json_object();
	char text[4096];

	for (const struct opt *t = set->table; t->name; t++)
		if (t->type != OPT_ALIAS && t->type != OPT_HELP && t->type != OPT_CONFIG && t->type != OPT_ADD && !t->hidden)
			record_add_text(o, t->name, opt_text(set, t, text, sizeof(text)));
	return o;
}

static int header(const struct report_header *h)
{
	const struct setup *s = h->setup;
	json_t *o = typed("header"), *c = json_object();
	const uint64_t netns = netns_cookie();

	record_add_uint(o, "schema", SCHEMA);
	record_add_text(o, "program", "udp_sink");
	record_add_text(o, "version", PACKAGE_VERSION);
	record_add_text(o, "run_id", h->run_id);
	record_add_array_text(o, "command", (const char *const *)h->argv, (unsigned)h->argc);
	record_add(o, "options", options(h->options));
	record_add(o, "host", env_host(&s->allowed));
	add_known(o, "netns_cookie", netns ? (int64_t)netns : -1);
	record_add(o, "sysctl", env_sysctls());
	record_add(o, "sockets", sockets(s));
	add_known(o, "group_others", s->others);
	record_add_bool(o, "early_demux_changed", h->guardian->holds);
	record_add_uint(c, "drained_peer", s->drained.peer);
	record_add_uint(c, "drained_foreign", s->drained.foreign);
	record_add(o, "connect", c);
	record_add_text(o, "auto", s->choice[0] ? s->choice : NULL);
	return print(o);
}

static int ready(const struct report_header *h)
{
	const struct setup *s = h->setup;
	json_t *o = typed("ready"), *list = json_array();
	char text[ADDR_TEXT];

	for (unsigned i = 0; i < s->set.n; i++)
		json_array_append_new(list, json_string(addr_format(&s->set.sock[i].local, text, sizeof(text))));
	record_add(o, "listening", list);
	record_add_uint(o, "workers", s->workers);
	return print(o);
}

static json_t *counters(const struct report *r, const struct stats *s)
{
	json_t *o = json_object(), *errors = json_object();

	for (unsigned i = 0; i < STATS_COUNTER_COUNT; i++)
		if (report_knows(r, i))
			record_add_uint(o, stats_info[i].name, stats_get(s, i));
		else
			record_add(o, stats_info[i].name, json_null());
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		if (s->error[i])
			record_add_uint(errors, stats_errno[i].name, s->error[i]);
	record_add(o, "errors_by_errno", errors);
	record_add_array_uint(o, "batch_fill", s->fill, STATS_FILL);
	return o;
}

static void add_rates(json_t *o, const struct report *r, const struct report_worker *w)
{
	struct report_rates k;
	json_t *rate = json_object(), *cpu = json_object();

	report_rates(w, &k);
	record_add_number(rate, "pps", k.pps);
	record_add_number(rate, "bps", report_knows(r, STATS_wire_bytes) ? k.bps : (double)NAN);
	record_add_number(rate, "wall_ns_per_datagram", k.wall_ns);
	record_add_number(rate, "mean_payload", k.payload);
	record_add_number(rate, "mean_batch", k.batch);
	record_add_number(rate, "mean_segments", k.segments);
	record_add(o, "rate", rate);
	add_known(cpu, "user_ns", w->split ? (int64_t)w->user_ns : -1);
	add_known(cpu, "system_ns", w->split ? (int64_t)w->system_ns : -1);
	record_add_uint(cpu, "cpu_ns", w->cpu_ns);
	record_add_number(cpu, "user_ns_per_datagram", k.user_ns);
	record_add_number(cpu, "system_ns_per_datagram", k.system_ns);
	record_add_number(cpu, "ns_per_datagram", k.cpu_ns);
	record_add_number(cpu, "cycles_per_datagram", k.cycles);
	record_add_number(cpu, "busy", k.busy);
	record_add(o, "cpu", cpu);
}

/* What a worker and the total have in common. */
static void add_worker(json_t *o, const struct report *r, const struct report_worker *w, const char *counters_name)
{
	record_add_number(o, "duration_s", (double)w->duration_ns / (double)NSEC_PER_SEC);
	record_add(o, counters_name, counters(r, &w->stats));
	add_rates(o, r, w);
	record_add_uint(o, "wakeups", w->wakeups);
	record_add_uint(o, "preemptions", w->preemptions);
	record_add_uint(o, "ring_drops", w->ring_drops);
	if (r->setup->set.sock) {
		record_add_uint(o, "socket_drops", w->drops);
		record_add_uint(o, "queue_max_bytes", w->queue_max);
		record_add_uint(o, "queue_limit_bytes", w->queue_limit);
	}
	record_add_number(o, "flows", isfinite(w->flows) ? round(w->flows) : (double)NAN);
	if (r->setup->conf->connect_each) {
		record_add_uint(o, "connected_sockets", w->connected);
		record_add_uint(o, "connect_failed", w->connect_failed);
	}
}

static json_t *worker_record(const struct report *r, const struct report_worker *w)
{
	json_t *o = json_object();

	record_add_uint(o, "index", w->index);
	add_known(o, "cpu_asked", w->cpu_asked);
	record_add_int(o, "cpu_obtained", w->cpu_obtained);
	add_worker(o, r, w, "counters");
	return o;
}

static json_t *destinations(const struct destinations *d)
{
	json_t *list = json_array();
	char text[ADDR_TEXT];

	for (unsigned i = 0; i < DESTINATION_SLOTS; i++) {
		json_t *o;
		struct addr a;

		if (!d->slot[i].datagrams)
			continue;
		addr_from_in6(&a, &d->slot[i].ip, 0, 0);
		o = json_object();
		record_add_text(o, "address", addr_format_host(&a, text, sizeof(text)));
		record_add_uint(o, "datagrams", d->slot[i].datagrams);
		record_add_uint(o, "bytes", d->slot[i].bytes);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *histogram(const uint64_t *count)
{
	json_t *o = json_object();
	char key[8];

	for (unsigned i = 0; i < 256; i++)
		if (count[i]) {
			snprintf(key, sizeof(key), "%u", i);
			record_add_uint(o, key, count[i]);
		}
	return o;
}

static void add_views(json_t *o, const struct report *r)
{
	if (r->setup->conf->check_sequence)
		record_add_uint(o, "missing_at_least", report_missing(&r->total.stats));
	if (r->destinations) {
		record_add(o, "destinations", destinations(r->destinations));
		record_add_uint(o, "destinations_other", r->destinations->other);
	}
	if (r->fields) {
		record_add(o, "tos", histogram(r->fields->tos));
		record_add(o, "ttl", histogram(r->fields->ttl));
		record_add_uint(o, "rxq_ovfl", r->fields->rxq_ovfl);
		record_add_uint(o, "malformed_control", r->fields->malformed);
	}
}

static json_t *early_demux(const struct report *r)
{
	json_t *o = json_object();

	add_known(o, "ip_early_demux", r->early_demux);
	add_known(o, "udp_early_demux", r->udp_early_demux);
	record_add_uint(o, "could_apply_to", r->demux_sockets);
	record_add_uint(o, "sockets", r->sockets);
	return o;
}

static int report(const struct report *r)
{
	json_t *o = typed(r->kind == REPORT_SUM ? "sum" : "period"), *workers = json_array();
	const char *note[REPORT_NOTES];
	char label[64];

	record_add_text(o, "engine", r->engine->ops->name);
	record_add_text(o, "label", report_label(r->engine, label, sizeof(label)));
	record_add_uint(o, "run", r->run);
	record_add_number(o, "since_s", (double)r->since_ns / (double)NSEC_PER_SEC);
	record_add_number(o, "until_s", (double)r->until_ns / (double)NSEC_PER_SEC);
	record_add_bool(o, "partial", r->partial);
	record_add_bool(o, "unreliable", r->unreliable);
	add_worker(o, r, &r->total, "total");
	record_add_number(o, "fairness", r->fairness);
	record_add(o, "early_demux", early_demux(r));
	add_views(o, r);
	record_add(o, "ledger", r->ledger ? report_ledger_record(r->ledger) : json_null());
	dropped_record(r->drop_reasons, o);
	for (unsigned i = 0; i < r->workers; i++)
		json_array_append_new(workers, worker_record(r, &r->worker[i]));
	record_add(o, "workers", workers);
	for (unsigned i = 0; i < r->notes; i++)
		note[i] = r->note[i];
	record_add_array_text(o, "notes", note, r->notes);
	return print(o);
}

static int skipped(const struct setup_engine *e)
{
	json_t *o = typed("skipped");

	record_add_text(o, "engine", e->ops->name);
	record_add_text(o, "reason", e->why.text);
	return print(o);
}

const struct report_voice report_json = {
	.name = "json", .header = header, .ready = ready, .report = report, .skipped = skipped,
};
