/* SPDX-License-Identifier: MIT */
/*
 * sockset - all sockets of a run, in slot order, owned by main; engines borrow descriptors by index.
 *
 * The order matters: the index of a member in a reuse-port group is the order of bind(2), so one thread binds them
 * all, slot by slot. Room for sockets that are made while running (a connected socket per flow) is reserved at the
 * start: `add` never moves the array. An index, once given, stays valid until sockset_forget or sockset_close.
 */
#ifndef NET_SOCKSET_H
#define NET_SOCKSET_H

#include <stdatomic.h>

#include "net/sock.h"

struct sockset_own;

struct sock_set {
	struct sock *sock;  /* capacity entries, n in use */
	unsigned capacity;
	unsigned opened;    /* by sockset_open; those behind joined later */
	atomic_uint n;      /* grows only while workers run; entries below n are complete (release/acquire) */
	struct sockset_own *own; /* of sockset.c; NULL = a set that somebody else filled */
};

struct sockset_conf {
	struct sock_conf sock;
	const struct addr *listen; /* nlisten addresses */
	const enum sock_v6only *v6only; /* of each, instead of sock.v6only; NULL = sock.v6only for all */
	unsigned nlisten;
	unsigned slots;   /* workers */
	bool shared;      /* one socket per address for all slots (--shared-socket) */
	bool group;       /* several sockets per address without being asked (--threads N): a group that
	                     shares its port with nobody, see net/group.h; reserve makes one too */
	bool join;        /* --reuse-port: joins a group of this user, or starts one that others may join */
	bool steer_cpu;   /* --use-bpf */
	unsigned reserve; /* room for sockets added later. The flows that have none are then spread over the first ones by
	                     our own hash: the kernel's counts all members, and would move flows with every socket added */
	const char *const *groups; /* multicast groups to join, ngroups */
	unsigned ngroups;
};

/* Opens everything. Layout: shared: socket a for address a; otherwise socket slot * nlisten + a. A port of 0 is
 * chosen once per address and used for all slots. Refuses: port in use (probed without SO_REUSEPORT first, so that a
 * forgotten instance never silently shares the traffic); multicast joins with more than one member per address (each
 * member would get every datagram). */
int sockset_open(struct sock_set *set, const struct sockset_conf *conf, struct err *err);

/* How many sockets, ours not counted, are bound to this local address and port in this network namespace
 * (/proc/thread-self/net/udp, udp6); -1 = not readable. For "joined a group of N". */
int sockset_others(const struct sock_set *set, const struct addr *local);

struct sockset_flow {
	const struct sock *listener;
	const struct addr *local; /* destination of the flow's first datagram: a wildcard socket would leave the choice to the route. A mapped or link-local one is
	                             fine */
	const struct addr *peer;
	int (*watch)(void *data, unsigned sock); /* called before the socket can get a datagram; not 0: it is closed. NULL = none */
	void *data;
};

/* Opens another socket (same options as the listener, bound to local) connected to peer, and publishes it. Any one worker at a time per set: takes an internal
 * lock. Returns the index, or -errno (-ENOSPC: reserve used up; without a sentence where watch failed). */
int sockset_add_connected(struct sock_set *set, const struct sockset_flow *flow, struct err *err);

/* Closes the sockets that sockset_add_connected made: a run is over, and the next one would not read them. No worker
 * and no engine may use the set at that time. */
void sockset_forget(struct sock_set *set);

void sockset_close(struct sock_set *set);

#endif
