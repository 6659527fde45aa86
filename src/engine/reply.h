/* SPDX-License-Identifier: MIT */
/*
 * reply - answers of the socket engines: memory apart from the requests, sent by sendmmsg from the address that was asked.
 *
 * Sends are synchronous: when reply_send() returns, the memory is free again. Worker only.
 */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include "engine/engine.h"

/* Messages of one sendmmsg. More is possible, less memory is touched. */
#define REPLY_CHUNK 64

/* Room for one IP_PKTINFO or IPV6_PKTINFO. */
#define REPLY_CONTROL 64

struct reply_pool {
	struct reply *reply;    /* max of them */
	unsigned max;
	unsigned char *data;    /* size bytes, handed out from the start for each batch */
	size_t size, used;
	struct reply_chunk *chunk;
};

/* Room for an answer to each datagram of a batch, each as long as its request, plus one of any length. Allocates nothing when the
 * packets carry no source. On failure nothing is left allocated. */
int reply_open(struct reply_pool *pool, const struct engine_conf *conf, struct err *err);
void reply_close(struct reply_pool *pool);

/* The op reply_buf. */
struct reply *reply_add(struct reply_pool *pool, struct batch *batch, const struct packet *packet, uint32_t capacity);

/* The op send. *late: an error that was waiting in a socket for the next system call, whichever it is, and has nothing to do with the
 * answers; the caller reports it with the next batch. Untouched when there is none. */
int reply_send(struct reply_pool *pool, const struct sock_set *set, struct batch *batch, int *late);

#endif
