/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <string.h>

#include "base/util.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void random_seed(struct random *r, uint64_t seed, uint64_t stream)
{
	uint64_t state = stream;

	state = seed ^ splitmix64(&state);
	for (unsigned i = 0; i < ARRAY_SIZE(r->s); i++)
		r->s[i] = splitmix64(&state);
}

void random_fill(struct random *r, void *data, size_t size)
{
	unsigned char *to = data;

	while (size) {
		uint64_t bits = random_next(r);
		size_t n = MIN(size, sizeof(bits));

		memcpy(to, &bits, n);
		to += n;
		size -= n;
	}
}
