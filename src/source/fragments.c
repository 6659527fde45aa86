/* SPDX-License-Identifier: MIT */
#include "source/fragments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define OVERLAP 8 /* bytes: the least there can be */

static bool due(int every, uint64_t index)
{
	return every && (index + 1) % (unsigned)every == 0;
}

unsigned fragments_most(const struct fragments_conf *conf, size_t payload)
{
	if (!conf->size || conf->attack)
		return 1;
	return wire_parts(payload + WIRE_UDP, (unsigned)conf->size) + (conf->duplicate > 0);
}

int fragments_init(struct fragments *plan, const struct fragments_conf *conf, size_t payload)
{
	*plan = (struct fragments){ .part = calloc(fragments_most(conf, payload), sizeof(*plan->part)) };
	return plan->part ? 0 : -ENOMEM;
}

/* Which fragment is sent as number i of n; random order is made afterwards. */
static unsigned place(int order, unsigned n, unsigned i)
{
	if (order == FRAGMENTS_REVERSE)
		return n - 1 - i;
	if (order == FRAGMENTS_ODD_EVEN)
		return i < n / 2 ? 2 * i + 1 : 2 * (i - n / 2);
	return i;
}

static void exchange(struct wire_part *a, struct wire_part *b)
{
	struct wire_part keep = *a;

	*a = *b;
	*b = keep;
}

/* R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7, 1964. */
static void shuffle(struct fragments *plan, struct random *r)
{
	for (unsigned i = plan->n - 1; i > 0; i--)
		exchange(&plan->part[i], &plan->part[random_below(r, i + 1)]);
}

/* Sent last, so that the receiver has the rest of it and throws all away at once: nothing is left to begin a datagram anew. That needs one with a
 * predecessor to reach into. */
static void overlap(struct fragments *plan)
{
	struct wire_part *last = &plan->part[plan->n - 1];

	if (!last->offset)
		exchange(last, last - 1);
	last->offset -= OVERLAP;
	last->len += OVERLAP;
	plan->incomplete = true;
}

static void leave_out(struct fragments *plan, unsigned i)
{
	plan->missing = wire_payload(&plan->part[i]);
	plan->n--;
	memmove(&plan->part[i], &plan->part[i + 1], (plan->n - i) * sizeof(*plan->part));
	plan->incomplete = true;
}

static void send_twice(struct fragments *plan)
{
	memmove(&plan->part[1], &plan->part[0], plan->n * sizeof(*plan->part));
	plan->n++;
}

static void attack(struct fragments *plan, const struct fragments_conf *conf, size_t payload)
{
	plan->part[0] = wire_part(payload + WIRE_UDP, (unsigned)conf->size, conf->attack == FRAGMENTS_MIDDLE);
	plan->n = 1;
	plan->incomplete = true;
	plan->missing = (unsigned)payload - wire_payload(&plan->part[0]);
}

void fragments_plan(struct fragments *plan, const struct fragments_conf *conf, size_t payload, uint64_t index, uint64_t random)
{
	size_t total = payload + WIRE_UDP;
	unsigned each = conf->size ? (unsigned)conf->size : (unsigned)total;
	struct random r;

	plan->n = wire_parts(total, each);
	plan->incomplete = false;
	plan->missing = 0;
	if (conf->attack) {
		attack(plan, conf, payload);
		return;
	}
	for (unsigned i = 0; i < plan->n; i++)
		plan->part[i] = wire_part(total, each, place(conf->order, plan->n, i));
	if (plan->n == 1)
		return;
	random_seed(&r, random, 0);
	if (conf->order == FRAGMENTS_RANDOM)
		shuffle(plan, &r);
	if (due(conf->overlap, index))
		overlap(plan);
	if (due(conf->hole, index))
		leave_out(plan, random_below(&r, plan->n));
	if (due(conf->duplicate, index))
		send_twice(plan);
}

void fragments_free(struct fragments *plan)
{
	free(plan->part);
	*plan = (struct fragments){ 0 };
}
