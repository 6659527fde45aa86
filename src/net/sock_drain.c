/* SPDX-License-Identifier: MIT */
/* sock_drain - what was queued before connect(2); see sock.h. */
#include "net/sock.h"

#include <errno.h>

/* The kernel books each datagram with at least its struct sk_buff and struct skb_shared_info (576 bytes and more on
 * 64-bit, over 400 on 32-bit machines), so a queue of `rmem` bytes cannot hold more than rmem / 256 of them. */
#define LEAST_BOOKED 256

/* Takes one buffer off the queue without copying it. Returns its datagrams (more than one under UDP_GRO), or -errno. */
static int take(int fd, struct addr *from)
{
	union {
		struct cmsghdr align;
		char bytes[512];
	} control;
	struct iovec iov = { 0 };
	struct msghdr h = { .msg_name = &from->ss,
			    .msg_namelen = sizeof(from->ss),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control) };
	struct cmsg_info info;
	ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return -errno;
	from->len = h.msg_namelen;
	cmsg_parse(control.bytes, h.msg_controllen, &info);
	if (!(info.valid & CMSG_WANT_GRO) || n <= (ssize_t)info.gro_segment)
		return 1;
	return (int)((n + info.gro_segment - 1) / info.gro_segment);
}

int sock_drain(struct sock *sock, struct sock_drained *out)
{
	struct sock_memory memory;
	struct addr from;
	uint32_t left;
	int n, rc = sock_memory(sock->fd, &memory);

	*out = (struct sock_drained){ 0, 0 };
	if (rc)
		return rc;
	for (left = memory.rmem / LEAST_BOOKED; left; left--) {
		n = take(sock->fd, &from);
		if (n == -EAGAIN)
			return 0;
		if (n == -EINTR || n == -ECONNREFUSED)
			continue; /* a refusal by the peer's host: reading it clears it */
		if (n < 0)
			return n;
		if (addr_equal(&from, &sock->peer))
			out->peer += (uint64_t)n;
		else
			out->foreign += (uint64_t)n;
	}
	return 0;
}
