/* SPDX-License-Identifier: MIT */
/*
 * sock_opt - the options of a UDP socket as tables: set before bind(2), read back after. Used by sock.c. Main
 * thread, and workers for sockets made while running.
 */
#ifndef NET_SOCK_OPT_H
#define NET_SOCK_OPT_H

#include "net/sock.h"

/* Which families' options a socket takes: a dual-stack AF_INET6 socket takes both. */
static inline bool sock_opt_has4(const struct sock *sock)
{
	return sock->family == AF_INET || sock->dual;
}

static inline bool sock_opt_has6(const struct sock *sock)
{
	return sock->family == AF_INET6;
}

/* Everything of conf but the buffers. sock: fd, family and dual are set. 0 or -errno with a sentence that names our
 * option. */
int sock_opt_set(const struct sock *sock, const struct sock_conf *conf, struct err *err);

/* The enum cmsg_want bits that are on: a bit needs all options of the families that the socket takes. */
unsigned sock_opt_want(const struct sock *sock);

/* An int option, 0 where the kernel does not have it. */
int sock_opt_int(int fd, int level, int name);

#endif
