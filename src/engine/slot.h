/* SPDX-License-Identifier: MIT */
/*
 * slot - what all socket engines have in common: their memory, their sockets, and every op except recv.
 *
 * A socket engine is a table that points here, plus its own receive call (see drain.h and oneshot.h).
 */
#ifndef ENGINE_SLOT_H
#define ENGINE_SLOT_H

#include "engine/engine.h"
#include "engine/mmsg.h"
#include "engine/reply.h"
#include "engine/wait.h"

/* How an engine may differ from the others before it receives. All zero: not at all. */
struct slot_kind {
	bool epoll;             /* waits by epoll */
	bool nonblock;          /* its call has no flags: O_NONBLOCK on the sockets unless it blocks */
	unsigned extra;         /* bytes received beyond buffer_size, see mmsg_open */
};

struct engine {
	const struct engine_conf *conf;
	struct sock_set *set;
	struct wait wait;
	struct mmsg msg;
	struct reply_pool reply;
	const struct slot_kind *kind;
	int late;               /* errno that a send met and that belongs to the next batch */
};

/* For the op probe: opens the engine on a private socket, receives nothing with it, and closes it. */
int slot_probe(const struct engine_ops *ops, const struct engine_conf *conf, struct err *err);

/* The ops prepare, open and add. */
int slot_prepare(struct engine_run *run, struct err *err);
int slot_open(struct engine_run *run, const struct engine_slot *slot, struct engine **out, struct err *err);
int slot_add(struct engine *engine, unsigned sock);

/* The same for an engine that differs. kind must live as long as the engine. */
int slot_prepare_kind(struct engine_run *run, const struct slot_kind *kind, struct err *err);
int slot_open_kind(struct engine_run *run, const struct engine_slot *slot, const struct slot_kind *kind, struct engine **out,
		   struct err *err);

/* The other ops. */
struct reply *slot_reply_buf(struct engine *engine, struct batch *batch, const struct packet *packet, uint32_t capacity);
int slot_send(struct engine *engine, struct batch *batch);
void slot_wake(struct engine *engine);
void slot_close(struct engine *engine);

#endif
