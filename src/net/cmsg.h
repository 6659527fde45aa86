/* SPDX-License-Identifier: MIT */
/*
 * cmsg - control messages of a datagram: how large a buffer must be, parse on receive, build for a reply.
 *
 * Sizes are computed for all options asked for *together*, both families at once on a dual-stack socket (Linux
 * delivers IP_PKTINFO and IPV6_PKTINFO for one mapped datagram when both are on). Parsing reads only inside the
 * buffer whatever the lengths claim. Widths: TOS arrives as 1 byte, TCLASS/TTL/HOPLIMIT as int, some kernels 4 bytes
 * for TOS: 1 and 4 are read, any other length is `malformed`. UDP_GRO is an int, in host byte order. No system
 * calls, no allocation, any thread.
 */
#ifndef NET_CMSG_H
#define NET_CMSG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* What may be asked of a socket; also the validity bits of struct cmsg_info. */
enum cmsg_want {
	CMSG_WANT_PKTINFO = 1 << 0, /* destination address and interface */
	CMSG_WANT_TTL = 1 << 1,     /* TTL or hop limit */
	CMSG_WANT_TOS = 1 << 2,     /* TOS or traffic class, DSCP and ECN */
	CMSG_WANT_DROPS = 1 << 3,   /* SO_RXQ_OVFL: drops so far, 32 bit, absent while zero */
	CMSG_WANT_STAMP = 1 << 4,   /* receive time by the kernel, whichever option gave it */
	CMSG_WANT_GRO = 1 << 5,     /* UDP_GRO segment size */
};

/* What one datagram's control data said. Fields count only where their bit is in valid. */
struct cmsg_info {
	uint32_t valid;           /* enum cmsg_want bits */
	uint32_t malformed;       /* control messages of a length that is not expected */
	struct in6_addr dst;      /* destination of the packet (ipi_addr); IPv4 as ::ffff:a.b.c.d */
	struct in_addr spec_dst;  /* IPv4: reply from here (ipi_spec_dst); dst may be a broadcast */
	uint32_t ifindex;         /* arrival interface */
	int family;               /* family of the packet: AF_INET or AF_INET6 */
	int ttl;
	uint8_t tos;
	uint32_t drops;
	uint64_t stamp_ns;        /* CLOCK_REALTIME */
	uint32_t gro_segment;     /* bytes per segment */
};

/* Bytes of msg_control that hold everything in `want` for a socket of this family (AF_INET, AF_INET6; dual: AF_INET6
 * with both sets). */
size_t cmsg_space(unsigned want, int family, bool dual);

/* Walks control[0..len) and fills *info. Terminates and stays in bounds for any contents. */
void cmsg_parse(const void *control, size_t len, struct cmsg_info *info);

/* Turns received information round for a reply: writes IP_PKTINFO or IPV6_PKTINFO with source = destination of the
 * request into control (size bytes, suitably aligned), interface 0 unless `keep_interface` or the address is
 * link-local. socket_family: family of the sending socket; for a mapped destination on an AF_INET6 socket IPv4
 * pktinfo is what Linux takes. Multicast/broadcast destinations: source left to the route for IPv6 multicast,
 * ipi_spec_dst for IPv4. Returns bytes used for msg_controllen, 0 = no control message is needed or possible. */
size_t cmsg_reply(void *control, size_t size, const struct cmsg_info *info, int socket_family,
		  bool keep_interface);

/* For senders: appends one int-valued control message (level/type as in cmsg(3)) at offset *used; returns false when
 * it does not fit. */
bool cmsg_put(void *control, size_t size, size_t *used, int level, int type, const void *data,
	      size_t len);

#endif
