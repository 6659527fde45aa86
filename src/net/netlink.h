/* SPDX-License-Identifier: MIT */
/*
 * netlink - one question to the kernel's rtnetlink, answered message by message: rtnetlink(7). About the network namespace of the calling thread. No
 * privilege needed for what is asked here. Any thread.
 */
#ifndef NET_NETLINK_H
#define NET_NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>

/* A request with room for attributes. */
struct netlink_request {
	struct nlmsghdr head;
	union {
		struct rtmsg route;
		struct tcmsg tc;
		struct ifinfomsg link;
		char room[128];
	} body;
};

/* Begins a request: type RTM_...; flags beside NLM_F_REQUEST; size: of the member of body in use. */
void netlink_begin(struct netlink_request *r, unsigned short type, unsigned short flags, size_t size);

/* Appends an attribute; there is room for some 100 bytes. */
void netlink_add(struct netlink_request *r, unsigned short type, const void *data, size_t len);

/* Sends it and hands each answer to take, until the last. The kernel has 1 s for each. 0 or -errno: of a system call, or what the kernel answered. */
int netlink_ask(struct netlink_request *r, void (*take)(const struct nlmsghdr *answer, void *data), void *data);

/* The payload of a message's attribute, at least `least` bytes long; NULL: it has none such. fixed: size of the struct before the attributes. *len (may be
 * NULL): its length. */
const void *netlink_find(const struct nlmsghdr *message, size_t fixed, unsigned short type, size_t least, size_t *len);

/* The same in memory: attributes within an attribute. */
const void *netlink_find_in(const void *attributes, size_t size, unsigned short type, size_t least, size_t *len);

#endif
