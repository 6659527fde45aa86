/* SPDX-License-Identifier: MIT */
/*
 * null - no kernel at all: the same synthetic packets again and again. What a run with it costs is the cost of the tool itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "engine/table.h"

/* After null_limit: a nap, so that the worker that waits for its end does not spin. Shorter than any wake has to be. */
#define NAP_NS NSEC_PER_MSEC

struct engine {
	uint64_t left;           /* packets still to be made up */
	struct packet *packet;   /* conf.batch of them, all the same */
	unsigned char data[UINT16_MAX];
};

static int null_probe(const struct engine_conf *conf, struct err *err)
{
	if (conf->work_payload > conf->buffer_size)
		return err_say(err, EINVAL, "engine null: a payload of %u bytes does not fit into --buffer-size %zu",
			       conf->work_payload, conf->buffer_size);
	if (conf->bad_ptr)
		return err_say(err, EOPNOTSUPP, "engine null: makes no system call that could meet a bad pointer");
	return 0;
}

static void null_close(struct engine *engine)
{
	if (engine)
		free(engine->packet);
	free(engine);
}

static int null_open(struct engine_run *run, const struct engine_slot *slot UNUSED, struct engine **out, struct err *err)
{
	const struct engine_conf *conf = run->conf;
	struct engine *engine = calloc(1, sizeof(*engine));

	*out = NULL;
	if (engine)
		engine->packet = calloc(conf->batch, sizeof(*engine->packet));
	if (!engine || !engine->packet) {
		null_close(engine);
		return err_sys(err, ENOMEM, "memory for the null engine");
	}
	engine->left = conf->null_limit ? conf->null_limit : UINT64_MAX;
	for (unsigned i = 0; i < conf->batch; i++)
		engine->packet[i] = (struct packet){
			.data = conf->no_copy ? NULL : engine->data,
			.len = conf->no_copy ? 0 : conf->work_payload,
			.wire_len = conf->work_payload,
			.flags = conf->no_copy && conf->work_payload ? PACKET_TRUNC : 0,
		};
	*out = engine;
	return 0;
}

static int null_recv(struct engine *engine, struct batch *batch)
{
	const struct timespec nap = { .tv_nsec = (long)NAP_NS };
	unsigned n = engine->left < batch->limit ? (unsigned)engine->left : batch->limit;

	*batch = (struct batch){ .limit = batch->limit, .packets = engine->packet, .n = n };
	engine->left -= n;
	if (n)
		return (int)n;
	batch->drained = true;
	if (!nanosleep(&nap, NULL))
		batch->waited_ns = NAP_NS;
	return 0;
}

/* Nothing to wake: recv never waits for longer than its nap. */
static void null_wake(struct engine *engine UNUSED)
{
}

const struct engine_ops engine_null = {
	.name = "null",
	.summary = "no kernel: synthetic packets, to measure the tool itself",
	.label = "null",
	.caps = ENGINE_TRUNC | ENGINE_WIRE_LEN | ENGINE_MULTI | ENGINE_BATCH | ENGINE_NO_SOCKET,
	.probe = null_probe,
	.open = null_open,
	.recv = null_recv,
	.wake = null_wake,
	.close = null_close,
};
