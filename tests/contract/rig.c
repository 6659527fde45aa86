/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

void rig_cell(struct rig *rig, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(rig->cell, sizeof(rig->cell), format, args);
	va_end(args);
}

const char *rig_wait_name(enum engine_wait wait)
{
	return (const char *const[]){ "block", "poll", "spin" }[wait];
}

void rig_init(struct rig *rig, const struct engine_ops *ops, enum engine_wait wait, unsigned batch, size_t buffer)
{
	*rig = (struct rig){ .ops = ops };
	rig->conf = (struct engine_conf){
		.batch = batch,
		.buffer_size = buffer,
		.nr_iovec = 1,
		.wait = wait,
		.sk_timeout_ns = 10 * NSEC_PER_MSEC,
		.mmsg_timeout_ns = -1,
		.need_src = ops->caps & ENGINE_SRC,
	};
	rig->set = (struct sock_set){ .sock = rig->sock, .capacity = RIG_SOCKS };
	rig->run = (struct engine_run){ .conf = &rig->conf, .set = &rig->set };
	rig_cell(rig, "%s %s batch %u", ops->name, rig_wait_name(wait), batch);
	rig_hurry(rig);
}

struct sock *rig_socket(struct rig *rig, const char *text, unsigned want)
{
	const struct sock_conf conf = { .want = want, .v6only = SOCK_V6ONLY_OFF, .rcvbuf = 212992, .tos = -1, .ttl = -1 };
	unsigned n = atomic_load(&rig->set.n);
	struct err err = ERR_INIT;
	struct addr local;

	CHECK(rig, n < RIG_SOCKS);
	if (addr_parse(text, AF_UNSPEC, 0, &local, &err) < 0 || sock_open(&rig->sock[n], &local, &conf, &err) < 0)
		fail_msg("[%s] %s", rig->cell, err.text);
	if (want && rig->ops->caps & ENGINE_CMSG) {
		rig->conf.control_size = (unsigned)cmsg_space(want, rig->sock[n].family, rig->sock[n].dual);
		rig->conf.parse = want;
		rig->conf.gro = want & CMSG_WANT_GRO;
	}
	rig->index[n] = n;
	atomic_store(&rig->set.n, n + 1);
	return &rig->sock[n];
}

void rig_start(struct rig *rig, unsigned nsocks)
{
	const struct engine_slot slot = { .cpu = -1, .socks = rig->index, .nsocks = nsocks, .max_socks = RIG_SOCKS };
	struct err err = ERR_INIT;

	if ((rig->ops->prepare && rig->ops->prepare(&rig->run, &err) < 0) ||
	    rig->ops->open(&rig->run, &slot, &rig->engine, &err) < 0)
		fail_msg("[%s] %s", rig->cell, err.text);
}

int rig_recv(struct rig *rig, unsigned limit)
{
	struct batch *b = &rig->batch;
	int rc;

	/* What recv has to overwrite. */
	memset(b, 0xa5, sizeof(*b));
	b->limit = limit;
	rc = rig->ops->recv(rig->engine, b);
	if (rc < 0)
		return rc;
	CHECK_EQUAL(rig, rc, b->n);
	CHECK(rig, b->n <= limit);
	CHECK_EQUAL(rig, b->nreplies, 0);
	CHECK(rig, b->event >= 0 && b->event < 4096);
	CHECK(rig, b->empty_polls <= b->calls);
	CHECK(rig, !b->n || b->drained == true || b->drained == false);
	if (b->n && rig->conf.wait != ENGINE_WAIT_SPIN)
		CHECK(rig, b->calls <= limit + 1 + atomic_load(&rig->set.n));
	if (!(rig->ops->caps & (ENGINE_BATCH | ENGINE_NO_SOCKET)))
		CHECK(rig, b->calls >= b->n);
	if (rig->conf.wait == ENGINE_WAIT_BLOCK && !(rig->ops->caps & ENGINE_MULTI))
		CHECK(rig, b->calls <= 1);
	return rc;
}

void rig_stop(struct rig *rig)
{
	if (rig->ops->release)
		rig->ops->release(rig->engine, &rig->batch);
	if (rig->ops->quiesce)
		rig->ops->quiesce(&rig->run);
	rig->ops->close(rig->engine);
	if (rig->ops->teardown)
		rig->ops->teardown(&rig->run);
	for (unsigned i = 0; i < atomic_load(&rig->set.n); i++)
		sock_close(&rig->sock[i]);
}

void rig_hurry(struct rig *rig)
{
	rig->deadline = clock_mono() + RIG_PATIENCE_NS;
}

bool rig_waiting(const struct rig *rig)
{
	return clock_mono() < rig->deadline;
}

struct addr rig_name(int fd)
{
	struct addr name = { .len = sizeof(name.ss) };

	if (getsockname(fd, &name.sa, &name.len) < 0)
		fail_msg("getsockname: %s", strerror(errno));
	return name;
}

static void set_int(struct rig *rig, int fd, int level, int option, int value)
{
	if (value)
		CHECK_EQUAL(rig, setsockopt(fd, level, option, &value, sizeof(value)), 0);
}

int rig_sender(struct rig *rig, const char *host, const struct sock *to, int ttl, int tos)
{
	struct err err = ERR_INIT;
	struct addr peer;

	if (addr_parse(host, AF_UNSPEC, addr_port(&to->local), &peer, &err) < 0)
		fail_msg("[%s] %s", rig->cell, err.text);

	bool v6 = peer.sa.sa_family == AF_INET6;
	int fd = socket(peer.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(rig, fd >= 0);
	set_int(rig, fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_UNICAST_HOPS : IP_TTL, ttl);
	set_int(rig, fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, tos);
	CHECK_EQUAL(rig, connect(fd, &peer.sa, peer.len), 0);
	return fd;
}

void rig_send(struct rig *rig, int fd, size_t size, unsigned key)
{
	static unsigned char payload[65536];

	for (size_t i = 0; i < size; i++)
		payload[i] = rig_byte(key, i);
	CHECK_EQUAL(rig, send(fd, payload, size, 0), size);
}

bool rig_payload(const unsigned char *data, size_t len, unsigned key, size_t from)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != rig_byte(key, from + i))
			return false;
	return true;
}

static void add_one(struct rig_suite *suite, const char *name, CMUnitTestFunction function, const struct rig_case *values,
		    const char *variant)
{
	struct rig_case *c = malloc(sizeof(*c));
	char *text;

	if (!c || suite->n == ARRAY_SIZE(suite->test) ||
	    asprintf(&text, "%s: %s %s%s%s", name, values->ops->name, rig_wait_name(values->wait), *variant ? " " : "", variant) < 0)
		abort();
	*c = *values;
	suite->test[suite->n] = (struct CMUnitTest){ .name = text, .test_func = function, .initial_state = c };
	suite->cases[suite->n++] = c;
}

void rig_add_waits(struct rig_suite *suite, const char *name, CMUnitTestFunction function, unsigned caps,
		   const char *const *variants, enum engine_wait first, enum engine_wait last)
{
	static const char *const none[] = { "", NULL };

	if (!variants)
		variants = none;
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		if ((*ops)->caps & ENGINE_NO_SOCKET || ((*ops)->caps & caps) != caps)
			continue;
		for (enum engine_wait wait = first; wait <= last; wait++)
			for (int v = 0; variants[v]; v++)
				add_one(suite, name, function, &(struct rig_case){ *ops, wait, v }, variants[v]);
	}
}

void rig_add(struct rig_suite *suite, const char *name, CMUnitTestFunction function, unsigned caps, const char *const *variants)
{
	rig_add_waits(suite, name, function, caps, variants, ENGINE_WAIT_BLOCK, ENGINE_WAIT_SPIN);
}

int rig_run(struct rig_suite *suite, const char *group, int argc, char **argv)
{
	struct err err = ERR_INIT;
	int failed;

	if (engine_init(&err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 99;
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = _cmocka_run_group_tests(group, suite->test, suite->n, NULL, NULL);
	for (size_t i = 0; i < suite->n; i++) {
		free((void *)(uintptr_t)suite->test[i].name);
		free(suite->cases[i]);
	}
	return failed ? 1 : 0;
}
