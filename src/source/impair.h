/* SPDX-License-Identifier: MIT */
/*
 * impair - faults of a network that the source makes itself: datagrams withheld, sent twice, out of order. Without netem, exact, and known to the
 * receiver's check because only the sequence numbers show them.
 *
 * No datagram is held back in memory: which number the i-th accepted datagram of a flow carries is a function of i. So a refused datagram, whose number the
 * next one takes over, needs no book-keeping. Applied in this order: withhold, reorder, duplicate. Pure functions, any thread.
 */
#ifndef SOURCE_IMPAIR_H
#define SOURCE_IMPAIR_H

#include <stdbool.h>
#include <stdint.h>

/* Every so many datagrams; 0 = never. */
struct impair {
	uint32_t withhold;  /* of N numbers the last is not sent */
	uint32_t reorder;   /* of N datagrams (2 and more) the last two change places */
	uint32_t duplicate; /* after N datagrams the last of them is sent again */
};

static inline bool impair_any(const struct impair *p)
{
	return p->withhold || p->reorder || p->duplicate;
}

/* The sequence number of accepted datagram i of a flow. */
static inline uint64_t impair_number(const struct impair *p, uint64_t i)
{
	if (p->duplicate) {
		uint64_t group = p->duplicate + UINT64_C(1), at = i % group;

		i = i / group * p->duplicate + (at == p->duplicate ? at - 1 : at);
	}
	if (p->reorder) {
		uint64_t at = i % p->reorder;

		if (at == p->reorder - 2)
			i++;
		else if (at == p->reorder - 1)
			i--;
	}
	if (p->withhold)
		i += i / (p->withhold - 1);
	return i;
}

/* Of the first n accepted datagrams of a flow: copies. */
static inline uint64_t impair_duplicates(const struct impair *p, uint64_t n)
{
	return p->duplicate ? n / (p->duplicate + UINT64_C(1)) : 0;
}

/* ... those that came after their follower. */
static inline uint64_t impair_reordered(const struct impair *p, uint64_t n)
{
	return p->reorder ? (n - impair_duplicates(p, n)) / p->reorder : 0;
}

/* The first number behind all those that n accepted datagrams carried or passed over. */
static inline uint64_t impair_end(const struct impair *p, uint64_t n)
{
	uint64_t i = n - impair_duplicates(p, n);

	if (p->reorder && i % p->reorder == p->reorder - 1)
		i++; /* of the last pair the second went out, and the first did not come to it */
	if (p->withhold)
		i += i / (p->withhold - 1);
	return i;
}

/* Numbers below that end which none of them carried. */
static inline uint64_t impair_withheld(const struct impair *p, uint64_t n)
{
	return impair_end(p, n) - (n - impair_duplicates(p, n));
}

#endif
