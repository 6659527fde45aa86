/* SPDX-License-Identifier: MIT */
/*
 * oneshot - the batch of the engines whose call brings one datagram: read, recv, recvfrom, recvmsg.
 *
 * Under block a batch is one call, so that no packet waits unpublished for the next one. Otherwise the call is repeated
 * until the batch is full or the socket is empty. Worker only.
 */
#ifndef ENGINE_ONESHOT_H
#define ENGINE_ONESHOT_H

#include "engine/drain.h"

/* Receives packet i from fd and, when that succeeds, completes it. Returns what the system call returned, errno set. */
typedef ssize_t oneshot_call(struct mmsg *mmsg, unsigned i, int fd, int flags, uint16_t sock);

static ALWAYS_INLINE int oneshot_fill(struct engine *engine, struct batch *batch, unsigned position, int flags, oneshot_call *call)
{
	const int fd = engine->wait.poll[1 + position].fd;
	const uint16_t sock = (uint16_t)engine->wait.sock[position];

	do {
		ssize_t len = call(&engine->msg, batch->n, fd, flags, sock);

		batch->calls++;
		if (len < 0)
			return errno == EAGAIN ? drain_empty(engine, batch) : -errno;
		batch->n++;
	} while (flags && batch->n < batch->limit && batch->calls <= batch->limit);
	return 1;
}

#endif
