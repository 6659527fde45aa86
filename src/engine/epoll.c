/* SPDX-License-Identifier: MIT */
/*
 * epoll - epoll_wait(2) (level-triggered) for the sockets that have something, then recvmmsg(2) without blocking. The set of sockets is
 * open-ended. Blocking in the receive call is not what it does: block means poll here.
 */
#include "engine/drain.h"

static const struct slot_kind epoll_kind = { .epoll = true };

static int epoll_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, drain_mmsg);
}

static int epoll_probe(const struct engine_conf *conf, struct err *err)
{
	/* A private idle socket is never ready, so the call that drains it is tried by itself. */
	int rc = engine_recvmmsg.probe(conf, err);

	return rc ? rc : slot_probe(&engine_epoll, conf, err);
}

static int epoll_open(struct engine_run *run, const struct engine_slot *slot, struct engine **out, struct err *err)
{
	return slot_open_kind(run, slot, &epoll_kind, out, err);
}

const struct engine_ops engine_epoll = {
	.name = "epoll",
	.summary = "epoll_wait(2), then recvmmsg(2) without blocking; many sockets (--wait block means poll)",
	.label = "epoll",
	.caps = ENGINE_SRC | ENGINE_CMSG | ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_STAMP | ENGINE_GRO | ENGINE_REPLY |
		ENGINE_IOVEC | ENGINE_BATCH | ENGINE_MULTI,
	.probe = epoll_probe,
	.prepare = slot_prepare,
	.open = epoll_open,
	.add = slot_add,
	.recv = epoll_recv,
	.reply_buf = slot_reply_buf,
	.send = slot_send,
	.wake = slot_wake,
	.close = slot_close,
};
