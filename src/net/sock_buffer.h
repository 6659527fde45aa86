/* SPDX-License-Identifier: MIT */
/*
 * sock_buffer - socket buffer sizes: what was asked, what the kernel granted, and which sysctl stands between. Main
 * thread.
 */
#ifndef NET_SOCK_BUFFER_H
#define NET_SOCK_BUFFER_H

#include "net/sock.h"

enum sock_buffer_side { SOCK_BUFFER_RCV, SOCK_BUFFER_SND };

/* Asks for `asked` bytes (0 = asks for nothing), with the force variant first, which passes the limit where
 * CAP_NET_ADMIN allows it, and reads back. strict: granted less than asked is an error. */
int sock_buffer_set(int fd, enum sock_buffer_side side, uint64_t asked, bool strict,
		    struct sock_buffer *out, struct err *err);

/* One sentence when less was granted than asked: both figures, the limit, the sysctl to raise. Empty text and false
 * otherwise. */
bool sock_buffer_shortfall(const struct sock_buffer *buffer, char *text, size_t size);

#endif
