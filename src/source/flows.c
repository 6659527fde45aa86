/* SPDX-License-Identifier: MIT */
#include "source/flows.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/route.h"
#include "source/tx.h"

/* Descriptors beside the flows: standard streams, files read at the end. */
#define SPARE_DESCRIPTORS 32

/* A send blocked on a full buffer returns after this time (EAGAIN) to look for a stop. */
#define SEND_TIMEOUT_NS (50 * NSEC_PER_MSEC)

static int raise_limit(unsigned flows, struct err *err)
{
	struct rlimit limit;
	rlim_t need = flows + SPARE_DESCRIPTORS;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = need;
	if (limit.rlim_max < need)
		limit.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return err_sys(err, errno, "--flows %u needs %llu descriptors (ulimit -n)", flows,
			       (unsigned long long)need);
	return 0;
}

static int set_option(int fd, int level, int name, const char *option, int value, struct err *err)
{
	return setsockopt(fd, level, name, &value, sizeof(value))
		       ? err_sys(err, errno, "--%s %d", option, value)
		       : 0;
}

/* Options that struct sock_conf does not have, for the family of the packets and, on a mapped destination, of
 * the socket. */
static int set_options(int fd, const struct source_conf *conf, struct err *err)
{
	bool v4 = addr_packet_family(&conf->dst) == AF_INET,
	     v6 = conf->dst.sa.sa_family == AF_INET6;
	bool hops = conf->ttl >= 0 && addr_is_multicast(&conf->dst);
	struct timeval timeout = { .tv_usec = SEND_TIMEOUT_NS / NSEC_PER_USEC };
	int ret = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)))
		return err_sys(err, errno, "SO_SNDTIMEO");
	if (opt_given(&conf->set, "mark"))
		ret = set_option(fd, SOL_SOCKET, SO_MARK, "mark", (int)conf->mark, err);
	if (!ret && conf->priority >= 0)
		ret = set_option(fd, SOL_SOCKET, SO_PRIORITY, "priority", conf->priority, err);
	if (v4 && !ret && conf->pmtu >= 0)
		ret = set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, "pmtu", conf->pmtu, err);
	if (v6 && !ret && conf->pmtu >= 0)
		ret = set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, "pmtu", conf->pmtu, err);
	if (v4 && !ret && hops)
		ret = set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, "ttl", conf->ttl, err);
	if (v6 && !ret && hops)
		ret = set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, "ttl", conf->ttl, err);
	return ret;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The wildcard of the destination's family. */
static void any_source(const struct source_conf *conf, struct addr *out)
{
	*out = (struct addr){ .len = conf->dst.len };
	out->sa.sa_family = conf->dst.sa.sa_family;
}

/* Where flow `index` comes from: address i % addresses, port i % ports, one further each time that both begin anew together, so that all pairs are used
 * before one comes again. Port 0 and the wildcard stand for the kernel's choice. */
static void source_of(const struct source_conf *conf, unsigned index, struct addr *out)
{
	uint64_t addresses = MAX(MIN(conf->src.n, 65536), 1), ports = conf->src_ports.n;

	if (conf->src.n)
		range_at(&conf->src, index % addresses, out);
	else
		any_source(conf, out);
	if (ports)
		addr_set_port(out, (uint16_t)(conf->src_ports.first +
					      (index + index / (addresses / common_divisor(addresses, ports) * ports)) % ports));
}

/* from: what to bind to; its family only for a raw socket. */
static int open_socket(struct sock *sock, const struct addr *from, bool raw, const struct source_conf *conf, struct err *err)
{
	/* An IPv6 socket takes a mapped destination only when it is a dual one; sock_open then sets TOS and TTL
	 * for both families. */
	const struct sock_conf want = {
		.raw = raw,
		.lite = conf->lite,
		.v6only = addr_is_mapped(&conf->dst) ? SOCK_V6ONLY_OFF : SOCK_V6ONLY_ON,
		.sndbuf = conf->sndbuf,
		.device = conf->device,
		.tos = conf->tos,
		.ttl = conf->ttl,
	};
	int ret = sock_open(sock, from, &want, err);

	if (ret == -EADDRNOTAVAIL)
		err_hint(err, "; --sender raw sends from any");
	return ret ? ret : set_options(sock->fd, conf, err);
}

/* Packets that a device's queue refuses are an error then, not only a counter of the kernel (ip(7), IP_RECVERR: ENOBUFS). */
static int report_errors(const struct sock *sock, struct err *err)
{
	int one = 1;
	bool v4 = sock->family == AF_INET;

	if (setsockopt(sock->fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_RECVERR : IPV6_RECVERR, &one, sizeof(one)))
		return err_sys(err, errno, "%s", v4 ? "IP_RECVERR" : "IPV6_RECVERR");
	return 0;
}

/* host: the source address that the kernel would choose. */
static int open_raw(struct flow *flow, struct addr *from, const struct addr *host, const struct source_conf *conf, struct err *err)
{
	struct addr none = { .len = 0 };
	int ret;

	none.sa.sa_family = from->sa.sa_family;
	ret = open_socket(&flow->sock, &none, true, conf, err);
	if (!ret)
		ret = report_errors(&flow->sock, err);
	flow->sock.local = addr_is_wildcard(from) ? *host : *from;
	addr_set_port(&flow->sock.local, addr_port(from));
	return ret;
}

/* Under --spread a port that is in use is passed over for the next that fits. */
static int open_flow(struct flows *flows, unsigned index, const struct addr *host, const struct source_conf *conf, struct err *err)
{
	struct flow *flow = &flows->flow[index];
	bool chosen = conf->spread.kind != SPREAD_NONE;
	struct addr from;
	int ret;

	source_of(conf, index, &from);
	do {
		ret = chosen ? spread_port(&flows->spread, index, &from, err) : 0;
		if (!ret && conf->sender == TX_RAW)
			ret = open_raw(flow, &from, host, conf, err);
		else if (!ret)
			ret = open_socket(&flow->sock, &from, false, conf, err);
	} while (chosen && ret == -EADDRINUSE);
	if (chosen && !ret)
		spread_placed(&flows->spread, &from);
	if (!ret && conf->recverr && conf->sender != TX_RAW)
		ret = report_errors(&flow->sock, err);
	if (!ret && !conf->addressed)
		ret = sock_connect(&flow->sock, &conf->dst, err);
	if (ret)
		return ret;
	flow->fd = flow->sock.fd;
	flow->stream = (uint16_t)index;
	return 0;
}

unsigned flows_fragments(int family, unsigned mtu, uint64_t payload, unsigned *fit)
{
	unsigned header = family == AF_INET ? WIRE_IPV4 : WIRE_IPV6;
	unsigned extra = family == AF_INET ? 0 : WIRE_FRAGMENT;
	unsigned last, each;

	*fit = 0;
	if (mtu < header + extra + 8)
		return 0;
	*fit = mtu - header - WIRE_UDP;
	if (payload <= *fit)
		return 1;
	last = mtu - header - extra;
	each = last & ~7u;
	return 1 + (payload + WIRE_UDP - last + each - 1) / each;
}

/* Asks the kernel, on a connected socket; 0 where it does not say. A mapped destination answers to the IPv4
 * option. */
static unsigned path_mtu(const struct sock *sock, int packet_family)
{
	int mtu = 0;
	socklen_t len = sizeof(mtu);
	int ret = packet_family == AF_INET
			  ? getsockopt(sock->fd, IPPROTO_IP, IP_MTU, &mtu, &len)
			  : getsockopt(sock->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);

	return ret || mtu < 0 ? 0 : mtu;
}

/* Facts of the path to the first destination, from a socket that is connected to it. */
static void look_at_path(struct flows *flows, const struct sock *sock, const struct source_conf *conf)
{
	int family = addr_packet_family(&conf->dst);

	flows->mtu = path_mtu(sock, family);
	flows->fragments = flows_fragments(family, flows->mtu, conf->size.high, &flows->fit);
}

/* The same where no flow is connected; *host: the source address. Without a route the facts stay unknown: an error only where the source has to be known
 * and was not given: for raw packets and --spread. */
static int probe_path(struct flows *flows, struct addr *host, const struct source_conf *conf, struct err *err)
{
	bool raw = conf->sender == TX_RAW, needed = (raw || conf->spread.kind) && !conf->src.n;
	struct sock probe = SOCK_INIT;
	struct addr from;
	int ret;

	if (raw)
		any_source(conf, &from);
	else
		source_of(conf, 0, &from);
	addr_set_port(&from, 0);
	ret = open_socket(&probe, &from, false, conf, needed ? err : NULL);
	if (!ret)
		ret = sock_connect(&probe, &conf->dst, needed ? err : NULL);
	if (!ret) {
		look_at_path(flows, &probe, conf);
		*host = probe.local;
	}
	sock_close(&probe);
	if (raw)
		flows->fragments = conf->fragments.size ? wire_parts(conf->size.high + WIRE_UDP, (unsigned)conf->fragments.size) : 1;
	return needed ? ret : 0;
}

int flows_open(struct flows *flows, const struct source_conf *conf, struct err *err)
{
	struct addr host = { .len = 0 };
	int ret;

	*flows = (struct flows){ 0 };
	ret = raise_limit(conf->flows, err);
	if (!ret && (conf->addressed || conf->spread.kind))
		ret = probe_path(flows, &host, conf, err);
	if (!ret && conf->spread.kind)
		ret = spread_open(&flows->spread, &conf->spread, &conf->dst, &host, &conf->src_ports, (unsigned)MIN(MAX(conf->src.n, 1), 65536), err);
	if (!ret)
		flows->flow = calloc(conf->flows, sizeof(*flows->flow));
	if (!ret && !flows->flow)
		ret = err_sys(err, ENOMEM, "memory for %d flows", conf->flows);
	for (; flows->n < (unsigned)conf->flows && !ret; flows->n++) {
		flows->flow[flows->n].sock = (struct sock)SOCK_INIT;
		ret = open_flow(flows, flows->n, &host, conf, err);
	}
	if (ret) {
		flows_close(flows);
		return ret;
	}
	if (!conf->addressed)
		look_at_path(flows, &flows->flow[0].sock, conf);
	raw_init(&flows->raw, conf, flows->flow[0].fd);
	return 0;
}

int flows_device(const struct flows *flows, const struct source_conf *conf, unsigned *index, struct err *err)
{
	if (!conf->device)
		return route_device(&conf->dst, &flows->flow[0].sock.local, (uint32_t)conf->mark, index, err);
	*index = if_nametoindex(conf->device);
	return *index ? 0 : err_sys(err, errno, "--bind-dev %s", conf->device);
}

void flows_close(struct flows *flows)
{
	for (unsigned i = 0; i < flows->n; i++)
		sock_close(&flows->flow[i].sock);
	free(flows->flow);
	spread_close(&flows->spread);
	*flows = (struct flows){ 0 };
}
