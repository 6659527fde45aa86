/* SPDX-License-Identifier: MIT */
/*
 * flows - how many different flows a worker has seen, in 1 KiB and a few instructions per datagram.
 *
 * Linear counting (Whang, Vander-Zanden, Taylor: "A linear-time probabilistic counting algorithm for database applications", ACM TODS
 * 1990): a bitmap of m bits, one set per hashed flow; n = -m ln(share of zero bits). Nearly exact up to some hundred flows, a few percent
 * off at 10,000, "many" beyond. Written by one worker; read after it was joined.
 */
#ifndef SINK_FLOWS_H
#define SINK_FLOWS_H

#include <stdint.h>

#define FLOWS_BITS 8192

struct flows {
	uint64_t bit[FLOWS_BITS / 64];
};

static inline void flows_see(struct flows *f, uint32_t hash)
{
	f->bit[hash / 64 % (FLOWS_BITS / 64)] |= UINT64_C(1) << hash % 64;
}

/* Estimated number of distinct flows. */
double flows_count(const struct flows *f);

/* sum = sum or part. */
void flows_merge(struct flows *sum, const struct flows *part);

#endif
