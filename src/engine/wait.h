/* SPDX-License-Identifier: MIT */
/*
 * wait - how a socket engine waits: in the receive call (block), in ppoll or epoll_wait (poll), or not at all (spin);
 * and how another thread ends the wait.
 *
 * Without blocking, sockets are visited in rounds: wait_round() lists the sockets that may have something, the
 * engine visits each of them once, and what is left over comes up again in the next round. So a
 * flooded socket cannot starve another one, and a visit is bounded by the batch.
 */
#ifndef ENGINE_WAIT_H
#define ENGINE_WAIT_H

#include <poll.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"

/* Empty calls after which a spinning recv lets the worker look round: well under a millisecond. */
#define WAIT_SPIN_POLLS 1024

struct wait {
	enum engine_wait mode;
	unsigned rounds;       /* at most so many rounds in one recv */
	bool left;             /* a socket of this round was not seen empty */
	bool woke;             /* a wake was obeyed; the EINTR that its signal may have left in the socket is no event */
	unsigned at, nready;   /* this round: ready[at .. nready) are still to be visited */
	unsigned *ready;       /* positions in sock[] */
	unsigned n, max;       /* sockets now, and room */
	unsigned *sock;        /* indexes into the sock_set */
	struct pollfd *poll;   /* [0] the eventfd, [1 + position] the sockets */
	int epoll_fd;          /* -1: ppoll */
	uint64_t timeout_ns;   /* block: SO_RCVTIMEO */
	pid_t tid;             /* the worker */
	int event_fd;
	atomic_int woken;      /* set by wait_wake, on any thread */
};

#define WAIT_INIT { .epoll_fd = -1, .event_fd = -1 }

/* SO_RCVTIMEO under block. */
static inline uint64_t wait_timeout(const struct engine_conf *conf)
{
	return conf->sk_timeout_ns ? conf->sk_timeout_ns : ENGINE_TICK_NS;
}

/* Worker. On failure nothing is left open. epoll: epoll instead of ppoll, and block means poll. */
int wait_open(struct wait *wait, const struct engine_run *run, const struct engine_slot *slot, bool epoll, struct err *err);

/* Worker. 0, -ENOTSUP under block, -ENOSPC beyond max_socks, or -errno of epoll_ctl. */
int wait_add(struct wait *wait, const struct sock_set *set, unsigned sock);

/* Starts a round, and sleeps for at most ENGINE_TICK_NS unless sockets were left over or the mode is spin. Returns the number of sockets
 * to visit, 0 (*waited_ns is set when the time ran out), or -errno. */
int wait_round(struct wait *wait, uint64_t *waited_ns);

/* Any thread, async-signal-safe. */
void wait_wake(struct wait *wait);

/* Takes back a wake; true. */
bool wait_obey(struct wait *wait);

/* Was recv asked to return? Takes the wake back. */
static inline bool wait_woken(struct wait *wait)
{
	return UNLIKELY(atomic_load_explicit(&wait->woken, memory_order_relaxed)) && wait_obey(wait);
}

/* Is this EINTR the trace of a wake? */
static inline bool wait_interrupted(struct wait *wait)
{
	bool woke = wait_woken(wait) || wait->woke;

	wait->woke = false;
	return woke;
}

void wait_close(struct wait *wait);

#endif
