/* SPDX-License-Identifier: MIT */
/*
 * drain - the receive loop of the socket engines: blocks in the call on one socket, or visits the sockets of a round.
 *
 * The engine's own call comes in as a constant function and is inlined: there is one such loop in the source, and each engine
 * gets its own in the object code, without an indirect call. Worker only.
 */
#ifndef ENGINE_DRAIN_H
#define ENGINE_DRAIN_H

#include <errno.h>

#include "base/clock.h"
#include "engine/slot.h"
#include "engine/table.h"

/* Receives from the socket at `position` of engine->wait into batch->packets[batch->n ...], raising n and calls, as far as batch->limit.
 * flags: 0 to block, MSG_DONTWAIT. Returns 1: there may be more; 0: the queue was seen empty; -errno. */
typedef int drain_fill(struct engine *engine, struct batch *batch, unsigned position, int flags);

/* Errors that say that the descriptor is of no use. All others are events: an ICMP message, memory, a signal, a bad pointer. */
static inline bool drain_is_fatal(int code)
{
	return code == EBADF || code == ENOTSOCK || code == EINVAL || code == EOPNOTSUPP;
}

/* What recv returns after an error. Packets come first: what is fatal meets the next call again. */
static inline int drain_error(struct engine *engine, struct batch *batch, int code)
{
	if (drain_is_fatal(code))
		return batch->n ? (int)batch->n : -code;
	if (code != EINTR || !wait_interrupted(&engine->wait))
		batch->event = code;
	return (int)batch->n;
}

static ALWAYS_INLINE int drain_block(struct engine *engine, struct batch *batch, drain_fill *fill)
{
	int more = fill(engine, batch, 0, 0);

	if (more < 0)
		return drain_error(engine, batch, -more);
	batch->drained = !more;
	return (int)batch->n;
}

static ALWAYS_INLINE int drain_rounds(struct engine *engine, struct batch *batch, drain_fill *fill)
{
	struct wait *wait = &engine->wait;

	for (unsigned rounds = 0;; rounds++) {
		while (wait->at < wait->nready) {
			int more = fill(engine, batch, wait->ready[wait->at++], MSG_DONTWAIT);

			if (more)
				wait->left = true;
			if (more < 0)
				return drain_error(engine, batch, -more);
			if (batch->n && (batch->n == batch->limit || batch->calls > batch->limit))
				return (int)batch->n;
		}
		batch->drained = !wait->left;
		if (batch->n || rounds == wait->rounds || batch->empty_polls >= WAIT_SPIN_POLLS || wait_woken(wait))
			return (int)batch->n;

		int found = wait_round(wait, &batch->waited_ns);

		if (found < 0)
			return drain_error(engine, batch, -found);
		if (!found && wait->mode != ENGINE_WAIT_SPIN) {
			batch->drained = true; /* all were asked */
			return 0;
		}
	}
}

static ALWAYS_INLINE int drain_recv(struct engine *engine, struct batch *batch, drain_fill *fill)
{
	batch->packets = engine->msg.packet;
	batch->n = 0;
	batch->calls = 0;
	batch->empty_polls = 0;
	batch->event = engine->late;
	batch->drained = false;
	batch->waited_ns = 0;
	batch->nreplies = 0;
	batch->refused = 0;
	if (UNLIKELY(engine->late)) {
		engine->late = 0;
		return 0;
	}
	if (wait_woken(&engine->wait))
		return 0;
	if (engine->wait.mode == ENGINE_WAIT_BLOCK)
		return drain_block(engine, batch, fill);
	return drain_rounds(engine, batch, fill);
}

/* The call found nothing: the socket is empty, or under block its time ran out. */
static inline int drain_empty(struct engine *engine, struct batch *batch)
{
	batch->empty_polls++;
	if (engine->wait.mode == ENGINE_WAIT_BLOCK)
		batch->waited_ns = engine->wait.timeout_ns;
	return 0;
}

/* One recvmmsg: the fill of the engines that receive several datagrams per call. */
static ALWAYS_INLINE int drain_mmsg(struct engine *engine, struct batch *batch, unsigned position, int flags)
{
	struct wait *wait = &engine->wait;
	const struct engine_conf *conf = engine->conf;
	const unsigned room = batch->limit - batch->n;
	const bool timed = conf->mmsg_timeout_ns >= 0;
	struct timespec timeout; /* written by the kernel, so filled for each call */

	if (timed)
		timeout = (struct timespec){ .tv_sec = (time_t)(conf->mmsg_timeout_ns / (int64_t)NSEC_PER_SEC),
					     .tv_nsec = (long)(conf->mmsg_timeout_ns % (int64_t)NSEC_PER_SEC) };
	flags |= MSG_TRUNC | (conf->waitforone ? MSG_WAITFORONE : 0);

	int got = recvmmsg(wait->poll[1 + position].fd, &engine->msg.hdr[batch->n], room, flags, timed ? &timeout : NULL);

	batch->calls++;
	if (got < 0)
		return errno == EAGAIN ? drain_empty(engine, batch) : -errno;
	mmsg_collect(&engine->msg, batch->n, batch->n + (unsigned)got, (uint16_t)wait->sock[position]);
	batch->n += (unsigned)got;
	/* Why the call ended early: the time-out argument, the pointer of the fault test, or an empty queue. */
	if (got == (int)room || timed || batch->n + 1 == conf->bad_ptr)
		return 1;
	if (wait->mode == ENGINE_WAIT_BLOCK && !conf->waitforone && !atomic_load_explicit(&wait->woken, memory_order_relaxed))
		batch->waited_ns = wait->timeout_ns;
	return 0;
}

#endif
