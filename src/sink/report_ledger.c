/* SPDX-License-Identifier: MIT */
#include "sink/report_ledger.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"

#define CELL 64

static char *number(uint64_t n, char *buf)
{
	char commas[32];

	snprintf(buf, CELL, "%s", n == LEDGER_UNKNOWN ? "-" : num_commas(n, commas, sizeof(commas)));
	return buf;
}

static char *range(uint64_t low, uint64_t high, char *buf)
{
	char a[CELL], b[CELL];

	if (low == high || (high == LEDGER_UNKNOWN && !low))
		return number(high, buf);
	if (high == LEDGER_UNKNOWN)
		snprintf(buf, CELL, ">= %.30s", number(low, a));
	else
		snprintf(buf, CELL, "%.22s to %.22s", number(low, a), number(high, b));
	return buf;
}

/* Of what was sent; nothing where that is not known. */
static char *share(const struct ledger *l, uint64_t n, char *buf)
{
	bool told = n <= l->facts.sent && l->facts.sent != LEDGER_UNKNOWN && l->facts.sent && n != LEDGER_UNKNOWN;

	if (told)
		snprintf(buf, CELL, "%.3f %%", 100. * (double)n / (double)l->facts.sent);
	else
		buf[0] = '\0';
	return buf;
}

static void line(const struct ledger *l, const char *sign, const char *title, uint64_t packets, uint64_t low, uint64_t high, const char *quality)
{
	char cell[3][CELL];

	printf("  %-1s %-34s %14s %20s %11s  %s\n", sign, title, packets == LEDGER_UNKNOWN ? "" : number(packets, cell[0]), range(low, high, cell[1]),
	       share(l, low == high ? low : LEDGER_UNKNOWN, cell[2]), quality);
}

/* Places that people look for are shown with 0 as well. */
static bool is_shown(enum ledger_place p, const struct ledger_term *t)
{
	return p == LEDGER_backlog || p == LEDGER_no_port || p == LEDGER_rcvbuf || (t->high != 0 && t->quality != LEDGER_NOTHING) || t->low;
}

static void print_places(const struct ledger *l)
{
	for (unsigned p = 0; p < LEDGER_N; p++) {
		const struct ledger_term *t = &l->term[p];

		if (is_shown(p, t))
			line(l, "-", ledger_place[p].title, t->packets, t->low, t->high, ledger_quality[t->quality]);
	}
}

/* What to look at, for each place that lost something. */
static void print_hints(const struct ledger *l)
{
	for (unsigned p = 0; p < LEDGER_N; p++)
		if (l->term[p].low && p != LEDGER_queued)
			printf("  %s: %s\n", ledger_place[p].title, ledger_place[p].hint);
	if (l->term[LEDGER_backlog].low)
		printf("  the backlog counts for the whole host, not for this namespace alone\n");
}

static void print_interval(const struct ledger *l)
{
	char cell[CELL];

	printf("  ledger: lost %s", range(l->lost_low, l->lost_high, cell));
	for (unsigned p = 0; p < LEDGER_N; p++)
		if (l->term[p].low && p != LEDGER_queued)
			printf(", %s %s", ledger_place[p].title, range(l->term[p].low, l->term[p].high, cell));
	printf("\n");
}

static void print_rest(const struct ledger *l)
{
	char cell[CELL];

	if (l->rest_low == l->rest_high)
		line(l, "", l->rest_low < 0 ? "surplus" : "residual", LEDGER_UNKNOWN, (uint64_t)(l->rest_low < 0 ? -l->rest_low : l->rest_low),
		     (uint64_t)(l->rest_low < 0 ? -l->rest_low : l->rest_low), "");
	else if (l->rest_low == INT64_MIN)
		printf("  residual: at most %s\n", number(l->rest_high > 0 ? (uint64_t)l->rest_high : 0, cell));
	else
		printf("  residual: between %" PRId64 " and %" PRId64 "\n", l->rest_low, l->rest_high);
}

void report_ledger_print(const struct ledger *l)
{
	const struct ledger_facts *f = &l->facts;
	char sentence[300], cell[CELL];

	if (!f->end) {
		print_interval(l);
		return;
	}
	printf("  %-36s %14s %20s %11s\n", "ledger", "packets", "datagrams", "of sent");
	if (f->refused != LEDGER_UNKNOWN && f->refused)
		line(l, "", "(refused by the source's kernel)", f->refused, LEDGER_UNKNOWN, LEDGER_UNKNOWN, "not in sent");
	line(l, "", "sent", LEDGER_UNKNOWN, f->sent, f->sent, "");
	if (f->sent != LEDGER_UNKNOWN && f->trailers_sent)
		line(l, "", "(trailers sent besides)", LEDGER_UNKNOWN, f->trailers_sent, f->trailers_sent, "may be lost as well");
	print_places(l);
	line(l, "=", "read by the application", f->buffers, f->received, f->received, "");
	if (f->control || f->foreign)
		line(l, "", f->foreign ? "(read besides: trailers, foreign)" : "(read besides: trailers)", LEDGER_UNKNOWN, f->control + f->foreign,
		     f->control + f->foreign, "not in sent");
	if (f->sent != LEDGER_UNKNOWN)
		print_rest(l);
	else
		printf("  lost at least %s\n", number(l->lost_low, cell));
	printf("  %s\n", ledger_sentence(l, sentence, sizeof(sentence)));
	print_hints(l);
}

static void add(json_t *o, const char *name, uint64_t n)
{
	if (n == LEDGER_UNKNOWN)
		record_add(o, name, json_null());
	else
		record_add_uint(o, name, n);
}

static json_t *place(const struct ledger_term *t)
{
	json_t *o = json_object();

	add(o, "packets", t->packets);
	add(o, "datagrams", ledger_datagrams(t));
	add(o, "low", t->low);
	add(o, "high", t->high);
	record_add_text(o, "quality", ledger_quality[t->quality]);
	return o;
}

json_t *report_ledger_record(const struct ledger *l)
{
	const struct ledger_facts *f = &l->facts;
	json_t *o = json_object(), *drops = json_object(), *places = json_object();
	char sentence[300];

	add(o, "sent", f->sent);
	add(o, "refused", f->refused);
	add(o, "received", f->received);
	record_add_uint(o, "foreign", f->foreign);
	record_add_uint(o, "trailers", f->control);
	add(o, "trailers_sent", f->sent == LEDGER_UNKNOWN ? LEDGER_UNKNOWN : f->trailers_sent);
	add(o, "others", l->others);
	add(o, "arrived", l->arrived);
	add(o, "queued", ledger_datagrams(&l->term[LEDGER_queued]));
	for (unsigned p = 0; p < LEDGER_N; p++) {
		if (p != LEDGER_queued)
			add(drops, ledger_place[p].name, ledger_datagrams(&l->term[p]));
		record_add(places, ledger_place[p].name, place(&l->term[p]));
	}
	record_add(o, "drops", drops);
	record_add_uint(o, "lost_at_least", l->lost_low);
	add(o, "residual", ledger_residual(l));
	add(o, "surplus", ledger_surplus(l));
	record_add_text(o, "verdict", ledger_sentence(l, sentence, sizeof(sentence)));
	record_add(o, "places", places);
	return o;
}
