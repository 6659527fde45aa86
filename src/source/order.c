/* SPDX-License-Identifier: MIT */
#include "source/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/util.h"

static bool exponent(const char *text, double *out)
{
	return !num_decimal(text, out) && *out <= 10;
}

int order_parse(const char *text, struct order_plan *out, struct err *err)
{
	*out = (struct order_plan){ .kind = ORDER_ROUND_ROBIN, .exponent = 1 };
	if (!strcmp(text, "round-robin"))
		return 0;
	out->kind = ORDER_RANDOM;
	if (!strcmp(text, "random"))
		return 0;
	out->kind = ORDER_ZIPF;
	if (!strcmp(text, "zipf") || (!strncmp(text, "zipf:", 5) && exponent(text + 5, &out->exponent)))
		return 0;
	return err_say(err, EINVAL, "--flow-order %s: expected round-robin, random, or zipf:S with S from 0 to 10", text);
}

int order_init(struct order *o, const struct order_plan *plan, unsigned n)
{
	double *weight;
	int rc;

	*o = (struct order){ .kind = plan->kind, .n = n };
	if (plan->kind != ORDER_ZIPF)
		return 0;
	weight = calloc(n, sizeof(*weight));
	if (!weight)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		weight[i] = pow(i + 1., -plan->exponent);
	rc = weights_init(&o->weights, weight, n);
	free(weight);
	return rc;
}

void order_free(struct order *o)
{
	weights_free(&o->weights);
}
