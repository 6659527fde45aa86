/* SPDX-License-Identifier: MIT */
/*
 * random - pseudo-random numbers for traffic: fast, one state per thread, repeatable from a seed. Not for secrets.
 *
 * xoshiro256** 1.0 by D. Blackman and S. Vigna ("Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47, 2021), seeded by
 * splitmix64 as they recommend; both algorithms are in the public domain. Period 2^256 - 1.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t s[4];
};

/* stream: another sequence for the same seed (thread number). */
void random_seed(struct random *r, uint64_t seed, uint64_t stream);

static inline uint64_t random_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

/* 64 random bits. */
static inline uint64_t random_next(struct random *r)
{
	uint64_t *s = r->s, result = random_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotl(s[3], 45);
	return result;
}

/* 0 .. n-1, n >= 1, by multiplication (D. Lemire, "Fast Random Integer Generation in an Interval", 2019) without the rejection step: a value's share is
 * off by less than n / 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
	return (uint32_t)((random_next(r) >> 32) * n >> 32);
}

/* The same for a wide n: the upper half of a 128-bit product, without a 128-bit type. */
static inline uint64_t random_below64(struct random *r, uint64_t n)
{
	uint64_t x = random_next(r), x_high = x >> 32, x_low = (uint32_t)x, n_high = n >> 32, n_low = (uint32_t)n;
	uint64_t middle = x_high * n_low + (x_low * n_low >> 32);

	return x_high * n_high + (middle >> 32) + (((uint32_t)middle + x_low * n_high) >> 32);
}

/* 0 <= x < 1, 53 bits. */
static inline double random_unit(struct random *r)
{
	return (double)(random_next(r) >> 11) * 0x1p-53;
}

void random_fill(struct random *r, void *data, size_t size);

#endif
