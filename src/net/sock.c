/* SPDX-License-Identifier: MIT */
/* sock - see sock.h. The options are in sock_opt.c, buffer sizes in sock_buffer.c, multicast in sock_join.c. */
#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sys/time.h>

#include "base/clock.h"
#include "net/sock_buffer.h"
#include "net/sock_opt.h"

#ifndef IPPROTO_UDPLITE
#define IPPROTO_UDPLITE 136
#endif

static int open_fd(struct sock *sock, const struct sock_conf *conf, struct err *err)
{
	int rc;

	if (conf->raw) /* raw(7): "IPPROTO_RAW implies IP_HDRINCL"; IPv6 the same (inet6_create) */
		sock->fd = socket(sock->family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	else
		sock->fd = socket(sock->family, SOCK_DGRAM | SOCK_CLOEXEC, conf->lite ? IPPROTO_UDPLITE : IPPROTO_UDP);
	if (sock->fd >= 0)
		return 0;
	if (conf->raw && errno == EPERM)
		return err_say(err, errno, "a raw socket needs CAP_NET_RAW: run this as root, or in a network namespace of your own ('unshare -Urn')");
	if (conf->lite && errno == EPROTONOSUPPORT)
		return err_say(err, errno,
			       "--lite: this kernel has no UDP-Lite (Linux removed it in 2026, and "
			       "it was optional before): run without --lite, or on another kernel");
	rc = err_sys(err, errno, "%s socket", sock->family == AF_INET6 ? "IPv6" : "IPv4");
	if (rc == -EAFNOSUPPORT)
		err_hint(err, "; this kernel runs without it: take an address of the other");
	else if (rc == -EMFILE)
		err_hint(err, "; raise the limit of open files (ulimit -n), or use fewer sockets");
	return rc;
}

static int bind_to(const struct sock *sock, const struct addr *local, struct err *err)
{
	char text[ADDR_TEXT];
	int rc;

	if (!local->len || !bind(sock->fd, &local->sa, local->len))
		return 0;
	rc = err_sys(err, errno, "bind %s", addr_format(local, text, sizeof(text)));
	if (rc == -EADDRINUSE)
		err_hint(err,
			 "; 'ss -uanp sport = :%u' shows by whom; stop it, or choose another port",
			 addr_port(local));
	else if (rc == -EADDRNOTAVAIL)
		err_hint(err, "; no interface here has this address (see 'ip addr')");
	else if (rc == -EACCES)
		err_hint(err, "; CAP_NET_BIND_SERVICE is needed below "
			      "net.ipv4.ip_unprivileged_port_start");
	return rc;
}

/* The name that getsockname(2) or getpeername(2) gives. */
static int name_of(int fd, int (*call)(int, struct sockaddr *, socklen_t *), struct addr *out)
{
	out->len = sizeof(out->ss);
	if (!call(fd, &out->sa, &out->len))
		return 0;
	out->len = 0;
	return -errno;
}

/* What was obtained, as the kernel says it. */
static int read_back(struct sock *sock, struct err *err)
{
	struct sock_memory memory;
	int rc = name_of(sock->fd, getsockname, &sock->local);

	if (rc)
		return err_sys(err, rc, "getsockname");
	sock->want = sock_opt_want(sock);
	sock->gro = sock->want & CMSG_WANT_GRO;
	sock->reuse_port = sock_opt_int(sock->fd, SOL_SOCKET, SO_REUSEPORT);
	sock->busy_poll_us = (unsigned)sock_opt_int(sock->fd, SOL_SOCKET, SO_BUSY_POLL);
	rc = sock_memory(sock->fd, &memory);
	if (rc)
		return err_sys(err, rc, "SO_MEMINFO (Linux 4.12 has it)");
	return 0;
}

int sock_open(struct sock *out, const struct addr *local, const struct sock_conf *conf,
	      struct err *err)
{
	int rc;

	*out = (struct sock)SOCK_INIT;
	out->family = local->sa.sa_family;
	out->dual = out->family == AF_INET6 && conf->v6only == SOCK_V6ONLY_OFF;
	rc = open_fd(out, conf, err);
	if (!rc)
		rc = sock_opt_set(out, conf, err);
	if (!rc)
		rc = sock_buffer_set(out->fd, SOCK_BUFFER_RCV, conf->rcvbuf, conf->rcvbuf_strict,
				     &out->rcvbuf, err);
	if (!rc)
		rc = sock_buffer_set(out->fd, SOCK_BUFFER_SND, conf->sndbuf, false, &out->sndbuf,
				     err);
	if (!rc)
		rc = bind_to(out, local, err);
	if (!rc)
		rc = read_back(out, err);
	if (rc)
		sock_close(out);
	return rc;
}

int sock_bind(struct sock *sock, const struct addr *local, struct err *err)
{
	int rc = bind_to(sock, local, err);

	return rc ? rc : read_back(sock, err);
}

int sock_connect(struct sock *sock, const struct addr *peer, struct err *err)
{
	char text[ADDR_TEXT], from[ADDR_TEXT];
	struct addr to = *peer;
	int rc;

	addr_format(peer, text, sizeof(text));
	addr_format(&sock->local, from, sizeof(from));
	if (!addr_to_family(&to, sock->family) || (addr_is_mapped(&to) && !sock->dual))
		return err_say(err, EAFNOSUPPORT, "connect %s to %s: the socket takes %s only",
			       from, text, sock->family == AF_INET ? "IPv4" : "IPv6");
	if (connect(sock->fd, &to.sa, to.len)) {
		rc = err_sys(err, errno, "connect %s to %s", from, text);
		if (rc == -ENETUNREACH)
			err_hint(err, "; there is no route (see 'ip route get')");
		return rc;
	}
	rc = name_of(sock->fd, getpeername, &sock->peer);
	if (!rc)
		rc = name_of(sock->fd, getsockname, &sock->local);
	return rc ? err_sys(err, rc, "connect %s to %s: read back", from, text) : 0;
}

int sock_memory(int fd, struct sock_memory *out)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		return -errno;
	out->rmem = info[SK_MEMINFO_RMEM_ALLOC];
	out->rcvbuf = info[SK_MEMINFO_RCVBUF];
	out->drops = info[SK_MEMINFO_DROPS];
	return 0;
}

int sock_set_timeout(int fd, uint64_t ns)
{
	/* Rounded up: 0 would mean for ever. */
	uint64_t us = (ns + NSEC_PER_USEC - 1) / NSEC_PER_USEC;
	struct timeval tv = { .tv_sec = (time_t)(us / 1000000),
			      .tv_usec = (suseconds_t)(us % 1000000) };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ? -errno : 0;
}

int sock_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) ? -errno : 0;
}

void sock_close(struct sock *sock)
{
	util_close(&sock->fd);
}
