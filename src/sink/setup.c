/* SPDX-License-Identifier: MIT */
#include "sink/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static int open_cpus(struct setup *s, struct err *err)
{
	const struct sink_conf *conf = s->conf;
	const char *list = conf->cpus;
	int rc = cpu_allowed(&s->allowed, err);

	if (rc)
		return rc;
	s->workers = conf->threads ? (unsigned)conf->threads : s->allowed.n;
	if (conf->place && strcmp(conf->place, "other-cpu") == 0 && s->allowed.n < 2)
		return err_say(err, EINVAL, "--place other-cpu: only one CPU is allowed to this process");
	if (conf->place && strcmp(conf->place, "same-cpu") && strcmp(conf->place, "other-cpu"))
		list = conf->place;
	if (list && cpu_parse(list, &s->allowed, &s->cpus, err))
		return conf->cpus ? err_prefix(err, "--cpus: ") :
				    err_prefix(err, "--place %s is neither same-cpu nor other-cpu; ", list);
	if (!list && !conf->threads) {
		char all[4096];

		return cpu_parse(cpu_format(&s->allowed, all, sizeof(all)), &s->allowed, &s->cpus, err);
	}
	return 0;
}

/* IPv6 wildcard takes IPv4 as well, unless it was told not to, or IPv4 has a listener of its own on that port. */
static enum sock_v6only v6only(const struct setup *s, const struct addr *a)
{
	bool any4 = false;

	for (unsigned i = 0; i < s->nlisten; i++)
		any4 |= s->listen[i].sa.sa_family == AF_INET && addr_port(a) == addr_port(&s->listen[i]);
	return s->conf->v6only || (any4 && addr_is_wildcard(a)) ? SOCK_V6ONLY_ON : SOCK_V6ONLY_OFF;
}

static int parse_listen(struct setup *s, struct err *err)
{
	const struct sink_conf *conf = s->conf;
	const char *fallback = conf->family == AF_INET6 ? "::" : "0.0.0.0";

	s->nlisten = conf->listen.n ? conf->listen.n : 1;
	s->listen = calloc(s->nlisten, sizeof(*s->listen));
	s->v6only = calloc(s->nlisten, sizeof(*s->v6only));
	if (!s->listen || !s->v6only)
		return err_sys(err, ENOMEM, "list of addresses");
	for (unsigned i = 0; i < s->nlisten; i++) {
		const char *text = conf->listen.n ? conf->listen.text[i] : fallback;

		if (addr_parse(text, AF_UNSPEC, (uint16_t)conf->port, &s->listen[i], err))
			return err_prefix(err, "--listen: ");
	}
	for (unsigned i = 0; i < s->nlisten; i++)
		s->v6only[i] = v6only(s, &s->listen[i]);
	return 0;
}

/* That they are multicast addresses; whether the interface is there shows when they are joined. */
static int check_groups(const struct sink_conf *conf, struct err *err)
{
	for (unsigned i = 0; i < conf->join.n; i++) {
		struct addr group;
		unsigned ifindex;

		if (sock_join_parse(conf->join.text[i], &group, &ifindex, err) == -EINVAL)
			return -EINVAL;
	}
	return 0;
}

static int parse_addresses(struct setup *s, struct err *err)
{
	const struct sink_conf *conf = s->conf;
	int rc = parse_listen(s, err);

	if (!rc)
		rc = check_groups(conf, err);
	if (rc)
		return rc;
	if (conf->check_sender && addr_parse(conf->check_sender, AF_UNSPEC, 0, &s->sender, err))
		return err_prefix(err, "--check-sender: ");
	if (!conf->connect || !strcmp(conf->connect, "first"))
		return 0;
	if (addr_parse(conf->connect, AF_UNSPEC, 0, &s->peer, err))
		return err_prefix(err, "--connect: ");
	return addr_port(&s->peer) ? 0 : err_say(err, EINVAL, "--connect=%s: the port is missing (ADDR:PORT)", conf->connect);
}

unsigned setup_want(const struct sink_conf *conf)
{
	unsigned want = 0;

	want |= conf->pktinfo || conf->by_destination || conf->connect_each ? CMSG_WANT_PKTINFO : 0;
	want |= conf->recv_ttl ? CMSG_WANT_TTL : 0;
	want |= conf->recv_tos ? CMSG_WANT_TOS : 0;
	want |= conf->rxq_ovfl ? CMSG_WANT_DROPS : 0;
	want |= conf->gro ? CMSG_WANT_GRO : 0;
	return want;
}

static int lay_out(struct setup *s, struct err *err)
{
	unsigned shared = s->conf->shared_socket;

	s->per_slot = s->nlisten;
	s->socks = calloc((size_t)s->workers * s->per_slot, sizeof(*s->socks));
	if (!s->socks)
		return err_sys(err, ENOMEM, "socket layout");
	for (unsigned w = 0; w < s->workers; w++)
		for (unsigned a = 0; a < s->per_slot; a++)
			s->socks[w * s->per_slot + a] = shared ? a : w * s->per_slot + a;
	return 0;
}

static int open_sockets(struct setup *s, struct err *err)
{
	const struct sink_conf *conf = s->conf;
	struct sockset_conf sc = {
		.sock = { .want = s->want, .lite = conf->lite, .rcvbuf = conf->rcvbuf, .device = conf->bind_dev,
			  .rcvbuf_strict = conf->rcvbuf_strict, .tos = -1, .ttl = -1,
			  .busy_poll_us = (unsigned)(conf->busy_poll / NSEC_PER_USEC) },
		.v6only = s->v6only,
		.listen = s->listen, .nlisten = s->nlisten, .slots = s->workers,
		.shared = conf->shared_socket, .join = conf->reuse_port, .steer_cpu = conf->use_bpf,
		.group = !conf->reuse_port && !conf->shared_socket && (s->workers > 1 || conf->connect_each),
		.reserve = conf->connect_each ? s->workers * (unsigned)conf->max_flows : 0,
		.groups = conf->join.text, .ngroups = conf->join.n,
	};
	int rc = sockset_open(&s->set, &sc, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < s->set.n; i++)
		s->dual |= s->set.sock[i].dual;
	s->others = conf->reuse_port ? sockset_others(&s->set, &s->set.sock[0].local) : 0;
	return lay_out(s, err);
}

/* The only engine named uses none. */
static bool without_sockets(const struct sink_conf *conf)
{
	const struct engine_ops *ops = conf->engines.n == 1 ? engine_find(conf->engines.text[0]) : NULL;

	return ops && ops->caps & ENGINE_NO_SOCKET;
}

int setup_plan(struct setup *s, const struct sink_conf *conf, struct err *err)
{
	int rc;

	*s = (struct setup){ .conf = conf, .want = setup_want(conf) };
	rc = open_cpus(s, err);
	if (!rc)
		rc = parse_addresses(s, err);
	if (!rc && conf->connect && !s->peer.len && (s->workers > 1 || s->nlisten > 1) && !conf->shared_socket)
		rc = err_say(err, EINVAL, "--connect without an address waits for the first sender of one socket: "
					  "give the address, or use one --listen and --threads 1 (or --shared-socket)");
	if (rc)
		setup_close(s);
	return rc;
}

int setup_open(struct setup *s, struct err *err)
{
	int rc = without_sockets(s->conf) ? 0 : open_sockets(s, err);

	if (!rc && s->peer.len)
		rc = setup_connect(s, &s->peer, err);
	return rc;
}

void setup_slot(const struct setup *s, unsigned i, struct engine_slot *slot)
{
	*slot = (struct engine_slot){
		.index = i,
		.cpu = s->cpus.n ? s->cpus.cpu[i % s->cpus.n] : -1,
		.socks = s->socks + (size_t)i * s->per_slot,
		.nsocks = s->per_slot,
		.max_socks = s->per_slot + (s->conf->connect_each ? (unsigned)s->conf->max_flows : 0),
	};
}

int setup_connect(struct setup *s, const struct addr *peer, struct err *err)
{
	for (unsigned i = 0; i < s->set.n; i++) {
		struct sock_drained d = { 0 };
		int rc = sock_connect(&s->set.sock[i], peer, err);

		if (!rc && sock_drain(&s->set.sock[i], &d))
			rc = err_say(err, EIO, "connected socket: cannot drain what was queued before connect(2)");
		if (rc)
			return rc;
		s->drained.peer += d.peer;
		s->drained.foreign += d.foreign;
	}
	return 0;
}

int setup_first_sender(const struct setup *s, struct addr *out)
{
	out->len = sizeof(out->ss);
	if (recvfrom(s->set.sock[0].fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT, &out->sa, &out->len) < 0)
		return -errno;
	return 0;
}

void setup_close(struct setup *s)
{
	if (s->set.sock)
		sockset_close(&s->set);
	free(s->socks);
	free(s->listen);
	free(s->v6only);
	cpu_list_free(&s->cpus);
	cpu_list_free(&s->allowed);
	*s = (struct setup){ .conf = s->conf };
}
