/* SPDX-License-Identifier: MIT */
/* send(2) on a connected socket. */
#include "source/tx.h"

static ssize_t send_one(const struct tx *tx, int fd, unsigned slot)
{
	return send(fd, payload_slot(&tx->payload, slot), tx->payload.len[slot], 0);
}

static void send_slots(struct tx *tx, struct flow *flow, unsigned first, unsigned end,
		       struct tx_result *result)
{
	tx_each(tx, flow, first, end, result, send_one);
}

const struct tx_ops tx_send = { .name = "send", .send = send_slots };
