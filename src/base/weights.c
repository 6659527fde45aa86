/* SPDX-License-Identifier: MIT */
#include "base/weights.h"

#include <errno.h>
#include <stdlib.h>

#define WHOLE 0x1p32

/* Scaled so that the mean is 1; -EINVAL when there is nothing to draw from. */
static int scale(const double *weight, unsigned n, double *out)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!(weight[i] >= 0))
			return -EINVAL;
		sum += weight[i];
	}
	for (unsigned i = 0; i < n && sum > 0; i++)
		out[i] = weight[i] * n / sum;
	return sum > 0 ? 0 : -EINVAL;
}

static void set(struct weights_entry *e, double share, uint32_t other)
{
	e->keep = share >= 1 ? UINT32_MAX : (uint32_t)(share * WHOLE);
	e->other = other;
}

/* Entries below the mean are filled up with a part of one above it, until all are even. stack: n indexes; the small ones grow from the left,
 * the large ones from the right. */
static void pair(struct weights_entry *entry, double *share, unsigned *stack, unsigned n)
{
	unsigned small = 0, large = n;

	for (unsigned i = 0; i < n; i++) {
		if (share[i] < 1)
			stack[small++] = i;
		else
			stack[--large] = i;
	}
	while (small && large < n) {
		unsigned less = stack[--small], more = stack[large];

		set(&entry[less], share[less], more);
		share[more] -= 1 - share[less];
		if (share[more] < 1) {
			large++;
			stack[small++] = more;
		}
	}
	while (large < n) {
		set(&entry[stack[large]], 1, stack[large]);
		large++;
	}
	while (small) { /* left by rounding */
		small--;
		set(&entry[stack[small]], 1, stack[small]);
	}
}

int weights_init(struct weights *w, const double *weight, unsigned n)
{
	double *share = calloc(n, sizeof(*share));
	unsigned *stack = calloc(n, sizeof(*stack));
	int rc = -ENOMEM;

	*w = (struct weights){ .n = n, .entry = calloc(n, sizeof(*w->entry)) };
	if (share && stack && w->entry)
		rc = scale(weight, n, share);
	if (!rc)
		pair(w->entry, share, stack, n);
	else
		weights_free(w);
	free(share);
	free(stack);
	return rc;
}

void weights_free(struct weights *w)
{
	free(w->entry);
	*w = (struct weights){ 0 };
}
