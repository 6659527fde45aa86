/* SPDX-License-Identifier: MIT */
#include "source/payload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const struct fill pattern = { .kind = FILL_PATTERN };

int payload_init(struct payload *p, const struct payload_conf *conf, struct random *r, struct err *err)
{
	const struct fill *fill = conf->fill ? conf->fill : &pattern;
	size_t stamp_from = conf->header == PAYLOAD_PKTGEN ? PKTGENHDR_SIZE : SEQHDR_FULL;

	*p = (struct payload){
		.conf = *conf,
		.slots = conf->slots,
		.room = conf->size->high,
		.fixed = size_is_fixed(conf->size),
		.stamped = conf->header != PAYLOAD_PLAIN && conf->size->high >= stamp_from,
		.data = malloc(MAX((size_t)conf->slots * conf->size->high, 1)),
		.len = calloc(conf->slots, sizeof(*p->len)),
	};
	if (!p->data || !p->len)
		return err_sys(err, ENOMEM, "payload memory (%u datagrams of %zu bytes)", p->slots, p->room);
	for (unsigned i = 0; i < p->slots; i++) {
		fill_write(fill, r, payload_slot(p, i), p->room);
		p->len[i] = (uint16_t)p->room;
	}
	memcpy(p->head, p->data, MIN(sizeof(p->head), p->room));
	return 0;
}

void payload_copy(struct payload *p, unsigned slot, uint64_t k)
{
	const struct messages *m = p->conf.messages;

	p->len[slot] = messages_size(m, k);
	memcpy(payload_slot(p, slot), messages_data(m, k), p->len[slot]);
}

void payload_draw(struct payload *p, unsigned first, unsigned end, struct random *r)
{
	if (p->fixed || p->conf.messages)
		return;
	for (unsigned i = first; i < end; i++)
		p->len[i] = size_draw(p->conf.size, r);
}

static uint64_t number_of(const struct payload *p, uint64_t accepted)
{
	return p->conf.impair ? impair_number(p->conf.impair, accepted) : accepted;
}

static void number_pktgen(struct payload *p, unsigned first, unsigned end, uint64_t accepted, uint64_t now)
{
	struct pktgenhdr header = {
		.sec = (uint32_t)(now / NSEC_PER_SEC),
		.usec = (uint32_t)(now % NSEC_PER_SEC / NSEC_PER_USEC),
	};

	for (unsigned i = first; i < end; i++) {
		header.sequence = (uint32_t)number_of(p, accepted++);
		pktgenhdr_write(payload_slot(p, i), p->len[i], &header);
	}
}

static void number_sequence(struct payload *p, unsigned first, unsigned end, uint16_t stream, uint64_t accepted, uint64_t now)
{
	struct seqhdr header = {
		.kind = SEQHDR_DATA,
		.stamped = p->stamped,
		.run = p->conf.run,
		.stream = stream,
		.stamp_ns = now,
	};

	for (unsigned i = first; i < end; i++) {
		size_t written, room = MIN(p->len[i], sizeof(p->head));

		header.sequence = number_of(p, accepted++);
		written = seqhdr_write(payload_slot(p, i), p->len[i], &header);
		/* A shorter header than before, or none: what an earlier datagram left there goes. */
		if (written < room)
			memcpy(payload_slot(p, i) + written, p->head + written, room - written);
	}
}

void payload_number(struct payload *p, unsigned first, unsigned end, uint16_t stream, uint64_t accepted)
{
	uint64_t now = p->stamped ? clock_wall() : 0;

	if (p->conf.header == PAYLOAD_PKTGEN)
		number_pktgen(p, first, end, accepted, now);
	else if (p->conf.header == PAYLOAD_SEQUENCE && (!p->fixed || p->room >= SEQHDR_SHORT))
		number_sequence(p, first, end, stream, accepted, now);
}

void payload_free(struct payload *p)
{
	free(p->data);
	free(p->len);
	*p = (struct payload){ 0 };
}
