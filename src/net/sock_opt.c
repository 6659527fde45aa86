/* SPDX-License-Identifier: MIT */
/* sock_opt - see sock_opt.h. */
#include "net/sock_opt.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <string.h>

#ifndef UDP_GRO
#define UDP_GRO 104 /* linux/udp.h, since Linux 5.0 */
#endif

enum family { ANY, V4, V6 };

/* What makes the kernel hand over control messages. IPv4 options work on an AF_INET6 socket too, and are needed
 * there for IPv4 packets. fallback: tried where the first is refused; 0 = none. */
static const struct row {
	unsigned want;
	enum family family;
	int level, name, fallback;
	const char *text;
} rows[] = {
	{ CMSG_WANT_PKTINFO, V4, IPPROTO_IP, IP_PKTINFO, 0, "--pktinfo: IP_PKTINFO" },
	{ CMSG_WANT_PKTINFO, V6, IPPROTO_IPV6, IPV6_RECVPKTINFO, 0, "--pktinfo: IPV6_RECVPKTINFO" },
	{ CMSG_WANT_TTL, V4, IPPROTO_IP, IP_RECVTTL, 0, "--recv-ttl: IP_RECVTTL" },
	{ CMSG_WANT_TTL, V6, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 0, "--recv-ttl: IPV6_RECVHOPLIMIT" },
	{ CMSG_WANT_TOS, V4, IPPROTO_IP, IP_RECVTOS, 0, "--recv-tos: IP_RECVTOS" },
	{ CMSG_WANT_TOS, V6, IPPROTO_IPV6, IPV6_RECVTCLASS, 0, "--recv-tos: IPV6_RECVTCLASS" },
	{ CMSG_WANT_DROPS, ANY, SOL_SOCKET, SO_RXQ_OVFL, 0, "--rxq-ovfl: SO_RXQ_OVFL" },
	{ CMSG_WANT_STAMP, ANY, SOL_SOCKET, SO_TIMESTAMPNS, SO_TIMESTAMP,
	  "time stamps: SO_TIMESTAMPNS and SO_TIMESTAMP" },
	{ CMSG_WANT_GRO, ANY, IPPROTO_UDP, UDP_GRO, 0, "--gro: UDP_GRO (Linux 5.0 has it)" },
};

static bool applies(const struct sock *sock, enum family family)
{
	return family == ANY || (family == V4 ? sock_opt_has4(sock) : sock_opt_has6(sock));
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

int sock_opt_int(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? 0 : value;
}

static int set_wants(const struct sock *sock, unsigned want, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		int rc;

		if (!(want & row->want) || !applies(sock, row->family))
			continue;
		rc = set_int(sock->fd, row->level, row->name, 1);
		if (rc && row->fallback)
			rc = set_int(sock->fd, row->level, row->fallback, 1);
		if (rc)
			return err_sys(err, rc, "%s", row->text);
	}
	return 0;
}

unsigned sock_opt_want(const struct sock *sock)
{
	unsigned on = 0, off = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!applies(sock, row->family))
			continue;
		if (sock_opt_int(sock->fd, row->level, row->name) ||
		    (row->fallback && sock_opt_int(sock->fd, row->level, row->fallback)))
			on |= row->want;
		else
			off |= row->want;
	}
	return on & ~off;
}

static int bind_device(int fd, const char *device, struct err *err)
{
	int rc = 0;

	if (strlen(device) >= IF_NAMESIZE)
		return err_say(err, EINVAL,
			       "--bind-dev %s: the name of an interface has at most %d characters",
			       device, IF_NAMESIZE - 1);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)))
		rc = err_sys(err, errno, "--bind-dev %s: SO_BINDTODEVICE", device);
	if (rc == -EPERM)
		err_hint(err, "; before Linux 5.7 this needs CAP_NET_RAW");
	else if (rc == -ENODEV)
		err_hint(err, "; there is no such interface here (see 'ip link')");
	return rc;
}

static int busy_poll(int fd, unsigned us, struct err *err)
{
	int rc = set_int(fd, SOL_SOCKET, SO_BUSY_POLL, (int)us);

	if (rc)
		err_sys(err, rc, "--busy-poll %u: SO_BUSY_POLL", us);
	if (rc == -EPERM)
		err_hint(err, "; raising it above net.core.busy_read needs CAP_NET_ADMIN");
	else if (rc == -ENOPROTOOPT)
		err_hint(err, "; this kernel is built without CONFIG_NET_RX_BUSY_POLL");
	return rc;
}

/* Fields of sent packets, each under its IPv4 and its IPv6 name. */
static int set_sent(const struct sock *sock, const char *text, int name4, int name6, int value,
		    struct err *err)
{
	int rc = 0;

	if (value < 0)
		return 0;
	if (sock_opt_has4(sock))
		rc = set_int(sock->fd, IPPROTO_IP, name4, value);
	if (!rc && sock_opt_has6(sock))
		rc = set_int(sock->fd, IPPROTO_IPV6, name6, value);
	return rc ? err_sys(err, rc, "%s %d", text, value) : 0;
}

int sock_opt_set(const struct sock *sock, const struct sock_conf *conf, struct err *err)
{
	int rc = 0;

	if (sock->family == AF_INET6 && !conf->raw)
		rc = set_int(sock->fd, IPPROTO_IPV6, IPV6_V6ONLY, !sock->dual);
	if (rc)
		return err_sys(err, rc, "IPV6_V6ONLY");
	if (conf->device)
		rc = bind_device(sock->fd, conf->device, err);
	if (rc)
		return rc;
	if (conf->reuse_port)
		rc = set_int(sock->fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (rc)
		return err_sys(err, rc, "SO_REUSEPORT");
	if (conf->busy_poll_us)
		rc = busy_poll(sock->fd, conf->busy_poll_us, err);
	if (!rc)
		rc = set_wants(sock, conf->want, err);
	if (!rc)
		rc = set_sent(sock, "--tos", IP_TOS, IPV6_TCLASS, conf->tos, err);
	if (!rc)
		rc = set_sent(sock, "--ttl", IP_TTL, IPV6_UNICAST_HOPS, conf->ttl, err);
	return rc;
}
