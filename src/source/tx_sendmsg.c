/* SPDX-License-Identifier: MIT */
/* sendmsg(2): one message per call; under GSO a message is several datagrams. */
#include "source/tx.h"

static void send_slots(struct tx *tx, int fd, unsigned first, unsigned end,
		       struct tx_result *result)
{
	unsigned at = first / tx->segments, messages = tx_cut(tx, first, end);

	for (unsigned i = 0; i < messages && !result->error; i++) {
		result->calls++;
		if (sendmsg(fd, &tx->message[at + i].msg_hdr, 0) < 0)
			result->error = errno;
		else
			result->messages++;
	}
	result->sent = MIN(result->messages * tx->segments, end - first);
	tx_uncut(tx, end);
}

const struct tx_ops tx_sendmsg = { .name = "sendmsg", .caps = TX_GSO, .send = send_slots };
