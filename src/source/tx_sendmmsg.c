/* SPDX-License-Identifier: MIT */
/* sendmmsg(2): the whole batch in one call. The kernel takes at most 1024 messages (UIO_MAXIOV) and may stop
 * anywhere: the caller comes back with the rest. */
#include "source/tx.h"

void tx_send_batch(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result)
{
	unsigned messages = tx_cut(tx, first, end);
	int n = sendmmsg(flow->fd, &tx->message[first / tx->segments], messages, 0);

	result->calls = 1;
	if (n <= 0) {
		/* 0 is not documented; as an error it cannot make the caller turn for ever. */
		result->error = n ? errno : EAGAIN;
	} else {
		result->messages = n;
		result->sent = MIN(n * tx->segments, end - first);
	}
	tx_uncut(tx, end);
}

const struct tx_ops tx_sendmmsg = { .name = "sendmmsg",
				    .caps = TX_GSO | TX_BATCH | TX_ADDRESS,
				    .send = tx_send_batch };
