/* SPDX-License-Identifier: MIT */
#include "source/stats.h"

#include <errno.h>

#define E(name, hint) \
	{ \
		name, #name, hint \
	}

const struct stats_errno stats_errno[STATS_ERRNOS] = {
	E(ECONNREFUSED, "nobody listens on that port"),
	E(ENOBUFS, "a device queue was full"),
	E(EPERM, "a firewall rule or a full conntrack table"),
	E(EMSGSIZE,
	  "larger than the path MTU and not to be fragmented, or larger than UDP carries"),
	E(ENETUNREACH, "no route"),
	E(EHOSTUNREACH, "no route, or the neighbour does not answer"),
	E(EACCES, "a broadcast address or a prohibit route"),
	E(ENETDOWN, "the interface is down"),
	E(EHOSTDOWN, NULL),
	E(EINVAL, NULL),
	E(EIO, NULL),
	E(ENOMEM, NULL),
	E(EPIPE, NULL),
	E(EADDRNOTAVAIL, "the source address is not on this host any more"),
	E(ENODEV, NULL),
	E(ENXIO, NULL),
	E(EPROTO, NULL),
	E(ENOPROTOOPT, "the destination host does not know the protocol"),
	{ 0, "other", NULL },
};

static unsigned entry_of(int error)
{
	unsigned i = 0;

	while (i < STATS_ERRNOS - 1 && stats_errno[i].error != error)
		i++;
	return i;
}

const char *stats_errno_name(int error)
{
	return stats_errno[entry_of(error)].name;
}

void stats_refused(struct stats_block *block, int error, uint64_t n)
{
	stats_add(&block->at.refused[entry_of(error)], n);
}

void stats_snapshot(const struct stats_block *block, struct stats *out)
{
#define X(name, help) out->name = atomic_load_explicit(&block->at.name, memory_order_relaxed);
	STATS_COUNTERS(X)
#undef X
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		out->refused[i] = atomic_load_explicit(&block->at.refused[i], memory_order_relaxed);
	for (unsigned i = 0; i < BAD_KINDS; i++)
		out->bad[i] = atomic_load_explicit(&block->at.bad[i], memory_order_relaxed);
}

void stats_sum(struct stats *sum, const struct stats *add)
{
#define X(name, help) sum->name += add->name;
	STATS_COUNTERS(X)
#undef X
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		sum->refused[i] += add->refused[i];
	for (unsigned i = 0; i < BAD_KINDS; i++)
		sum->bad[i] += add->bad[i];
}

void stats_difference(struct stats *out, const struct stats *a, const struct stats *b)
{
#define X(name, help) out->name = a->name - b->name;
	STATS_COUNTERS(X)
#undef X
	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		out->refused[i] = a->refused[i] - b->refused[i];
	for (unsigned i = 0; i < BAD_KINDS; i++)
		out->bad[i] = a->bad[i] - b->bad[i];
}

uint64_t stats_refused_total(const struct stats *s)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < STATS_ERRNOS; i++)
		total += s->refused[i];
	return total;
}

uint64_t stats_deliverable(const struct stats *s, int family)
{
	uint64_t lost = s->incomplete;

	for (unsigned i = 0; i < BAD_KINDS; i++)
		lost += bad_is_delivered(i, family) ? 0 : s->bad[i];
	return s->sent - lost;
}
