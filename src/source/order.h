/* SPDX-License-Identifier: MIT */
/*
 * order - which of a thread's flows has the next turn: each in turn, at random alike, or few often and many seldom (Zipf: the k-th flow of the thread has weight
 * 1 / k^s).
 */
#ifndef SOURCE_ORDER_H
#define SOURCE_ORDER_H

#include "base/err.h"
#include "base/weights.h"

enum order_kind { ORDER_ROUND_ROBIN, ORDER_RANDOM, ORDER_ZIPF };

/* As asked. */
struct order_plan {
	enum order_kind kind;
	double exponent; /* of zipf */
};

/* "round-robin", "random", "zipf", "zipf:1.1" (1 when not given, 0 to 10). */
int order_parse(const char *text, struct order_plan *out, struct err *err);

/* One thread's. */
struct order {
	enum order_kind kind;
	unsigned n, next;
	struct weights weights;
};

/* n: flows of the thread. 0 or -ENOMEM. Ends with order_free. */
int order_init(struct order *o, const struct order_plan *plan, unsigned n);

/* 0 .. n-1 */
static inline unsigned order_next(struct order *o, struct random *r)
{
	unsigned now = o->next;

	if (o->kind == ORDER_RANDOM)
		return random_below(r, o->n);
	if (o->kind == ORDER_ZIPF)
		return weights_draw(&o->weights, r);
	o->next = now + 1 == o->n ? 0 : now + 1;
	return now;
}

void order_free(struct order *o);

#endif
