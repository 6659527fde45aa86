/* SPDX-License-Identifier: MIT */
/*
 * mmsg - the receive memory of a slot: payload buffers, message headers, names, control buffers, and the packets made of them.
 *
 * What does not change from batch to batch (pointers, sizes) is written once, at open. After a receive call
 * mmsg_collect() writes the rest into the packets and re-arms the headers in the same pass. Worker only.
 */
#ifndef ENGINE_MMSG_H
#define ENGINE_MMSG_H

#include "engine/engine.h"

struct mmsg {
	struct mmsghdr *hdr;     /* one per packet of the largest batch, as are the following */
	struct packet *packet;
	struct iovec *iov;       /* nr_iovec per packet */
	struct addr *name;
	struct cmsg_info *info;
	unsigned char *control;
	unsigned char *data;     /* payload: one page-aligned block */
	uint32_t capacity;       /* bytes of a packet that count as stored */
	socklen_t name_len;      /* armed msg_namelen */
	size_t control_len;      /* armed msg_controllen */
	bool src;                /* packets carry src */
	bool parse;              /* packets carry info, or a segment size */
};

/* extra: bytes that are received beyond the capacity, to see that a datagram was longer. On failure nothing is left allocated. */
int mmsg_open(struct mmsg *mmsg, const struct engine_conf *conf, unsigned extra, struct err *err);
void mmsg_close(struct mmsg *mmsg);

/* The rare parts of mmsg_collect. */
void mmsg_cut(struct mmsg *mmsg, unsigned i);
void mmsg_parse(struct mmsg *mmsg, unsigned i);

/* Packet i from a call that returns nothing but the real length. */
static ALWAYS_INLINE void mmsg_plain(struct mmsg *mmsg, unsigned i, uint32_t wire_len, uint16_t sock)
{
	struct packet *p = &mmsg->packet[i];

	p->len = MIN(wire_len, mmsg->capacity);
	p->wire_len = wire_len;
	p->flags = wire_len > mmsg->capacity ? PACKET_TRUNC : 0;
	p->sock = sock;
}

/* Packets [from, to) from headers that the kernel has filled (msg_len included: MSG_TRUNC was passed, so it is the real length). */
static ALWAYS_INLINE void mmsg_collect(struct mmsg *mmsg, unsigned from, unsigned to, uint16_t sock)
{
	for (unsigned i = from; i < to; i++) {
		struct mmsghdr *h = &mmsg->hdr[i];
		struct packet *p = &mmsg->packet[i];

		p->len = h->msg_len;
		p->wire_len = h->msg_len;
		p->flags = 0;
		p->sock = sock;
		if (UNLIKELY(h->msg_hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
			mmsg_cut(mmsg, i);
		if (mmsg->src)
			mmsg->name[i].len = h->msg_hdr.msg_namelen;
		if (mmsg->parse)
			mmsg_parse(mmsg, i);
		h->msg_hdr.msg_namelen = mmsg->name_len;
		h->msg_hdr.msg_controllen = mmsg->control_len;
		h->msg_hdr.msg_flags = 0;
	}
}

#endif
