/* SPDX-License-Identifier: MIT */
#include "sink/sequence.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (SEQUENCE_WINDOW / 64)

struct stream {
	uint64_t next;        /* highest number seen + 1; 0 = nothing seen */
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

static bool same_run(struct sequence *s, uint32_t run)
{
	uint64_t mine = UINT64_C(1) << 32 | run, none = 0;

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

/* A number at or above next: the window slides up to it. */
static void advance(struct stream *t, uint64_t n, struct stats *stats)
{
	if (t->next)
		stats->seq_skipped += n - t->next;
	if (!t->next || n - t->next >= SEQUENCE_WINDOW)
		memset(t->seen, 0, sizeof(t->seen));
	else
		for (uint64_t i = t->next; i < n; i++)
			*word_of(t, i) &= ~(UINT64_C(1) << i % 64);
	*word_of(t, n) |= UINT64_C(1) << n % 64;
	t->next = n + 1;
	stats->seq_in_order++;
}

bool sequence_check(struct sequence *s, const void *payload, size_t len, struct stats *stats)
{
	struct seqhdr h;
	struct stream *t;
	uint64_t bit;

	if (!seqhdr_read(payload, len, &h)) {
		stats->seq_no_header++;
		return true;
	}
	if (!same_run(s, h.run))
		return false;
	t = &s->stream[h.stream];
	if (h.sequence >= t->next) {
		advance(t, h.sequence, stats);
		return true;
	}
	bit = UINT64_C(1) << h.sequence % 64;
	if (t->next - h.sequence > SEQUENCE_WINDOW) {
		stats->seq_stale++;
	} else if (*word_of(t, h.sequence) & bit) {
		stats->seq_duplicate++;
	} else {
		*word_of(t, h.sequence) |= bit;
		stats->seq_reordered++;
	}
	return true;
}
