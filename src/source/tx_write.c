/* SPDX-License-Identifier: MIT */
/* write(2): the smallest call, no flags; a connected socket. */
#include <unistd.h>

#include "source/tx.h"

static ssize_t send_one(const struct tx *tx, int fd, unsigned slot)
{
	return write(fd, payload_slot(&tx->payload, slot), tx->payload.len[slot]);
}

static void send_slots(struct tx *tx, struct flow *flow, unsigned first, unsigned end,
		       struct tx_result *result)
{
	tx_each(tx, flow, first, end, result, send_one);
}

const struct tx_ops tx_write = { .name = "write", .send = send_slots };
