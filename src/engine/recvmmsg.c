/* SPDX-License-Identifier: MIT */
/*
 * recvmmsg - recvmmsg(2): up to a batch of datagrams per call.
 *
 * Under block without waitforone the call waits until the batch is full. It comes back with less when no datagram came for the
 * socket time-out, or when wake() interrupts it; the call's own time-out argument is looked at by the kernel only after a
 * datagram, so an idle socket would outlast it. An error in the middle of a batch is kept by the kernel for the socket's
 * next call (net/socket.c, do_recvmmsg): the packets before it arrive first, and the event is reported once, by the next recv.
 */
#include "engine/drain.h"

static int recvmmsg_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, drain_mmsg);
}

static int recvmmsg_probe(const struct engine_conf *conf, struct err *err)
{
	return slot_probe(&engine_recvmmsg, conf, err);
}

const struct engine_ops engine_recvmmsg = {
	.name = "recvmmsg",
	.summary = "recvmmsg(2): up to a batch of datagrams per call",
	.label = "recvMmsg",
	.caps = ENGINE_SRC | ENGINE_CMSG | ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_STAMP | ENGINE_GRO | ENGINE_REPLY |
		ENGINE_IOVEC | ENGINE_BATCH | ENGINE_CLASSIC,
	.probe = recvmmsg_probe,
	.prepare = slot_prepare,
	.open = slot_open,
	.add = slot_add,
	.recv = recvmmsg_recv,
	.reply_buf = slot_reply_buf,
	.send = slot_send,
	.wake = slot_wake,
	.close = slot_close,
};
