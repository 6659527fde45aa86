/* SPDX-License-Identifier: MIT */
/*
 * sock - one UDP socket: open, set what was asked, read back what was obtained.
 *
 * Set-up functions: main thread. Order inside sock_open: socket, V6ONLY (always set explicitly, so that
 * net.ipv6.bindv6only changes nothing), device, REUSEPORT (only when asked), buffers, control-message options, bind,
 * multicast joins. What is optional and refused by missing privilege is an error with the option's name and the
 * capability: nothing runs on with less than was asked.
 */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include "net/addr.h"
#include "net/cmsg.h"

enum sock_v6only { SOCK_V6ONLY_OFF, SOCK_V6ONLY_ON };

struct sock_conf {
	unsigned want;          /* enum cmsg_want; on a dual-stack socket for both families */
	enum sock_v6only v6only;
	bool reuse_port;        /* SO_REUSEPORT; SO_REUSEADDR is never set */
	bool raw;               /* a raw socket (IPPROTO_RAW): what is written are packets with their IP headers; give local->len 0; v6only has no meaning */
	bool lite;              /* UDP-Lite, which Linux removed in 2026: refused where absent */
	uint64_t rcvbuf;        /* as SO_RCVBUF takes it (the kernel books twice that); 0 = leave */
	bool rcvbuf_strict;     /* granted less than asked: error instead of a note */
	uint64_t sndbuf;        /* the same for sending */
	const char *device;     /* SO_BINDTODEVICE before bind(2); NULL = none */
	unsigned busy_poll_us;  /* SO_BUSY_POLL; 0 = leave */
	int tos;                /* IP_TOS and IPV6_TCLASS of sent packets; -1 = leave */
	int ttl;                /* IP_TTL and IPV6_UNICAST_HOPS; -1 = leave */
};

/* Buffer: what was asked and what the kernel granted (as asked: its doubling is taken out). */
struct sock_buffer {
	uint64_t asked, granted, limit; /* limit: value of the sysctl, 0 = not readable */
	bool forced;                    /* SO_RCVBUFFORCE / SO_SNDBUFFORCE was allowed */
	const char *sysctl;             /* "net.core.rmem_max" or "net.core.wmem_max" */
};

struct sock {
	int fd;             /* -1 = closed */
	int family;         /* of the socket */
	bool dual;          /* AF_INET6 with V6ONLY off */
	struct addr local;  /* from getsockname after bind */
	struct addr peer;   /* from getpeername; len 0 = not connected */
	unsigned want;      /* what is on, read back */
	bool gro;           /* UDP_GRO read back (an inherited socket may have it on) */
	bool reuse_port;    /* read back */
	struct sock_buffer rcvbuf, sndbuf;
	unsigned busy_poll_us; /* read back */
};

#define SOCK_INIT { .fd = -1 }

/* Opens, sets and binds. The family is that of local, also with local->len 0, which means no bind. On failure
 * nothing stays open. */
int sock_open(struct sock *out, const struct addr *local, const struct sock_conf *conf,
	      struct err *err);

/* bind(2) of a socket that was opened without an address, and read back. */
int sock_bind(struct sock *sock, const struct addr *local, struct err *err);

/* connect(2) and read back the peer, and the local address where it was the wildcard. An IPv4 peer of a dual-stack
 * socket may be given either way. Datagrams that were queued before stay in the queue: see sock_drain. */
int sock_connect(struct sock *sock, const struct addr *peer, struct err *err);

/* Reads "GROUP[%dev]". ifindex 0: no device was named. -EINVAL: no multicast address; -ENODEV: no such device. */
int sock_join_parse(const char *group, struct addr *out, unsigned *ifindex, struct err *err);

/* Joins a multicast group given as "GROUP[%dev]"; without a device the route chooses. From then on the socket gets
 * only groups that it joined itself (IP_MULTICAST_ALL off). */
int sock_join(struct sock *sock, const char *group, struct err *err);

/* Connected socket, before use: reads and throws away what was queued before connect(2), whoever sent it (the kernel
 * does not filter what is queued already), told apart by source. Never more than the queue can have held at the time
 * of the call, so that a peer at full speed does not keep it here for ever. Does not block. 0 or -errno. */
struct sock_drained {
	uint64_t peer;    /* datagrams of the peer */
	uint64_t foreign; /* datagrams of others */
};
int sock_drain(struct sock *sock, struct sock_drained *out);

/* SO_MEMINFO. drops: 32-bit cumulative counter of the socket, all reasons (FACTS: checksum, filter, memory as well
 * as overflow). */
struct sock_memory {
	uint32_t rmem;   /* bytes of receive memory in use (truesize, not payload) */
	uint32_t rcvbuf; /* the limit */
	uint32_t drops;
};
int sock_memory(int fd, struct sock_memory *out);

/* SO_RCVTIMEO; 0 = block for ever. */
int sock_set_timeout(int fd, uint64_t ns);

/* O_NONBLOCK on or off. */
int sock_set_nonblock(int fd, bool on);

/* Classic BPF program for a reuse-port group: member = CPU that processed the packet, modulo members. */
int sock_steer_by_cpu(struct sock *sock, unsigned members, struct err *err);

/* The same by a hash of the source address and port over the first `members` members: those that join later are never chosen, and change nothing for the
 * others. */
int sock_steer_by_flow(struct sock *sock, unsigned members, struct err *err);

/* The member that it chooses for a sender. A mapped address is that of an IPv4 packet. Pure. */
unsigned sock_steer_member(const struct addr *from, unsigned members);

void sock_close(struct sock *sock);

#endif
