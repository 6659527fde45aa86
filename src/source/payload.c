/* SPDX-License-Identifier: MIT */
#include "source/payload.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "net/seqhdr.h"

int payload_init(struct payload *p, unsigned slots, size_t size, uint32_t run, bool pktgen,
		 struct err *err)
{
	*p = (struct payload){
		.slots = slots,
		.size = size,
		.run = run,
		.pktgen = pktgen,
		.stamped = pktgen || size >= SEQHDR_FULL,
		.data = malloc(MAX(slots * size, 1)),
	};
	if (!p->data)
		return err_sys(err, ENOMEM, "payload memory (%u datagrams of %zu bytes)", slots,
			       size);
	for (size_t at = 0, k = 0; at < slots * size; at++, k = k + 1 == size ? 0 : k + 1)
		p->data[at] = k;
	return 0;
}

static void number_pktgen(struct payload *p, unsigned first, unsigned end, uint64_t sequence,
			  uint64_t now)
{
	struct pktgenhdr header = {
		.sec = now / NSEC_PER_SEC,
		.usec = now % NSEC_PER_SEC / NSEC_PER_USEC,
	};

	for (unsigned i = first; i < end; i++) {
		header.sequence = sequence++;
		pktgenhdr_write(payload_slot(p, i), p->size, &header);
	}
}

void payload_number(struct payload *p, unsigned first, unsigned end, uint16_t stream,
		    uint64_t sequence)
{
	uint64_t now = p->stamped ? clock_wall() : 0;
	struct seqhdr header = {
		.kind = SEQHDR_DATA,
		.stamped = p->stamped,
		.run = p->run,
		.stream = stream,
		.stamp_ns = now,
	};

	if (p->pktgen) {
		number_pktgen(p, first, end, sequence, now);
		return;
	}
	if (p->size < SEQHDR_SHORT)
		return;
	for (unsigned i = first; i < end; i++) {
		header.sequence = sequence++;
		seqhdr_write(payload_slot(p, i), p->size, &header);
	}
}

void payload_free(struct payload *p)
{
	free(p->data);
	p->data = NULL;
}
