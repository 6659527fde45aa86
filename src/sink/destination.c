/* SPDX-License-Identifier: MIT */
#include "sink/destination.h"

#include <string.h>

/* Three quarters full is the most that linear probing is asked to carry. */
#define MOST (DESTINATION_SLOTS / 4 * 3)

static uint32_t hash_of(const struct in6_addr *ip)
{
	uint64_t w[2];

	memcpy(w, ip, sizeof(w));
	/* Fibonacci hashing (Knuth, TAOCP 6.4): 2^64 divided by the golden ratio. */
	return (uint32_t)(((w[0] ^ w[1]) * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

void destination_count(struct destinations *d, const struct in6_addr *ip, uint64_t datagrams, uint64_t bytes)
{
	for (uint32_t i = hash_of(ip);; i++) {
		struct destination *s = &d->slot[i % DESTINATION_SLOTS];

		if (!s->datagrams) {
			if (d->used == MOST) {
				d->other += datagrams;
				return;
			}
			d->used++;
			s->ip = *ip;
		} else if (memcmp(&s->ip, ip, sizeof(*ip)) != 0) {
			continue;
		}
		s->datagrams += datagrams;
		s->bytes += bytes;
		return;
	}
}

void destination_merge(struct destinations *sum, const struct destinations *part)
{
	for (unsigned i = 0; i < DESTINATION_SLOTS; i++)
		if (part->slot[i].datagrams)
			destination_count(sum, &part->slot[i].ip, part->slot[i].datagrams, part->slot[i].bytes);
	sum->other += part->other;
}
