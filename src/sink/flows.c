/* SPDX-License-Identifier: MIT */
#include "sink/flows.h"

#include <math.h>

double flows_count(const struct flows *f)
{
	unsigned set = 0;

	for (unsigned i = 0; i < FLOWS_BITS / 64; i++)
		set += (unsigned)__builtin_popcountll(f->bit[i]);
	if (set == FLOWS_BITS)
		set--; /* saturated: the largest number this bitmap can tell */
	return -(double)FLOWS_BITS * log1p(-(double)set / FLOWS_BITS);
}

void flows_merge(struct flows *sum, const struct flows *part)
{
	for (unsigned i = 0; i < FLOWS_BITS / 64; i++)
		sum->bit[i] |= part->bit[i];
}
