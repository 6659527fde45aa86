/* SPDX-License-Identifier: MIT */
#include "sink/sequence.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (SEQUENCE_WINDOW / 64)

struct stream {
	uint64_t next;        /* highest number seen + 1, or what a trailer said; 0 = nothing seen */
	uint64_t first;       /* lowest number seen */
	uint64_t seen[WORDS]; /* bit of number n at n % SEQUENCE_WINDOW, for next - SEQUENCE_WINDOW .. next - 1 */
};

struct sequence {
	atomic_uint_least64_t *run;
	uint64_t run_known; /* our copy of *run */
	struct stream stream[65536]; /* calloc: pages are touched only for streams that exist */
};

struct sequence *sequence_new(atomic_uint_least64_t *run)
{
	struct sequence *s = calloc(1, sizeof(*s));

	if (s)
		s->run = run;
	return s;
}

void sequence_free(struct sequence *s)
{
	free(s);
}

/* A trailer names no run: it may be the late one of a source that ended before. */
static bool same_run(struct sequence *s, const struct seqhdr *h)
{
	uint64_t mine = UINT64_C(1) << 32 | h->run, none = 0;

	if (!s->run_known && h->kind == SEQHDR_TRAILER)
		return atomic_load(s->run) == mine;
	if (!s->run_known && atomic_compare_exchange_strong(s->run, &none, mine))
		s->run_known = mine;
	else if (!s->run_known)
		s->run_known = none; /* the exchange put the winner there */
	return s->run_known == mine;
}

static uint64_t *word_of(struct stream *t, uint64_t n)
{
	return &t->seen[n % SEQUENCE_WINDOW / 64];
}

/* The window slides up to n, at or above next: numbers that were not seen. */
static void skip(struct stream *t, uint64_t n, struct stats *stats)
{
	stats->seq_skipped += n - t->next;
	if (n - t->next >= SEQUENCE_WINDOW)
		memset(t->seen, 0, sizeof(t->seen));
	else
		for (uint64_t i = t->next; i < n; i++)
			*word_of(t, i) &= ~(UINT64_C(1) << i % 64);
	t->next = n;
}

/* A new number at or above next. */
static void advance(struct stream *t, uint64_t n, struct stats *stats)
{
	if (!t->next)
		t->first = t->next = n;
	skip(t, n, stats);
	*word_of(t, n) |= UINT64_C(1) << n % 64;
	t->next = n + 1;
	stats->seq_in_order++;
}

/* A number below next. */
static void look_back(struct stream *t, uint64_t n, struct stats *stats)
{
	uint64_t bit = UINT64_C(1) << n % 64;

	if (t->next - n > SEQUENCE_WINDOW) {
		stats->seq_stale++;
		return;
	}
	if (*word_of(t, n) & bit) {
		stats->seq_duplicate++;
		return;
	}
	if (n < t->first) { /* the stream began there, and what lies between was jumped over */
		stats->seq_skipped += t->first - n;
		t->first = n;
	}
	*word_of(t, n) |= bit;
	stats->seq_reordered++;
}

bool sequence_check(struct sequence *s, const void *payload, size_t len, struct stats *stats)
{
	struct seqhdr h;
	struct stream *t;

	if (!seqhdr_read(payload, len, &h)) {
		stats->seq_no_header++;
		return true;
	}
	if (!same_run(s, &h)) {
		stats->foreign++;
		return false;
	}
	t = &s->stream[h.stream];
	if (h.kind == SEQHDR_TRAILER) {
		stats->trailers++;
		skip(t, MAX(h.sequence, t->next), stats);
		return false;
	}
	if (h.sequence >= t->next)
		advance(t, h.sequence, stats);
	else
		look_back(t, h.sequence, stats);
	return true;
}
