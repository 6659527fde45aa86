/* SPDX-License-Identifier: MIT */
/* One JSON object per line; fields in udpsink-report(5). What is undefined is null, never NaN. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/record.h"
#include "net/netns.h"
#include "source/report.h"
#include "source/target.h"

#define SCHEMA 1

/* Takes the reference. */
static int print_line(json_t *line, struct err *err)
{
	int ret = record_line(stdout, line);

	json_decref(line);
	return ret ? err_sys(err, ret, "writing to standard output") : 0;
}

static json_t *new_line(const char *type, const struct source_conf *conf)
{
	json_t *line = json_object();
	char run[16];

	snprintf(run, sizeof(run), "%08" PRIx32, conf->run);
	record_add_text(line, "type", type);
	record_add_text(line, "run_id", run);
	record_add_text(line, "sender", tx_table[conf->sender]->name);
	return line;
}

/* Unknown values are given as UINT64_MAX. */
static void add_known(json_t *line, const char *name, uint64_t value)
{
	if (value == UINT64_MAX)
		record_add(line, name, json_null());
	else
		record_add_uint(line, name, value);
}

/* Every option as text that it would take; null when it was not given and has no default. */
static json_t *options(const struct source_conf *conf)
{
	json_t *all = json_object();
	char text[256];

	for (const struct opt *o = conf->set.table; o->name; o++) {
		bool set = o->def || o->type == OPT_FLAG || opt_given(&conf->set, o->name);

		if (o->type != OPT_SET && o->type != OPT_ALIAS && o->type != OPT_HELP &&
		    o->type != OPT_CONFIG && !o->hidden)
			record_add_text(all, o->name,
					set ? opt_text(&conf->set, o, text, sizeof(text)) : NULL);
	}
	return all;
}

static json_t *source_ports(const struct flows *flows)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < flows->n; i++)
		json_array_append_new(list, json_integer(addr_port(&flows->flow[i].sock.local)));
	return list;
}

/* How the source ports were chosen, and what came of it. */
static json_t *spread(const struct spread *s)
{
	const struct spread_plan *plan = s->plan;
	char key[3 * TOEPLITZ_KEY_MOST] = "";
	unsigned least, most;
	json_t *o;

	if (!plan)
		return json_null();
	o = json_object();
	for (unsigned i = 0; i < plan->rss.key.len; i++)
		snprintf(key + strlen(key), 4, "%s%02x", i ? ":" : "", plan->rss.key.byte[i]);
	spread_least_most(s, &least, &most);
	record_add_text(o, "receiver", spread_name(plan->kind));
	record_add_uint(o, "queues", plan->queues);
	record_add_text(o, "device", plan->device);
	record_add_text(o, "key", plan->kind == SPREAD_RSS ? key : NULL);
	add_known(o, "table", plan->kind == SPREAD_RSS ? plan->rss.n : UINT64_MAX);
	record_add_uint(o, "flows_least", least);
	record_add_uint(o, "flows_most", most);
	return o;
}

static json_t *sndbuf(const struct sock_buffer *b)
{
	json_t *o = json_object();

	add_known(o, "asked", b->asked ? b->asked : UINT64_MAX);
	record_add_uint(o, "granted", b->granted);
	record_add_bool(o, "forced", b->forced);
	return o;
}

static json_t *capture(const struct source_conf *conf)
{
	const struct capture_facts *c = &conf->capture;
	json_t *o, *left_out;

	if (!conf->pcap_text)
		return json_null();
	o = json_object();
	left_out = json_object();
	record_add_text(o, "file", conf->pcap_text);
	record_add_uint(o, "packets", c->packets);
	record_add_uint(o, "datagrams", conf->messages.n);
	for (unsigned i = UNWRAP_OTHER; i < UNWRAP_N; i++)
		record_add_uint(left_out, unwrap_name[i], c->found[i]);
	record_add_uint(left_out, "too_large", c->too_large);
	record_add(o, "left_out", left_out);
	record_add_uint(o, "backwards", c->backwards);
	record_add_number(o, "span_s", (double)c->span_ns / (double)NSEC_PER_SEC);
	record_add_bool(o, "truncated", c->truncated);
	return o;
}

static int header(const struct source_conf *conf, const struct flows *flows, struct err *err)
{
	const struct sock *first = &flows->flow[0].sock;
	char text[ADDR_TEXT], model[128];
	json_t *line = new_line("header", conf), *gso = json_object();
	struct utsname kernel;

	uname(&kernel);
	record_add_uint(line, "schema", SCHEMA);
	record_add_text(line, "program", "udp_source");
	record_add_text(line, "version", PACKAGE_VERSION);
	record_add_number(line, "time", (double)clock_wall() / (double)NSEC_PER_SEC);
	record_add_array_text(line, "command", (const char *const *)conf->argv, conf->argc);
	record_add(line, "options", options(conf));
	add_known(line, "count", conf->count);
	record_add_uint(line, "seed", conf->seed);
	record_add_text(line, "kernel", kernel.release);
	add_known(line, "netns_cookie", netns_cookie() ? netns_cookie() : UINT64_MAX);
	record_add_text(line, "cpu_model", cpu_model(model, sizeof(model)));
	record_add_text(line, "destination", addr_format(&conf->dst, text, sizeof(text)));
	record_add_text(line, "source", addr_format_host(&first->local, text, sizeof(text)));
	record_add_uint(line, "destinations", conf->to.n);
	record_add_uint(line, "flows", flows->n);
	record_add(line, "source_ports", source_ports(flows));
	record_add(line, "spread", spread(&flows->spread));
	add_known(gso, "asked", conf->gso ? conf->gso : UINT64_MAX);
	record_add_uint(gso, "obtained", conf->segments);
	record_add_uint(gso, "self_test_messages", conf->probe.messages);
	record_add_uint(gso, "self_test_datagrams", conf->probe.datagrams);
	record_add(line, "gso", gso);
	record_add(line, "pcap", capture(conf));
	add_known(line, "mtu", flows->mtu ? flows->mtu : UINT64_MAX);
	add_known(line, "fragments_per_datagram", flows->fragments ? flows->fragments : UINT64_MAX);
	record_add(line, "sndbuf", sndbuf(&first->sndbuf));
	return print_line(line, err);
}

static int ready(const struct source_conf *conf, struct err *err)
{
	json_t *line = new_line("ready", conf);

	record_add_number(line, "start", conf->start.at_ns ? (double)conf->start.at_ns / (double)NSEC_PER_SEC : NAN);
	return print_line(line, err);
}

static json_t *bad(const struct stats *s)
{
	json_t *by_kind = json_object();

	for (unsigned i = 0; i < BAD_KINDS; i++)
		if (s->bad[i])
			record_add_uint(by_kind, bad_name(i), s->bad[i]);
	return by_kind;
}

static json_t *refused(const struct stats *s)
{
	json_t *by_errno = json_object();

	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		if (s->refused[i])
			record_add_uint(by_errno, stats_errno[i].name, s->refused[i]);
	return by_errno;
}

/* The same fields for the total and for a thread. */
static void add_row(json_t *line, const struct report *r, const struct report_row *row)
{
	const struct stats *s = &row->stats;
	struct report_rates k;
	json_t *cpu = json_object();

	report_rates(row, &k);
	record_add_uint(line, "attempted", stats_attempted(s));
#define X(name, help) record_add_uint(line, #name, s->name);
	STATS_COUNTERS(X)
#undef X
	record_add_uint(line, "deliverable", stats_deliverable(s, addr_packet_family(&r->conf->dst)));
	record_add(line, "bad", bad(s));
	record_add(line, "refused", refused(s));
	record_add_number(line, "duration_s", k.seconds);
	record_add_number(line, "pps", k.pps);
	record_add_number(line, "bps", k.bps);
	record_add_number(line, "ns_per_datagram", k.wall_ns);
	record_add_number(line, "datagrams_per_call", k.per_call);
	record_add_number(cpu, "ns_per_datagram", k.cpu_ns);
	record_add_number(cpu, "user_ns_per_datagram", k.user_ns);
	record_add_number(cpu, "system_ns_per_datagram", k.system_ns);
	record_add(line, "cpu", cpu);
}

/* Members NAME_p50_ns to NAME_max_ns; null where there is nothing to tell. */
static void add_percentiles(json_t *o, const char *name, const struct hist *h)
{
	static const struct {
		const char *name;
		unsigned permille;
	} which[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 }, { "max", 1000 } };
	char member[32];

	for (unsigned i = 0; i < ARRAY_SIZE(which); i++) {
		snprintf(member, sizeof(member), "%s_%s_ns", name, which[i].name);
		add_known(o, member, h && h->n ? hist_permille(h, which[i].permille) : UINT64_MAX);
	}
}

static json_t *pace(const struct report *r)
{
	const enum target verdict = target_verdict(r);
	const struct pacer *p = &r->pace;
	json_t *o;

	if (!r->conf->rate.n)
		return json_null();
	o = json_object();
	record_add_number(o, "target_pps", r->target);
	record_add_number(o, "achieved_pps", r->achieved);
	record_add(o, "missed", verdict == TARGET_UNKNOWN ? json_null() : json_boolean(verdict == TARGET_MISSED));
	record_add_uint(o, "bursts", p->bursts);
	record_add_uint(o, "late", p->late);
	record_add_uint(o, "largest_burst", p->largest);
	record_add_uint(o, "moved", p->moved);
	record_add_number(o, "moved_s", (double)p->moved_ns / (double)NSEC_PER_SEC);
	record_add_number(o, "on_time", p->bursts ? (double)p->on_time / (double)p->bursts : NAN);
	add_percentiles(o, "late", &p->lateness);
	add_percentiles(o, "gap", r->conf->pace < PACER_TXTIME ? &p->gap : NULL);
	return o;
}

static json_t *dns(const struct report *r)
{
	const struct answers_sum *d = r->dns;
	json_t *o, *rcodes;

	if (!d)
		return json_null();
	o = json_object();
	rcodes = json_object();
	record_add_uint(o, "asked", d->asked);
#define X(name, help) record_add_uint(o, #name, d->counts.name);
	ANSWERS_COUNTERS(X)
#undef X
	record_add_uint(o, "lost", d->lost);
	record_add_uint(o, "outstanding", d->outstanding);
	record_add_uint(o, "socket_drops", d->socket_drops);
	for (unsigned i = 0; i < DNS_RCODES; i++)
		if (d->counts.rcode[i])
			record_add_uint(rcodes, dns_rcode_name(i), d->counts.rcode[i]);
	record_add(o, "rcodes", rcodes);
	add_known(o, "latency_min_ns", d->counts.answered ? d->counts.latency_min_ns : UINT64_MAX);
	record_add_number(o, "latency_mean_ns", d->counts.answered ? (double)d->counts.latency_sum_ns / (double)d->counts.answered : NAN);
	add_percentiles(o, "latency", &d->counts.latency);
	return o;
}

static json_t *local_loss(const struct local_loss *l)
{
	json_t *o;

	if (!l)
		return json_null();
	o = json_object();
	record_add_text(o, "device", l->index ? l->device : NULL);
	record_add_text(o, "qdisc", l->qdisc[0] ? l->qdisc : NULL);
	add_known(o, "qdisc_drops", l->qdisc_drops);
	add_known(o, "tx_dropped", l->tx_dropped);
	add_known(o, "sndbuf_errors", l->sndbuf_errors);
	return o;
}

static json_t *threads(const struct report *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < r->n; i++) {
		const struct report_row *row = &r->thread[i];
		json_t *one = json_object();

		record_add_uint(one, "index", row->index);
		add_known(one, "cpu_asked",
			  row->cpu_asked < 0 ? UINT64_MAX : (uint64_t)row->cpu_asked);
		add_known(one, "cpu_obtained",
			  row->cpu_ran < 0 ? UINT64_MAX : (uint64_t)row->cpu_ran);
		add_row(one, r, row);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *gso(const struct report *r)
{
	json_t *o = json_object();

	record_add_uint(o, "segments", r->gso_errno ? 1 : r->conf->segments);
	record_add_text(o, "refused", r->gso_errno ? stats_errno_name(r->gso_errno) : NULL);
	return o;
}

static int report(const struct report *r, struct err *err)
{
	json_t *line = new_line(r->kind == REPORT_SUM ? "sum" : "period", r->conf);

	record_add_uint(line, "batch", r->conf->batch);
	record_add_number(line, "since_s", (double)r->since_ns / (double)NSEC_PER_SEC);
	record_add_number(line, "until_s", (double)r->until_ns / (double)NSEC_PER_SEC);
	add_row(line, r, &r->total);
	if (r->kind == REPORT_SUM) {
		record_add_uint(line, "withheld", r->withheld);
		record_add_uint(line, "reordered", r->reordered);
		record_add_uint(line, "duplicated", r->duplicated);
		add_known(line, "trailers", r->trailers);
		record_add(line, "gso", gso(r));
		record_add(line, "pace", pace(r));
		record_add(line, "dns", dns(r));
		record_add(line, "local_loss", local_loss(r->loss));
		record_add(line, "threads", threads(r));
	} else {
		record_add_bool(line, "partial", r->partial);
	}
	return print_line(line, err);
}

const struct report_voice report_json = { .header = header, .ready = ready, .report = report };
