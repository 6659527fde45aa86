/* SPDX-License-Identifier: MIT */
#include "source/gso.h"

#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/util.h"
#include "net/cmsg.h"
#include "net/sock.h"

/* UDP_MAX_SEGMENTS: 64 from Linux 4.18 on, 128 since 6.10. */
static const unsigned limits[] = { 128, 64 };

#define MOST_SEGMENTS 128
#define SEGMENT 100
#define TAIL 37        /* the short last one */
#define WAIT_MS 200    /* loopback delivers within the send call, unless the softirq was put off */

struct trial {
	struct sock from, to;
	unsigned messages, datagrams;
	unsigned char data[MOST_SEGMENTS * SEGMENT];
};

static int open_pair(struct trial *t, int family, struct err *err)
{
	const struct sock_conf conf = { .v6only = SOCK_V6ONLY_ON, .tos = -1, .ttl = -1 };
	struct addr lo;
	int rc = addr_parse(family == AF_INET6 ? "::1" : "127.0.0.1", family, 0, &lo, err);

	if (!rc)
		rc = sock_open(&t->to, &lo, &conf, err);
	if (!rc)
		rc = sock_open(&t->from, &lo, &conf, err);
	if (!rc)
		rc = sock_connect(&t->from, &t->to.local, err);
	if (!rc)
		rc = sock_connect(&t->to, &t->from.local, err);
	return rc;
}

/* 0 or -errno. */
static int send_one(struct trial *t, size_t size)
{
	alignas(size_t) unsigned char control[CMSG_SPACE(sizeof(uint16_t))];
	const uint16_t segment = SEGMENT;
	struct iovec iov = { (void *)t->data, size };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	size_t used = 0;

	cmsg_put(control, sizeof(control), &used, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	h.msg_controllen = used;
	if (sendmsg(t->from.fd, &h, 0) < 0)
		return -errno;
	t->messages++;
	t->datagrams += (unsigned)((size + SEGMENT - 1) / SEGMENT);
	return 0;
}

/* Are the next datagrams what these `size` bytes make? */
static bool arrives(const struct trial *t, size_t size)
{
	for (size_t at = 0; at < size; at += SEGMENT) {
		size_t want = MIN(SEGMENT, size - at);
		unsigned char got[2 * SEGMENT];
		struct pollfd p = { .fd = t->to.fd, .events = POLLIN };
		ssize_t n = poll(&p, 1, WAIT_MS) == 1 ? recv(t->to.fd, got, sizeof(got), MSG_DONTWAIT) : -1;

		if (n != (ssize_t)want || memcmp(got, t->data + at, want))
			return false;
	}
	return true;
}

/* How many segments the kernel takes: 0 and *out, or -errno. EINVAL is what too many get. */
static int find_limit(struct trial *t, unsigned *out)
{
	int rc = -EINVAL;

	for (unsigned i = 0; i < ARRAY_SIZE(limits) && rc == -EINVAL; i++) {
		rc = send_one(t, limits[i] * SEGMENT);
		*out = limits[i];
	}
	return rc;
}

static void run(struct trial *t, struct gso_probe *out)
{
	unsigned limit;
	int rc = find_limit(t, &limit);
	bool whole = !rc && arrives(t, limit * SEGMENT);
	size_t tail = (limit - 1) * SEGMENT + TAIL;

	if (whole)
		rc = send_one(t, tail);
	if (rc)
		snprintf(out->why, sizeof(out->why), "the kernel refused UDP_SEGMENT on loopback: %s", strerror(-rc));
	else if (!whole || !arrives(t, tail))
		snprintf(out->why, sizeof(out->why), "segments sent over loopback did not arrive as they were sent");
	else
		out->limit = limit;
}

void gso_probe(int family, struct gso_probe *out)
{
	struct trial t = { .from = SOCK_INIT, .to = SOCK_INIT };
	struct err err = ERR_INIT;

	*out = (struct gso_probe){ .limit = 1 };
	for (size_t i = 0; i < sizeof(t.data); i++)
		t.data[i] = (unsigned char)(i * 31 + i / SEGMENT);
	if (open_pair(&t, family, &err))
		snprintf(out->why, sizeof(out->why), "%.150s", err.text);
	else
		run(&t, out);
	out->messages = t.messages;
	out->datagrams = t.datagrams;
	sock_close(&t.from);
	sock_close(&t.to);
}
