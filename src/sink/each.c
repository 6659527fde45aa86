/* SPDX-License-Identifier: MIT */
#include "sink/each.h"

#include <errno.h>
#include <stdlib.h>

int each_open(struct each *e, const struct engine_ops *ops, struct sock_set *set, const struct engine_slot *slot,
	      unsigned most)
{
	*e = (struct each){ .ops = ops, .set = set, .listeners = slot->socks, .nlisteners = slot->nsocks, .most = most };
	e->slots = 4;
	/* Three quarters are filled at most, so that looking up ends soon: room for twice as many flows as may get a socket. */
	while (e->slots < 3 * most)
		e->slots *= 2;
	e->seen = calloc(e->slots, sizeof(*e->seen));
	return e->seen ? 0 : -ENOMEM;
}

void each_close(struct each *e)
{
	free(e->seen);
	e->seen = NULL;
}

/* Where the flow is, or would be put. */
static struct addr *slot_of(struct each *e, const struct addr *src)
{
	for (uint32_t i = addr_hash(src);; i++) {
		struct addr *a = &e->seen[i & (e->slots - 1)];

		if (!a->len || addr_equal(a, src))
			return a;
	}
}

static bool is_listener(const struct each *e, unsigned sock)
{
	for (unsigned i = 0; i < e->nlisteners; i++)
		if (e->listeners[i] == sock)
			return true;
	return false;
}

struct watch {
	const struct engine_ops *ops;
	struct engine *engine;
};

static int watch_socket(void *data, unsigned sock)
{
	const struct watch *w = data;

	return w->ops->add(w->engine, sock);
}

void each_see(struct each *e, struct engine *engine, const struct packet *p)
{
	const struct sock *listener = &e->set->sock[p->sock];
	struct addr local = listener->local, *known;
	struct watch watch = { e->ops, engine };
	const struct sockset_flow flow = { .listener = listener, .local = &local, .peer = p->src, .watch = watch_socket, .data = &watch };
	struct err err = ERR_INIT;
	int sock;

	if (!p->src || !is_listener(e, p->sock))
		return;
	known = slot_of(e, p->src);
	if (known->len || e->known >= e->slots / 4 * 3)
		return;
	*known = *p->src;
	e->known++;
	if (e->flows == e->most) {
		e->failed++;
		return;
	}
	if (p->info && p->info->valid & CMSG_WANT_PKTINFO)
		addr_from_in6(&local, &p->info->dst, addr_port(&listener->local), p->info->ifindex);
	sock = sockset_add_connected(e->set, &flow, &err);
	e->failed += sock < 0;
	e->flows += sock >= 0;
}
