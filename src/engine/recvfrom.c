/* SPDX-License-Identifier: MIT */
/*
 * recvfrom - recvfrom(2). The kernel always writes the source address, whether a handler reads it or not: that is what the
 * name says, and what it costs.
 */
#include "engine/oneshot.h"

static ALWAYS_INLINE ssize_t recvfrom_call(struct mmsg *mmsg, unsigned i, int fd, int flags, uint16_t sock)
{
	struct addr *name = &mmsg->name[i];

	name->len = sizeof(name->ss);

	ssize_t len = recvfrom(fd, mmsg->iov[i].iov_base, mmsg->iov[i].iov_len, flags | MSG_TRUNC, &name->sa, &name->len);

	if (len >= 0)
		mmsg_plain(mmsg, i, (uint32_t)len, sock);
	return len;
}

static int recvfrom_fill(struct engine *engine, struct batch *batch, unsigned position, int flags)
{
	return oneshot_fill(engine, batch, position, flags, recvfrom_call);
}

static int recvfrom_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, recvfrom_fill);
}

static int recvfrom_probe(const struct engine_conf *conf, struct err *err)
{
	return slot_probe(&engine_recvfrom, conf, err);
}

const struct engine_ops engine_recvfrom = {
	.name = "recvfrom",
	.summary = "recvfrom(2): one datagram per call, real length, source address",
	.label = "recvfrom",
	.caps = ENGINE_SRC | ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_REPLY | ENGINE_CLASSIC,
	.probe = recvfrom_probe,
	.prepare = slot_prepare,
	.open = slot_open,
	.add = slot_add,
	.recv = recvfrom_recv,
	.reply_buf = slot_reply_buf,
	.send = slot_send,
	.wake = slot_wake,
	.close = slot_close,
};
