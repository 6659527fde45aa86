/* SPDX-License-Identifier: MIT */
#include "source/dst.h"

#include "base/util.h"

int dst_plan(struct dst_plan *plan, const struct range *range, const char *ports, uint16_t number, struct err *err)
{
	struct range_ports p = { number, 1 };
	int rc = ports ? range_parse_ports("dst-ports", ports, &p, err) : 0;

	*plan = (struct dst_plan){ .range = *range, .first_port = p.first, .ports = p.n, .length = 1 };
	if (__builtin_mul_overflow(range->n, plan->ports, &plan->n))
		plan->n = UINT64_MAX;
	return rc;
}

void dst_start(struct dst_walk *walk, const struct dst_plan *plan, unsigned thread, unsigned threads)
{
	*walk = (struct dst_walk){ .plan = plan, .at = thread % plan->n, .step = threads % plan->n, .left = plan->length };
}

static void move_on(struct dst_walk *walk, struct random *r)
{
	const struct dst_plan *plan = walk->plan;

	if (plan->order == DST_RANDOM)
		walk->at = random_below64(r, plan->n);
	else if (walk->at >= plan->n - walk->step)
		walk->at -= plan->n - walk->step;
	else
		walk->at += walk->step;
	walk->left = plan->length;
}

void dst_next(struct dst_walk *walk, struct random *r, unsigned n, struct addr *out)
{
	const struct dst_plan *plan = walk->plan;

	if (!walk->left)
		move_on(walk, r);
	walk->left -= MIN(walk->left, n);
	range_at(&plan->range, walk->at / plan->ports, out);
	addr_set_port(out, (uint16_t)(plan->first_port + walk->at % plan->ports));
}
