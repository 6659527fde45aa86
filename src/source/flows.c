/* SPDX-License-Identifier: MIT */
#include "source/flows.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"

/* Descriptors beside the flows: standard streams, files read at the end. */
#define SPARE_DESCRIPTORS 32

#define UDP_HEADER 8
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define IPV6_FRAGMENT_HEADER 8

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
	if (v4 && conf->pmtu >= 0)
		ret = set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, "pmtu", conf->pmtu, err);
	if (v6 && !ret && conf->pmtu >= 0)
		ret = set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, "pmtu", conf->pmtu, err);
	if (v4 && !ret && hops)
		ret = set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, "ttl", conf->ttl, err);
	if (v6 && !ret && hops)
		ret = set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, "ttl", conf->ttl, err);
	return ret;
}

static int open_flow(struct flow *flow, unsigned index, const struct source_conf *conf,
		     struct err *err)
{
	/* An IPv6 socket takes a mapped destination only when it is a dual one; sock_open then sets TOS and TTL
	 * for both families. */
	const struct sock_conf sock = {
		.v6only = addr_is_mapped(&conf->dst) ? SOCK_V6ONLY_OFF : SOCK_V6ONLY_ON,
		.sndbuf = conf->sndbuf,
		.device = conf->device,
		.tos = conf->tos,
		.ttl = conf->ttl,
	};
	int ret = sock_open(&flow->sock, &conf->src, &sock, err);

	if (!ret)
		ret = set_options(flow->sock.fd, conf, err);
	if (!ret)
		ret = sock_connect(&flow->sock, &conf->dst, err);
	if (ret)
		return ret;
	flow->fd = flow->sock.fd;
	flow->stream = index;
	return 0;
}

unsigned flows_fragments(int family, unsigned mtu, uint64_t payload, unsigned *fit)
{
	unsigned header = family == AF_INET ? IPV4_HEADER : IPV6_HEADER;
	unsigned extra = family == AF_INET ? 0 : IPV6_FRAGMENT_HEADER;
	unsigned last, each;

	*fit = 0;
	if (mtu < header + extra + 8)
		return 0;
	*fit = mtu - header - UDP_HEADER;
	if (payload <= *fit)
		return 1;
	last = mtu - header - extra;
	each = last & ~7u;
	return 1 + (payload + UDP_HEADER - last + each - 1) / each;
}

/* Asks the kernel, on a connected socket; 0 where it does not say. A mapped destination answers to the IPv4
 * option. */
static unsigned path_mtu(const struct flow *flow, int packet_family)
{
	int mtu = 0;
	socklen_t len = sizeof(mtu);
	int ret = packet_family == AF_INET
			  ? getsockopt(flow->fd, IPPROTO_IP, IP_MTU, &mtu, &len)
			  : getsockopt(flow->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);

	return ret || mtu < 0 ? 0 : mtu;
}

int flows_open(struct flows *flows, const struct source_conf *conf, struct err *err)
{
	int family = addr_packet_family(&conf->dst), ret;

	*flows = (struct flows){ 0 };
	ret = raise_limit(conf->flows, err);
	if (ret)
		return ret;
	flows->flow = calloc(conf->flows, sizeof(*flows->flow));
	if (!flows->flow)
		return err_sys(err, ENOMEM, "memory for %d flows", conf->flows);
	for (; flows->n < (unsigned)conf->flows && !ret; flows->n++) {
		flows->flow[flows->n].sock = (struct sock)SOCK_INIT;
		ret = open_flow(&flows->flow[flows->n], flows->n, conf, err);
	}
	if (ret) {
		flows_close(flows);
		return ret;
	}
	flows->mtu = path_mtu(&flows->flow[0], family);
	flows->fragments = flows_fragments(family, flows->mtu, conf->payload, &flows->fit);
	return 0;
}

void flows_close(struct flows *flows)
{
	for (unsigned i = 0; i < flows->n; i++)
		sock_close(&flows->flow[i].sock);
	free(flows->flow);
	*flows = (struct flows){ 0 };
}
