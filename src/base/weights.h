/* SPDX-License-Identifier: MIT */
/*
 * weights - draws an index with given weights, in constant time: the alias method (A. J. Walker 1977; set-up by M. D. Vose, "A Linear Algorithm for
 * Generating Random Numbers with a Given Distribution", IEEE TSE 17, 1991).
 */
#ifndef BASE_WEIGHTS_H
#define BASE_WEIGHTS_H

#include "base/random.h"

struct weights {
	unsigned n;
	struct weights_entry {
		uint32_t keep;  /* of 2^32 draws of this entry so many keep it; the rest take the other */
		uint32_t other;
	} *entry; /* owned */
};

/* weight: n >= 1 values, none negative, at least one above 0. Returns 0 or -ENOMEM, -EINVAL. */
int weights_init(struct weights *w, const double *weight, unsigned n);

static inline unsigned weights_draw(const struct weights *w, struct random *r)
{
	uint64_t bits = random_next(r);
	uint32_t i = (uint32_t)((bits >> 32) * w->n >> 32);
	const struct weights_entry *e = &w->entry[i];

	return (uint32_t)bits < e->keep ? i : e->other;
}

void weights_free(struct weights *w);

#endif
