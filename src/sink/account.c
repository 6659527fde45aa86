/* SPDX-License-Identifier: MIT */
#include "sink/account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "net/netns.h"
#include "sink/sent.h"

int account_open(struct account *a, const struct setup *setup, struct err *err)
{
	*a = (struct account){ 0 };
	if (!setup->conf->ledger)
		return 0;
	if (!setup->set.n)
		return err_say(err, EINVAL, "--ledger: %s has no sockets, so the kernel counts nothing for it", setup->conf->engines.text[0]);
	a->setup = setup;
	a->netns = netns_cookie();
	for (unsigned i = 0; i < setup->set.n; i++) {
		const struct sock *s = &setup->set.sock[i];

		a->families |= s->family == AF_INET || s->dual || addr_is_mapped(&s->local) ? FACTS_V4 : 0;
		a->families |= s->family == AF_INET6 && !addr_is_mapped(&s->local) ? FACTS_V6 : 0;
	}
	return 0;
}

int account_begin(struct account *a, struct err *err)
{
	int rc;

	if (!a->setup || a->begun)
		return 0;
	rc = facts_read(&a->begin, err);
	if (!rc)
		rc = facts_read(&a->last, err);
	a->begun = !rc;
	return rc;
}

/* a and b change places: memory is used again. */
static void swap(struct facts_reading *a, struct facts_reading *b)
{
	struct facts_reading c = *a;

	*a = *b;
	*b = c;
}

/* What the run has counted. */
static void own(const struct report *report, uint64_t queued, struct ledger_facts *f)
{
	const struct setup *setup = report->setup;
	const struct stats *s = &report->total.stats;

	f->received = s->datagrams;
	f->foreign = s->foreign;
	f->control = s->trailers;
	f->buffers = s->buffers;
	f->ring_drops = report->total.ring_drops;
	f->socket_drops = report->total.drops;
	f->queued_bytes = queued;
	for (unsigned i = 0; i < setup->set.n; i++)
		f->gro |= setup->set.sock[i].gro;
}

static uint64_t less(uint64_t n, uint64_t by)
{
	return n == LEDGER_UNKNOWN ? n : n > by ? n - by : 0;
}

/* Datagrams that a source in our namespace sent to itself are not of the run. */
static void take_out_probes(struct ledger_facts *f, const struct sent_probes *probes)
{
	f->mib.in_datagrams = less(f->mib.in_datagrams, probes->datagrams);
	f->mib.arrived = less(f->mib.arrived, probes->datagrams);
	f->mib.in_receives = less(f->mib.in_receives, probes->messages);
}

static void told_by_trailers(const struct account *a, struct report *report, const struct trailers *trailers, struct ledger_facts *f,
			     struct sent_probes *probes)
{
	struct seqhdr_sums sums;
	bool whole = trailers_total(trailers, a->netns, &sums);

	*probes = (struct sent_probes){ sums.probes, sums.messages };
	if (trailers->unread)
		report_note(report, "%" PRIu64 " trailers could not be read (cut off, or more than %d sources): how many were sent is not known",
			    trailers->unread, TRAILERS_RUNS);
	if (!whole)
		return;
	f->sent = sums.datagrams;
	f->trailers_sent = sums.trailers;
	f->trailers_after = sums.after;
	f->segments = sums.segments;
}

static void told_by_record(const struct account *a, struct report *report, struct ledger_facts *f, struct sent_probes *probes)
{
	const char *from = a->setup->conf->sent_from;
	uint64_t heard = f->sent;
	struct sent_probes told;
	struct err err = ERR_INIT;

	if (!from)
		return;
	if (sent_read(from, a->netns, f, &told, &err)) {
		report_note(report, "%s", err.text);
		return;
	}
	*probes = told;
	if (heard != LEDGER_UNKNOWN && heard != f->sent)
		report_note(report, "trailers told of %" PRIu64 " datagrams sent, --sent-from of %" PRIu64 ": are they of the same sources?",
			    heard, f->sent);
}

/* "sequence says 1203 missing, the ledger 1203 lost": two ways to count the same. */
static void compare_sequence(struct report *report)
{
	const struct ledger *l = report->ledger;
	uint64_t missing = report_missing(&report->total.stats);

	if (!report->setup->conf->check_sequence || l->lost_low != l->lost_high)
		return;
	report_note(report, "sequence numbers say %" PRIu64 " missing, the ledger says %" PRIu64 " lost%s", missing, l->lost_low,
		    missing == l->lost_low ? "" : l->facts.sent == LEDGER_UNKNOWN ? " (what was lost last leaves no gap)" :
		    " (trailers that were lost are in no gap, and no ledger can count what had no number)");
}

/* Which place the kernel means by a reason (include/net/dropreason-core.h). Others have no place of their own here: they are in the list of --drop-reasons. */
static const struct {
	const char *reason;
	enum ledger_place place;
} meant[] = {
	{ "CPU_BACKLOG", LEDGER_backlog }, { "NETFILTER_DROP", LEDGER_netfilter }, { "IP_RPFILTER", LEDGER_rp_filter }, { "NO_SOCKET", LEDGER_no_port },
	{ "UDP_CSUM", LEDGER_csum },	   { "PROTO_MEM", LEDGER_mem },		   { "SOCKET_FILTER", LEDGER_filter },	{ "SOCKET_RCVBUFF", LEDGER_rcvbuf },
};

/* --drop-reasons has looked at each packet: datagrams where the counters have packets, and netfilter. What it has missed would be missing there. */
static void told_by_reasons(const struct reason_list *list, struct ledger_facts *f)
{
	if (!list || list->missed)
		return;
	for (unsigned m = 0; m < ARRAY_SIZE(meant); m++) {
		struct ledger_seen *seen = &f->seen[meant[m].place];

		*seen = (struct ledger_seen){ 0, 0 };
		for (unsigned i = 0; i < list->n; i++) {
			const struct reason_count *c = &list->count[i];

			if (c->scope != REASONS_OURS || strcmp(c->name, meant[m].reason))
				continue;
			seen->packets += c->packets;
			seen->datagrams += c->datagrams;
		}
	}
}

static void balance(struct report *report, const struct ledger_facts *f)
{
	report->ledger = malloc(sizeof(*report->ledger));
	if (report->ledger)
		ledger_balance(report->ledger, f);
}

void account_period(struct account *a, struct report *report, uint64_t queued)
{
	struct ledger_facts f;

	if (!a->setup || facts_read(&a->now, NULL))
		return;
	ledger_facts_init(&f);
	facts_since(&a->now, &a->last, a->families, a->setup->conf->lite, &f);
	own(report, queued, &f);
	balance(report, &f);
	swap(&a->last, &a->now);
}

void account_sum(struct account *a, struct report *report, uint64_t queued, const struct trailers *trailers)
{
	const struct sock_drained *drained = a->setup ? &a->setup->drained : NULL;
	struct ledger_facts f;
	struct sent_probes probes;
	struct err err = ERR_INIT;

	if (!a->setup)
		return;
	if (facts_read(&a->now, &err)) {
		report_note(report, "no ledger: %s", err.text);
		return;
	}
	ledger_facts_init(&f);
	facts_since(&a->now, &a->begin, a->families, a->setup->conf->lite, &f);
	own(report, queued, &f);
	f.end = true;
	if (!a->runs++ && !a->setup->peer.len) { /* --connect to the first sender: read and thrown away, in this window */
		f.foreign += drained->peer + drained->foreign;
		f.buffers += drained->peer + drained->foreign;
	}
	told_by_trailers(a, report, trailers, &f, &probes);
	told_by_record(a, report, &f, &probes);
	take_out_probes(&f, &probes);
	told_by_reasons(report->drop_reasons, &f);
	balance(report, &f);
	if (report->ledger)
		compare_sequence(report);
	swap(&a->begin, &a->now);
	if (facts_read(&a->last, NULL)) /* intervals begin anew as well */
		a->last.mib.n = 0;
}

void account_close(struct account *a)
{
	facts_free(&a->begin);
	facts_free(&a->last);
	facts_free(&a->now);
	*a = (struct account){ 0 };
}
