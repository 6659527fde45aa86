/* SPDX-License-Identifier: MIT */
/*
 * size - how large datagrams are: one size, a range, or a list with weights. Bytes of UDP payload throughout.
 *
 *   "18"            always 18
 *   "18..1472"      each size of the range alike
 *   "imix"          18:7,548:4,1472:1: Ethernet frames of 64, 594 and 1518 bytes, the simple IMIX that RFC 6985 quotes, less the 14 + 20 + 8 + 4
 *                   bytes around an IPv4 payload
 *   "64:7,576:4"    these, 7 to 4
 *   "3x1472"        the product, 4416
 */
#ifndef SOURCE_SIZE_H
#define SOURCE_SIZE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/weights.h"

/* The largest payload of a UDP datagram over IPv4: 65535 - 20 - 8. IPv6 would carry 65527; one limit for both families keeps their runs
 * comparable. */
#define SIZE_MAX_PAYLOAD 65507

/* Entries of a list. */
#define SIZE_LIST 32

struct size_plan {
	uint16_t low, high;      /* low == high: fixed */
	double mean;
	unsigned n;              /* entries of a list; 0 = fixed or a range */
	uint16_t size[SIZE_LIST];
	struct weights weights;  /* of a list */
};

/* text as above. -EINVAL with a sentence that names `option`. Ends with size_free. */
int size_parse(const char *option, const char *text, struct size_plan *out, struct err *err);

static inline bool size_is_fixed(const struct size_plan *plan)
{
	return plan->low == plan->high;
}

/* The next size. */
static inline uint16_t size_draw(const struct size_plan *plan, struct random *r)
{
	if (plan->n)
		return plan->size[weights_draw(&plan->weights, r)];
	return (uint16_t)(plan->low + random_below(r, plan->high - plan->low + 1u));
}

void size_free(struct size_plan *plan);

#endif
