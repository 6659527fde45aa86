/* SPDX-License-Identifier: MIT */
#include "counters/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "counters/ledger_count.h"

#define X(id, unit, title, hint) { #id, title, hint, LEDGER_##unit },
const struct ledger_place_info ledger_place[LEDGER_N] = { LEDGER_PLACES(X) };
#undef X

const char *const ledger_quality[] = { "exact", "derived", "inferred", "bounded", "unknown" };
const char *const ledger_verdict[] = { "not judged", "balanced", "unbalanced", "foreign traffic seen", "not determinable" };

void ledger_facts_init(struct ledger_facts *f)
{
	*f = (struct ledger_facts){
		.sent = LEDGER_UNKNOWN, .refused = LEDGER_UNKNOWN, .trailers_sent = 0, .segments = LEDGER_UNKNOWN,
		.qdisc_drops = LEDGER_UNKNOWN, .tx_dropped = LEDGER_UNKNOWN, .tcp = LEDGER_UNKNOWN, .rp_filter = LEDGER_UNKNOWN,
		.reassembling = LEDGER_UNKNOWN, .link_errors = LEDGER_UNKNOWN, .link_dropped = LEDGER_UNKNOWN,
		.softnet_dropped = LEDGER_UNKNOWN,
	};
#define X(name) f->mib.name = LEDGER_UNKNOWN;
	LEDGER_COUNTERS(X)
#undef X
	for (unsigned p = 0; p < LEDGER_N; p++)
		f->seen[p] = (struct ledger_seen){ LEDGER_UNKNOWN, LEDGER_UNKNOWN };
}

static uint64_t times(uint64_t n, uint64_t by)
{
	return ledger_known(n) && n <= LEDGER_UNKNOWN / by - 1 ? n * by : LEDGER_UNKNOWN;
}

/* Did packets of several datagrams come up to IP? */
static bool coalesced(const struct ledger_counters *m)
{
	return !ledger_known(m->arrived) || !ledger_known(m->in_receives) || m->arrived != m->in_receives;
}

/* Datagrams that a counted one stands for. */
static struct ledger_count worth(const struct ledger_facts *f, enum ledger_unit unit, enum ledger_quality *quality)
{
	bool single = f->segments == 1 && (unit == LEDGER_WIRE || !coalesced(&f->mib));

	*quality = LEDGER_EXACT;
	if (unit == LEDGER_DATAGRAM || (unit == LEDGER_SOCKET && !f->gro))
		return ledger_just(1);
	if (f->fragmented) {
		*quality = unit <= LEDGER_PACKET ? LEDGER_BOUNDED : LEDGER_EXACT;
		return unit <= LEDGER_PACKET ? (struct ledger_count){ 0, 1 } : ledger_just(1);
	}
	if (single)
		return ledger_just(1);
	if (ledger_known(f->segments) ? f->segments > 1 : !coalesced(&f->mib)) {
		*quality = LEDGER_INFERRED;
		return ledger_just(ledger_known(f->segments) ? f->segments : 1);
	}
	*quality = LEDGER_BOUNDED;
	return (struct ledger_count){ 1, LEDGER_MOST_SEGMENTS };
}

static struct ledger_term term(const struct ledger_facts *f, enum ledger_place p, const struct ledger_count *c)
{
	const struct ledger_seen *seen = &f->seen[p];
	enum ledger_quality quality;
	struct ledger_count w = worth(f, ledger_place[p].unit, &quality);
	struct ledger_term t = { .packets = c->low == c->high ? c->low : LEDGER_UNKNOWN, .quality = quality };

	if (c->low == c->high && ledger_known(seen->datagrams) && seen->packets == c->low)
		return (struct ledger_term){ seen->packets, seen->datagrams, seen->datagrams, LEDGER_EXACT };
	t.low = w.low ? c->low * w.low : c->low > 0; /* any number of lost fragments is at least one datagram */
	t.high = times(c->high, w.high);
	if (c->high == 0)
		t.quality = LEDGER_EXACT;
	else if (!ledger_known(c->high))
		t.quality = LEDGER_NOTHING;
	else if (t.low != t.high)
		t.quality = LEDGER_BOUNDED;
	return t;
}

/* UDP datagrams that came up to IP, fragments put together. */
static uint64_t arrived(const struct ledger_facts *f)
{
	const struct ledger_counters *m = &f->mib;

	return ledger_plus(ledger_minus(ledger_minus(ledger_minus(m->arrived, m->icmp), f->tcp), m->reasm_reqds), m->reasm_oks);
}

/* Places that the datagrams of `arrived` can have been lost at, reassembly apart, which is taken out of it. */
static bool is_behind_ip(enum ledger_place p)
{
	return p >= LEDGER_netfilter && p <= LEDGER_ring && p != LEDGER_reassembly && p != LEDGER_reassembling;
}

/* Where one place alone counts packets, it gets what is left of the datagrams that arrived. */
static void derive(struct ledger *l)
{
	const struct ledger_facts *f = &l->facts;
	uint64_t left = ledger_minus(l->arrived, f->received + f->foreign + f->control);
	struct ledger_term *open = NULL;

	if (!l->alone || !ledger_known(left) || f->mib.ip_errors || f->queued_bytes)
		return;
	for (unsigned p = 0; p < LEDGER_N; p++) {
		struct ledger_term *t = &l->term[p];

		if (!is_behind_ip(p) || (p == LEDGER_netfilter && t->quality == LEDGER_NOTHING))
			continue;
		if (t->quality == LEDGER_EXACT) {
			left = ledger_minus(left, t->low);
			continue;
		}
		if (open || !ledger_known(t->packets))
			return;
		open = t;
	}
	if (open && left >= open->packets && left <= times(open->packets, LEDGER_MOST_SEGMENTS)) {
		open->low = open->high = left;
		open->quality = LEDGER_DERIVED;
	}
}

/* What only --sent-from, the program on the interface, or BPF can tell: not knowing it widens nothing, it is said beside a residual. */
static bool is_optional(enum ledger_place p)
{
	return p == LEDGER_qdisc || p == LEDGER_xdp || p == LEDGER_netfilter;
}

static void sum(struct ledger *l)
{
	const struct ledger_facts *f = &l->facts;
	uint64_t low = f->received + f->control, high = low;

	l->lost_low = l->lost_high = 0;
	for (unsigned p = 0; p < LEDGER_N; p++) {
		const struct ledger_term *t = &l->term[p];
		uint64_t most = t->quality == LEDGER_NOTHING && is_optional(p) ? t->low : t->high;

		low += t->low;
		high = ledger_plus(high, most);
		if (p != LEDGER_queued && p != LEDGER_reassembling) {
			l->lost_low += t->low;
			l->lost_high = ledger_plus(l->lost_high, most);
		}
	}
	if (!ledger_known(f->sent))
		return;
	l->rest_high = (int64_t)(f->sent + f->trailers_sent + f->trailers_after - low);
	l->rest_low = ledger_known(high) ? (int64_t)(f->sent + f->trailers_sent - high) : INT64_MIN;
}

/* The place whose figure is the least certain; LEDGER_N: all are certain. */
static enum ledger_place widest(const struct ledger *l)
{
	enum ledger_place found = LEDGER_N;
	uint64_t most = 0;

	for (unsigned p = 0; p < LEDGER_N; p++) {
		const struct ledger_term *t = &l->term[p];
		uint64_t width = ledger_known(t->high) ? t->high - t->low : LEDGER_UNKNOWN;

		if (width > most && !(is_optional(p) && t->quality == LEDGER_NOTHING)) {
			most = width;
			found = p;
		}
	}
	return found;
}

static void say_open(struct ledger *l)
{
	enum ledger_place p = widest(l);
	const struct ledger_term *t = &l->term[p % LEDGER_N];

	if (p == LEDGER_N)
		snprintf(l->why, sizeof(l->why), "the last %" PRIu64 " trailers were not heard", l->facts.trailers_after);
	else if (!ledger_known(t->high))
		snprintf(l->why, sizeof(l->why), "%s: not known", ledger_place[p].title);
	else
		snprintf(l->why, sizeof(l->why), "%s: %" PRIu64 " to %" PRIu64 " datagrams", ledger_place[p].title, t->low, t->high);
}

static void say_hidden(struct ledger *l)
{
	const struct ledger_term *t = l->term;

	if (t[LEDGER_qdisc].quality == LEDGER_NOTHING && l->rest_low > 0)
		snprintf(l->why, sizeof(l->why), "what the sending host dropped itself is not known (--sent-from tells)");
	else if (t[LEDGER_xdp].quality == LEDGER_NOTHING && l->rest_low > 0)
		snprintf(l->why, sizeof(l->why), "what the XDP program of an interface dropped is not known");
	else if (t[LEDGER_netfilter].quality == LEDGER_NOTHING && l->rest_low > 0)
		snprintf(l->why, sizeof(l->why), "netfilter has no counter (--drop-reasons tells)");
}

static enum ledger_verdict judge(struct ledger *l)
{
	const struct ledger_facts *f = &l->facts;

	if (!f->end)
		return LEDGER_NOT_JUDGED;
	if (f->queued_bytes) {
		snprintf(l->why, sizeof(l->why), "stopped with %" PRIu64 " bytes in the receive buffers", f->queued_bytes);
		return LEDGER_NOT_JUDGED;
	}
	if (!ledger_known(f->sent)) {
		snprintf(l->why, sizeof(l->why), "nobody told how many were sent (udp_source --trailer, or --sent-from)");
		return LEDGER_NOT_DETERMINABLE;
	}
	if (l->rest_low <= 0 && l->rest_high == 0) /* what is certain makes up for all: the places are at their least */
		return LEDGER_BALANCED;
	if ((ledger_known(l->others) && l->others) || f->foreign) {
		snprintf(l->why, sizeof(l->why), "%" PRIu64 " datagrams of others%s", f->foreign ? f->foreign : l->others,
			 f->foreign ? " read by us" : " read by other sockets");
		return LEDGER_FOREIGN;
	}
	if (l->rest_low <= 0 && l->rest_high >= 0) {
		say_open(l);
		return LEDGER_NOT_DETERMINABLE;
	}
	say_hidden(l);
	return LEDGER_UNBALANCED;
}

void ledger_balance(struct ledger *out, const struct ledger_facts *facts)
{
	struct ledger_count c[LEDGER_N];

	*out = (struct ledger){ .facts = *facts, .others = ledger_minus(facts->mib.in_datagrams, facts->buffers), .arrived = arrived(facts) };
	out->alone = ledger_count_alone(out);
	ledger_count_places(out, c);
	for (unsigned p = 0; p < LEDGER_N; p++)
		out->term[p] = term(facts, p, &c[p]);
	derive(out);
	sum(out);
	out->verdict = judge(out);
}

uint64_t ledger_residual(const struct ledger *l)
{
	if (!ledger_known(l->facts.sent) || (l->rest_low != l->rest_high && l->rest_high > 0))
		return LEDGER_UNKNOWN;
	return l->rest_high > 0 ? (uint64_t)l->rest_high : 0;
}

uint64_t ledger_surplus(const struct ledger *l)
{
	if (!ledger_known(l->facts.sent) || (l->rest_low != l->rest_high && l->rest_low < 0))
		return LEDGER_UNKNOWN;
	return l->rest_low < 0 ? (uint64_t)-l->rest_low : 0;
}

char *ledger_sentence(const struct ledger *l, char *buf, size_t size)
{
	int64_t by = l->rest_low > 0 ? l->rest_low : -l->rest_high;
	char number[64] = "";

	if (l->verdict == LEDGER_UNBALANCED)
		snprintf(number, sizeof(number), " by %s%" PRId64 "%s", l->rest_low == l->rest_high ? "" : "at least ", by,
			 l->rest_low > 0 ? "" : " too many");
	snprintf(buf, size, "%s%s%s%s", ledger_verdict[l->verdict], number, l->why[0] ? ": " : "", l->why);
	return buf;
}
