/* SPDX-License-Identifier: MIT */
#include "sink/pktgen.h"

#include <string.h>

/* Sequence numbers are 32 bit: a step back from beyond this is the wrap, not disorder (the bound upstream uses). */
#define NEAR_WRAP 3000000000u

static bool older(const struct pktgenhdr *now, const struct pktgenhdr *last)
{
	if (now->sec != last->sec)
		return now->sec < last->sec;
	if (now->usec != last->usec)
		return now->usec < last->usec;
	return now->sequence < last->sequence && last->sequence < NEAR_WRAP;
}

static void check_repeats(const unsigned char *payload, size_t len, struct stats *stats)
{
	for (size_t at = PKTGENHDR_SIZE; at + PKTGENHDR_SIZE <= len; at += PKTGENHDR_SIZE)
		if (memcmp(payload, payload + at, PKTGENHDR_SIZE))
			stats->pktgen_bad_repeat++;
}

void pktgen_check(struct pktgen *p, const void *payload, size_t len, struct stats *stats)
{
	struct pktgenhdr now;

	if (!pktgenhdr_read(payload, len, &now)) {
		stats->pktgen_bad_magic++;
		return;
	}
	if (p->started && (older(&now, &p->last) || (p->level > 2 && now.sequence != p->last.sequence + 1)))
		stats->pktgen_disorder++;
	if (p->level > 1)
		check_repeats(payload, len, stats);
	p->last = now;
	p->started = true;
}
