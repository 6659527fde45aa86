/* SPDX-License-Identifier: MIT */
#include "base/hist.h"

#include "base/util.h"

#define SHIFT 4 /* log2 of the buckets per power of two */
#define EACH (1u << SHIFT)

static unsigned bucket_of(uint64_t value)
{
	unsigned power;

	if (value < EACH)
		return (unsigned)value;
	power = 63 - (unsigned)__builtin_clzll(value);
	return MIN((power - SHIFT + 1) * EACH + (unsigned)(value >> (power - SHIFT) & (EACH - 1)), HIST_BUCKETS - 1);
}

static uint64_t bucket_top(unsigned bucket)
{
	if (bucket < EACH)
		return bucket;
	return ((UINT64_C(1) + EACH + bucket % EACH) << (bucket / EACH - 1)) - 1;
}

void hist_record(struct hist *h, uint64_t value)
{
	h->n++;
	h->max = MAX(h->max, value);
	h->bucket[bucket_of(value)]++;
}

void hist_add(struct hist *sum, const struct hist *h)
{
	sum->n += h->n;
	sum->max = MAX(sum->max, h->max);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		sum->bucket[i] += h->bucket[i];
}

uint64_t hist_permille(const struct hist *h, unsigned permille)
{
	uint64_t rank = h->n / 1000 * permille + (h->n % 1000 * permille + 999) / 1000, seen = 0;

	for (unsigned i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen && seen >= rank)
			return MIN(bucket_top(i), h->max);
	}
	return h->max;
}
