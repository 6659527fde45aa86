/* SPDX-License-Identifier: MIT */
#include "source/raw.h"

#include <errno.h>
#include <string.h>

#include "net/sock_opt.h"
#include "source/flows.h"

#define IPV4_IDS 65535u

static uint8_t system_ttl(const struct addr *dst, int fd)
{
	bool many = addr_is_multicast(dst);

	if (dst->sa.sa_family == AF_INET)
		return (uint8_t)sock_opt_int(fd, IPPROTO_IP, many ? IP_MULTICAST_TTL : IP_TTL);
	return (uint8_t)sock_opt_int(fd, IPPROTO_IPV6, many ? IPV6_MULTICAST_HOPS : IPV6_UNICAST_HOPS);
}

void raw_init(struct raw *raw, const struct source_conf *conf, int fd)
{
	unsigned sources = (unsigned)MAX(MIN(conf->src.n, (uint64_t)conf->flows), 1);

	*raw = (struct raw){
		.ip = {
			.tos = conf->tos < 0 ? 0 : (uint8_t)conf->tos,
			.ttl = conf->ttl < 0 ? system_ttl(&conf->dst, fd) : (uint8_t)conf->ttl,
			.df = conf->pmtu == IP_PMTUDISC_DO,
		},
		.fragments = &conf->fragments,
		.bad = &conf->bad,
		.seed = conf->seed * UINT64_C(0x9e3779b97f4a7c15), /* seeds may be small and near each other (Knuth's multiplicative hash) */
		.sources = sources,
		.sharing = ((unsigned)conf->flows + sources - 1) / sources,
	};
}

/* Of all datagrams from this source address. */
static uint64_t number_of(const struct raw *raw, const struct flow *flow, unsigned ahead)
{
	return (raw->seed >> 32) + flow->stream / raw->sources + (flow->ids + ahead) * raw->sharing;
}

static uint16_t spoil(uint16_t check)
{
	uint16_t other = check ^ 0x5a5a;

	return other ? other : 0xa5a5; /* 0 stands for none */
}

void raw_make(struct raw_datagram *out, const struct raw *raw, const struct flow *flow, unsigned ahead, const struct addr *to, const void *payload,
	      size_t size, enum bad_kind bad)
{
	uint64_t number = number_of(raw, flow, ahead);

	out->random = raw->seed ^ number ^ (uint64_t)flow->stream << 48;
	out->ip = raw->ip;
	wire_addresses(&out->ip, &flow->sock.local, to);
	out->ip.id = to->sa.sa_family == AF_INET ? 1 + (uint32_t)(number % IPV4_IDS) : (uint32_t)number;
	out->src = bad == BAD_PORT_ZERO ? 0 : addr_port(&flow->sock.local);
	out->dst = bad == BAD_CLOSED_PORT ? raw->bad->closed_port : addr_port(to);
	out->len = (uint16_t)(size + WIRE_UDP);
	if (bad == BAD_ZERO_CHECKSUM)
		out->check = 0;
	else
		out->check = wire_udp_check(&out->ip, out->src, out->dst, payload, size);
	if (bad == BAD_CHECKSUM)
		out->check = spoil(out->check);
	if (bad == BAD_LENGTH_SHORT)
		out->len = WIRE_UDP - 1;
	if (bad == BAD_LENGTH_LONG)
		out->len++;
}

size_t raw_head(void *to, const struct raw_datagram *d, const struct wire_part *part)
{
	unsigned char *at = to;
	size_t size = wire_put_ip(at, &d->ip, part);

	if (part->offset)
		return size;
	wire_put_udp(at + size, d->src, d->dst, d->len, d->check);
	return size + MIN(part->len, WIRE_UDP);
}

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port), "one place for the port of both families");

socklen_t raw_name(struct sockaddr_in6 *name, const struct addr *to)
{
	memcpy(name, &to->sa, to->len);
	name->sin6_port = 0;
	return to->len;
}

int raw_send(const struct raw *raw, struct flow *flow, const struct addr *to, void *payload, size_t size)
{
	const struct wire_part whole = { .len = (uint16_t)(size + WIRE_UDP) };
	unsigned char head[WIRE_IP_MOST + WIRE_UDP];
	struct raw_datagram d;
	struct sockaddr_in6 name;
	struct iovec iov[] = { { .iov_base = head }, { .iov_base = payload, .iov_len = size } };
	struct msghdr h = { .msg_name = &name, .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };

	raw_make(&d, raw, flow, 0, to, payload, size, BAD_NONE);
	flow->ids++;
	iov[0].iov_len = raw_head(head, &d, &whole);
	h.msg_namelen = raw_name(&name, to);
	return sendmsg(flow->fd, &h, MSG_DONTWAIT) < 0 ? -errno : 0;
}
