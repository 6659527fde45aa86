/* SPDX-License-Identifier: MIT */
#include "sink/trailers.h"

#include "base/util.h"

static void note(struct trailers *t, uint32_t run, const struct seqhdr_sums *sums)
{
	unsigned i = 0;

	while (i < t->n && t->run[i].run != run)
		i++;
	if (i == TRAILERS_RUNS) {
		t->unread++;
		return;
	}
	if (i == t->n)
		t->run[t->n++] = (struct trailers_run){ .run = run, .sums = *sums };
	else if (sums->trailers > t->run[i].sums.trailers)
		t->run[i].sums = *sums;
}

bool trailers_take(struct trailers *t, const void *payload, size_t len)
{
	struct seqhdr h;
	struct seqhdr_sums sums;

	if (!seqhdr_read(payload, len, &h) || h.kind != SEQHDR_TRAILER)
		return false;
	if (seqhdr_read_trailer(payload, len, &sums))
		note(t, h.run, &sums);
	else
		t->unread++;
	return true;
}

void trailers_merge(struct trailers *sum, const struct trailers *part)
{
	for (unsigned i = 0; i < part->n; i++)
		note(sum, part->run[i].run, &part->run[i].sums);
	sum->unread += part->unread;
}

bool trailers_total(const struct trailers *t, uint64_t netns, struct seqhdr_sums *out)
{
	*out = (struct seqhdr_sums){ 0 };
	for (unsigned i = 0; i < t->n; i++) {
		const struct seqhdr_sums *s = &t->run[i].sums;

		out->datagrams += s->datagrams;
		out->trailers += s->trailers + 1;
		out->after = (uint16_t)MIN(out->after + s->after, UINT16_MAX);
		out->segments = MAX(out->segments, s->segments);
		if (netns && s->netns == netns) {
			out->probes = (uint16_t)(out->probes + s->probes);
			out->messages = (uint16_t)(out->messages + s->messages);
		}
	}
	return t->n && !t->unread;
}
