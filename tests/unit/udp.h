/* SPDX-License-Identifier: MIT */
/*
 * udp - what tests of sockets share: open, send, receive with control messages, answer. Works inside a child
 * (child.h) too: nothing here uses cmocka.
 */
#ifndef TESTS_UDP_H
#define TESTS_UDP_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/sock.h"

/* A datagram sent on loopback is in the queue when sendto(2) returns, on one CPU; this is for the case that it is
 * not. */
#define DEADLINE_MS 2000

static const struct sock_conf plain UNUSED = { .tos = -1, .ttl = -1 };

static inline struct addr parsed(const char *text)
{
	struct addr a = { 0 };
	struct err err = ERR_INIT;

	if (addr_parse(text, AF_UNSPEC, 0, &a, &err))
		fprintf(stderr, "%s\n", err.text);
	return a;
}

static inline struct sock opened(const char *local, const struct sock_conf *conf)
{
	struct addr a = parsed(local);
	struct err err = ERR_INIT;
	struct sock s;

	if (sock_open(&s, &a, conf, &err))
		fprintf(stderr, "%s\n", err.text); /* s.fd is -1: whatever follows fails */
	return s;
}

/* Containers often have none. */
static inline bool has_ipv6(void)
{
	struct addr loopback = parsed("::1");
	struct sock s;
	bool ok = !sock_open(&s, &loopback, &plain, NULL);

	sock_close(&s);
	return ok;
}

/* For the start of a test; after <cmocka.h> and tap.h. */
#define NEED_IPV6() \
	do { \
		if (!has_ipv6()) \
			TAP_SKIP("no IPv6 on this host"); \
	} while (0)

/* The address of a socket as reached through another of this host's addresses. */
static inline struct addr at(const struct sock *s, const char *host)
{
	struct addr a = parsed(host);

	addr_set_port(&a, addr_port(&s->local));
	return a;
}

static inline bool send_to(const struct sock *from, const struct addr *to, const char *text)
{
	return sendto(from->fd, text, strlen(text), 0, &to->sa, to->len) == (ssize_t)strlen(text);
}

static inline bool wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, DEADLINE_MS) == 1 && p.revents & POLLIN;
}

/* One datagram with everything around it. */
struct got {
	ssize_t len;
	char text[64];
	struct addr from;
	struct cmsg_info info;
	int flags;
};

static inline bool receive(const struct sock *s, struct got *got)
{
	_Alignas(struct cmsghdr) unsigned char control[512];
	struct iovec iov = { got->text, sizeof(got->text) - 1 };
	struct msghdr h = { .msg_name = &got->from.ss,
			    .msg_namelen = sizeof(got->from.ss),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = cmsg_space(s->want, s->family, s->dual) };

	memset(got->text, 0, sizeof(got->text));
	got->len = wait_readable(s->fd) ? recvmsg(s->fd, &h, MSG_DONTWAIT) : -1;
	got->from.len = h.msg_namelen;
	got->flags = h.msg_flags;
	cmsg_parse(control, h.msg_controllen, &got->info);
	return got->len >= 0;
}

/* Sends an answer the way a server does: source = destination of the request. */
static inline bool answer(const struct sock *s, const struct got *got)
{
	_Alignas(struct cmsghdr) unsigned char control[128];
	struct addr to = got->from;
	struct iovec iov = { (char *)"answer", 6 };
	struct msghdr h = { .msg_name = &to.ss,
			    .msg_namelen = to.len,
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control };

	h.msg_controllen = cmsg_reply(control, sizeof(control), &got->info, s->family, false);
	if (!h.msg_controllen)
		h.msg_control = NULL;
	return sendmsg(s->fd, &h, 0) == 6;
}

static inline int get_int(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? -errno : value;
}

#endif
