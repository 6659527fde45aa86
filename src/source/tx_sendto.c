/* SPDX-License-Identifier: MIT */
/* sendto(2) with the address in each call: the kernel copies it and looks the route up for each datagram, although
 * the socket is connected (udp_sendmsg: an address given is used). That is the cost this sender is there to show. */
#include "source/tx.h"

static ssize_t send_one(const struct tx *tx, int fd, unsigned slot)
{
	return sendto(fd, payload_slot(&tx->payload, slot), tx->payload.len[slot], 0, &tx->name[slot].sa,
		      tx->name[slot].len);
}

static void send_slots(struct tx *tx, struct flow *flow, unsigned first, unsigned end,
		       struct tx_result *result)
{
	tx_each(tx, flow, first, end, result, send_one);
}

const struct tx_ops tx_sendto = { .name = "sendto", .caps = TX_ADDRESS | TX_ALWAYS, .send = send_slots };
