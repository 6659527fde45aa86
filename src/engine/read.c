/* SPDX-License-Identifier: MIT */
/*
 * read - read(2): the plainest call, which knows nothing but how many bytes were stored. A buffer one byte larger than asked shows that a
 * datagram was cut, not how long it was.
 */
#include "engine/oneshot.h"

static const struct slot_kind read_kind = { .nonblock = true, .extra = 1 };

static ALWAYS_INLINE ssize_t read_call(struct mmsg *mmsg, unsigned i, int fd, int flags UNUSED, uint16_t sock)
{
	ssize_t len = read(fd, mmsg->iov[i].iov_base, mmsg->iov[i].iov_len);

	if (len >= 0) {
		mmsg_plain(mmsg, i, (uint32_t)len, sock);
		mmsg->packet[i].wire_len = mmsg->packet[i].len; /* the byte more is no length of anything */
	}
	return len;
}

static int read_fill(struct engine *engine, struct batch *batch, unsigned position, int flags)
{
	return oneshot_fill(engine, batch, position, flags, read_call);
}

static int read_recv(struct engine *engine, struct batch *batch)
{
	return drain_recv(engine, batch, read_fill);
}

static int read_prepare(struct engine_run *run, struct err *err)
{
	return slot_prepare_kind(run, &read_kind, err);
}

static int read_open(struct engine_run *run, const struct engine_slot *slot, struct engine **out, struct err *err)
{
	return slot_open_kind(run, slot, &read_kind, out, err);
}

static int read_probe(const struct engine_conf *conf, struct err *err)
{
	return slot_probe(&engine_read, conf, err);
}

const struct engine_ops engine_read = {
	.name = "read",
	.summary = "read(2): one datagram per call, no address, no control data",
	.label = "read",
	.caps = ENGINE_TRUNC | ENGINE_CLASSIC,
	.probe = read_probe,
	.prepare = read_prepare,
	.open = read_open,
	.add = slot_add,
	.recv = read_recv,
	.wake = slot_wake,
	.close = slot_close,
};
