/* SPDX-License-Identifier: MIT */
/*
 * flows - the source ports: one socket per flow, all opened by the main thread before traffic begins; connected, unless datagrams have destinations of their
 * own. The sockets of --sender raw are neither bound nor connected: each packet says where it comes from.
 *
 * Flow i belongs to thread i % threads, which takes its flows in turn, one batch each. Sequence numbers are per
 * flow (stream i in the header).
 */
#ifndef SOURCE_FLOWS_H
#define SOURCE_FLOWS_H

#include "net/sock.h"
#include "source/conf.h"
#include "source/raw.h"

struct flow {
	int fd;              /* copy of sock.fd, beside what the loop touches */
	uint16_t stream;
	uint64_t sequence;   /* of the next datagram: its thread only. Only accepted datagrams count on */
	uint64_t ids;        /* --sender raw: ids that were used: its thread only */
	struct sock sock;    /* local: the source, also where the socket is not bound to it (--sender raw) */
};

struct flows {
	struct flow *flow;
	unsigned n;
	unsigned mtu;        /* path MTU as the kernel knew it at the start, 0 = not known */
	unsigned fragments;  /* IP fragments per datagram, 1 = stays whole, 0 = not known */
	unsigned fit;        /* largest payload that fits the MTU; 0 = not known */
	struct raw raw;      /* --sender raw */
	struct asked *asked; /* DNS: what each thread has asked; NULL: no DNS; of answers.c */
	struct spread spread; /* --spread */
};

/* Opens, binds and connects all; raises the limit of descriptors where that is allowed. Nothing stays open on
 * failure. */
int flows_open(struct flows *flows, const struct source_conf *conf, struct err *err);

/* IP fragments that a datagram of this payload makes on a path of this MTU; *fit: the largest payload that makes
 * one. family: of the packet. RFC 791 (IPv4 header 20), RFC 8200 (IPv6 header 40, fragment header 8): all but
 * the last fragment carry a multiple of 8 bytes. */
unsigned flows_fragments(int family, unsigned mtu, uint64_t payload, unsigned *fit);

/* The interface by which datagrams to the first destination go. On failure a sentence says what the kernel was asked. */
int flows_device(const struct flows *flows, const struct source_conf *conf, unsigned *index, struct err *err);

void flows_close(struct flows *flows);

#endif
