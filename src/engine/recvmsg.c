/* SPDX-License-Identifier: MIT */
/*
 * recvmsg - recvmsg(2): name and control data where they were asked for.
 */
#include "engine/oneshot.h"

static ALWAYS_INLINE ssize_t recvmsg_call(struct mmsg *mmsg, unsigned i, int fd, int flags, uint16_t sock)
{
	ssize_t len = recvmsg(fd, &mmsg->hdr[i].msg_hdr, flags | MSG_TRUNC);

	if (len >= 0) {
		mmsg->hdr[i].msg_len = (unsigned)len;
		mmsg_collect(mmsg, i, i + 1, sock);
	}
	return len;
}

static int recvmsg_fill(struct engine *engine, struct batch *batch, unsigned position, int flags)
{
	return oneshot_fill(engine, batch, position, flags, recvmsg_call);
}

static int recvmsg_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, recvmsg_fill);
}

static int recvmsg_probe(const struct engine_conf *conf, struct err *err)
{
	return slot_probe(&engine_recvmsg, conf, err);
}

const struct engine_ops engine_recvmsg = {
	.name = "recvmsg",
	.summary = "recvmsg(2): one datagram per call, source address and control data where asked",
	.label = "recvmsg",
	.caps = ENGINE_SRC | ENGINE_CMSG | ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_STAMP | ENGINE_GRO | ENGINE_REPLY |
		ENGINE_IOVEC | ENGINE_CLASSIC,
	.probe = recvmsg_probe,
	.prepare = slot_prepare,
	.open = slot_open,
	.add = slot_add,
	.recv = recvmsg_recv,
	.reply_buf = slot_reply_buf,
	.send = slot_send,
	.wake = slot_wake,
	.close = slot_close,
};
