/* SPDX-License-Identifier: MIT */
/*
 * raw - what the IP packets say that the sender `raw` writes: addresses and ports, ids, and what is wrong with them on purpose.
 *
 * An id stands for one datagram among all those between two addresses, until the numbers are used up and begin again: 65535 with IPv4, where 0 would make
 * the kernel choose one for each fragment, 2^32 with IPv6. Flows with one source address share them: each takes every `sharing`-th.
 */
#ifndef SOURCE_RAW_H
#define SOURCE_RAW_H

#include "net/wire.h"
#include "source/bad.h"
#include "source/fragments.h"

struct source_conf;
struct flow;

/* Source ports where --src-ports does not say: the dynamic ones of RFC 6335. */
#define RAW_FIRST_PORT 49152
#define RAW_PORTS 16384

/* Of all flows; constant while sending. */
struct raw {
	struct wire_ip ip;      /* but addresses and id */
	const struct fragments_conf *fragments;
	const struct bad_plan *bad;
	uint64_t seed;          /* of ids and of what fragments_plan leaves to chance */
	unsigned sources;       /* source addresses */
	unsigned sharing;       /* flows with one source address, at most */
};

/* fd: any of the raw sockets, for the system's TTL. */
void raw_init(struct raw *raw, const struct source_conf *conf, int fd);

/* One datagram. */
struct raw_datagram {
	struct wire_ip ip;
	uint64_t random;               /* for fragments_plan */
	uint16_t src, dst, len, check; /* its UDP header */
};

/* The datagram of this flow that comes after `ahead` others from now, with what is wrong with it; but for BAD_TRUNCATED, which is a matter of its only
 * part. */
void raw_make(struct raw_datagram *out, const struct raw *raw, const struct flow *flow, unsigned ahead, const struct addr *to, const void *payload,
	      size_t size, enum bad_kind bad);

/* The headers of the packet that carries this part: that of IP, and in the first part, as far as it reaches, that of UDP. Returns their bytes. to: room for
 * WIRE_IP_MOST + WIRE_UDP. */
size_t raw_head(void *to, const struct raw_datagram *d, const struct wire_part *part);

/* The address as a raw socket takes it: IPv6 would take a port for the protocol. Returns its length. */
socklen_t raw_name(struct sockaddr_in6 *name, const struct addr *to);

/* Sends one good datagram in one packet, without waiting. Any thread, while no other uses the flow. 0 or -errno. */
int raw_send(const struct raw *raw, struct flow *flow, const struct addr *to, void *payload, size_t size);

#endif
