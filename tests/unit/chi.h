/* SPDX-License-Identifier: MIT */
/*
 * chi - does a count of draws look like what it should? Pearson's chi-square; with a fixed seed, so that a test passes always or never.
 */
#ifndef TESTS_CHI_H
#define TESTS_CHI_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* seen[i] of `draws` was expected with weight[i] (any scale; NULL: all alike). True when the sum of squares is one that all but one in a thousand
 * stay below: the first terms of Cornish and Fisher's expansion of that quantile, z = 3.09. What weighs nothing must not be seen. */
static inline bool chi_fits(const uint64_t *seen, const double *weight, unsigned n, uint64_t draws)
{
	const double z = 3.09;
	double sum = 0, chi = 0, degrees = -1;

	for (unsigned i = 0; i < n; i++)
		sum += weight ? weight[i] : 1;
	for (unsigned i = 0; i < n; i++) {
		double expected = (double)draws * (weight ? weight[i] : 1) / sum, off = (double)seen[i] - expected;

		if (expected > 0) {
			chi += off * off / expected;
			degrees++;
		} else if (seen[i]) {
			return false;
		}
	}
	return chi <= degrees + z * sqrt(2 * degrees) + 2. / 3 * (z * z - 1);
}

#endif
