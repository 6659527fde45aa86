/* SPDX-License-Identifier: MIT */
#include "engine/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static const struct slot_kind plain = { 0 };

/* Blocking or not, and for how long. Set in both directions, because the sockets may come from another engine or another program. */
static int arm_socket(const struct engine_conf *conf, const struct slot_kind *kind, int fd)
{
	int rc = sock_set_nonblock(fd, kind->nonblock && conf->wait != ENGINE_WAIT_BLOCK);

	if (!rc && conf->wait == ENGINE_WAIT_BLOCK)
		rc = sock_set_timeout(fd, wait_timeout(conf));
	return rc;
}

int slot_prepare_kind(struct engine_run *run, const struct slot_kind *kind, struct err *err)
{
	unsigned n = atomic_load_explicit(&run->set->n, memory_order_acquire);

	for (unsigned i = 0; i < n; i++) {
		char text[ADDR_TEXT];
		int rc = arm_socket(run->conf, kind, run->set->sock[i].fd);

		if (rc < 0)
			return err_sys(err, rc, "setting the receive time-out of %s",
				       addr_format(&run->set->sock[i].local, text, sizeof(text)));
	}
	return 0;
}

int slot_open_kind(struct engine_run *run, const struct engine_slot *slot, const struct slot_kind *kind, struct engine **out,
		   struct err *err)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	*out = NULL;
	if (!engine)
		return err_sys(err, ENOMEM, "memory for an engine");
	engine->conf = run->conf;
	engine->set = run->set;
	engine->kind = kind;

	int rc = wait_open(&engine->wait, run, slot, kind->epoll, err);

	if (!rc)
		rc = mmsg_open(&engine->msg, run->conf, kind->extra, err);
	if (!rc)
		rc = reply_open(&engine->reply, run->conf, err);
	if (rc < 0) {
		slot_close(engine);
		return rc;
	}
	*out = engine;
	return 0;
}

int slot_prepare(struct engine_run *run, struct err *err)
{
	return slot_prepare_kind(run, &plain, err);
}

int slot_open(struct engine_run *run, const struct engine_slot *slot, struct engine **out, struct err *err)
{
	return slot_open_kind(run, slot, &plain, out, err);
}

int slot_add(struct engine *engine, unsigned sock)
{
	int rc = arm_socket(engine->conf, engine->kind, engine->set->sock[sock].fd);

	return rc < 0 ? rc : wait_add(&engine->wait, engine->set, sock);
}

struct reply *slot_reply_buf(struct engine *engine, struct batch *batch, const struct packet *packet, uint32_t capacity)
{
	return reply_add(&engine->reply, batch, packet, capacity);
}

int slot_send(struct engine *engine, struct batch *batch)
{
	return reply_send(&engine->reply, engine->set, batch, &engine->late);
}

void slot_wake(struct engine *engine)
{
	wait_wake(&engine->wait);
}

void slot_close(struct engine *engine)
{
	if (!engine)
		return;
	reply_close(&engine->reply);
	mmsg_close(&engine->msg);
	wait_close(&engine->wait);
	free(engine);
}

/* One idle recv of the engine on this socket. */
static int try_recv(const struct engine_ops *ops, struct engine_run *run, struct err *err)
{
	const unsigned first = 0;
	const struct engine_slot slot = { .cpu = -1, .socks = &first, .nsocks = 1, .max_socks = 1 };
	struct batch batch = { .limit = 1 };
	struct engine *engine;
	int rc = ops->prepare(run, err);

	if (!rc)
		rc = ops->open(run, &slot, &engine, err);
	if (rc < 0)
		return rc;
	rc = ops->recv(engine, &batch);
	ops->close(engine);
	if (rc >= 0 && !batch.event)
		return 0;
	return err_sys(err, rc < 0 ? rc : batch.event, "engine %s: its receive call is refused here (a sandbox?)", ops->name);
}

int slot_probe(const struct engine_ops *ops, const struct engine_conf *conf, struct err *err)
{
	/* Small, and never asleep: only the calls are of interest. */
	struct engine_conf trial = *conf;
	struct sock sock = SOCK_INIT;
	struct sock_set set = { .sock = &sock, .capacity = 1, .n = 1 };
	struct engine_run run = { .conf = &trial, .set = &set };

	trial.batch = 1;
	trial.wait = ENGINE_WAIT_SPIN;
	trial.bad_ptr = 0;
	sock.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock.fd < 0)
		sock.fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock.fd < 0)
		return err_sys(err, errno, "engine %s: no UDP socket", ops->name);

	int rc = try_recv(ops, &run, err);

	util_close(&sock.fd);
	return rc;
}
