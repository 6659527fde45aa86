/* SPDX-License-Identifier: MIT */
#include "net/netlink.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/util.h"

/* A dump comes in parts of at most this size (NLMSG_GOODSIZE and what the kernel makes of larger buffers). */
#define ANSWER_BYTES 32768

void netlink_begin(struct netlink_request *r, unsigned short type, unsigned short flags, size_t size)
{
	*r = (struct netlink_request){ .head = { .nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type,
						 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) } };
}

void netlink_add(struct netlink_request *r, unsigned short type, const void *data, size_t len)
{
	struct rtattr head = { .rta_len = (unsigned short)RTA_LENGTH(len), .rta_type = type };
	char *at = (char *)r + NLMSG_ALIGN(r->head.nlmsg_len);

	if (at + RTA_SPACE(len) > (char *)(r + 1))
		return;
	memcpy(at, &head, sizeof(head));
	memcpy(at + RTA_LENGTH(0), data, len);
	r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->head.nlmsg_len) + RTA_LENGTH(len));
}

/* One datagram of answers. 1: more are to come, 0: that was all, or -errno. */
static int take_answers(const struct netlink_request *r, const char *buf, size_t size, void (*take)(const struct nlmsghdr *, void *), void *data)
{
	bool more = r->head.nlmsg_flags & NLM_F_DUMP;
	int64_t left = (int64_t)size; /* signed: the padding of the last may be missing */

	for (const struct nlmsghdr *m = (const void *)buf; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 0;
		if (m->nlmsg_type == NLMSG_ERROR)
			return m->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr)) ? -EPROTO : ((const struct nlmsgerr *)NLMSG_DATA(m))->error;
		take(m, data);
	}
	return more;
}

int netlink_ask(struct netlink_request *r, void (*take)(const struct nlmsghdr *, void *), void *data)
{
	static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct timeval patience = { .tv_sec = 1 };
	alignas(struct nlmsghdr) char buf[ANSWER_BYTES];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), ret = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    sendto(fd, r, r->head.nlmsg_len, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		ret = -errno;
	while (ret > 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (n >= 0)
			ret = take_answers(r, buf, (size_t)n, take, data);
	}
	util_close(&fd);
	return ret;
}

const void *netlink_find_in(const void *attributes, size_t size, unsigned short type, size_t least, size_t *len)
{
	int64_t left = (int64_t)size; /* as above */

	for (const struct rtattr *a = attributes; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != type || RTA_PAYLOAD(a) < least)
			continue;
		if (len)
			*len = RTA_PAYLOAD(a);
		return RTA_DATA(a);
	}
	return NULL;
}

const void *netlink_find(const struct nlmsghdr *message, size_t fixed, unsigned short type, size_t least, size_t *len)
{
	size_t before = NLMSG_ALIGN(NLMSG_LENGTH(fixed));

	if (message->nlmsg_len <= before)
		return NULL;
	return netlink_find_in((const char *)message + before, message->nlmsg_len - before, type, least, len);
}
