/* SPDX-License-Identifier: MIT */
/*
 * recv - recv(2). With MSG_TRUNC in its flags the call returns the real length of a datagram, which read(2) cannot.
 */
#include "engine/oneshot.h"

static ALWAYS_INLINE ssize_t recv_call(struct mmsg *mmsg, unsigned i, int fd, int flags, uint16_t sock)
{
	ssize_t len = recv(fd, mmsg->iov[i].iov_base, mmsg->iov[i].iov_len, flags | MSG_TRUNC);

	if (len >= 0)
		mmsg_plain(mmsg, i, (uint32_t)len, sock);
	return len;
}

static int recv_fill(struct engine *engine, struct batch *batch, unsigned position, int flags)
{
	return oneshot_fill(engine, batch, position, flags, recv_call);
}

static int recv_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, recv_fill);
}

static int recv_probe(const struct engine_conf *conf, struct err *err)
{
	return slot_probe(&engine_recv, conf, err);
}

const struct engine_ops engine_recv = {
	.name = "recv",
	.summary = "recv(2): one datagram per call, real length, no address, no control data",
	.label = "recv",
	.caps = ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_CLASSIC,
	.probe = recv_probe,
	.prepare = slot_prepare,
	.open = slot_open,
	.add = slot_add,
	.recv = recv_recv,
	.wake = slot_wake,
	.close = slot_close,
};
