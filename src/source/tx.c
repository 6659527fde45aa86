/* SPDX-License-Identifier: MIT */
#include "source/tx.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>

#include "net/cmsg.h"

const struct tx_ops *const tx_table[] = {
	[TX_SENDMMSG] = &tx_sendmmsg, [TX_SENDMSG] = &tx_sendmsg, [TX_SENDTO] = &tx_sendto,
	[TX_SEND] = &tx_send,	      [TX_WRITE] = &tx_write,
};

int tx_init(struct tx *tx, const struct tx_conf *conf, struct err *err)
{
	unsigned slots = conf->batch * conf->segments;
	int ret;

	*tx = (struct tx){ .ops = conf->ops, .dst = conf->dst, .segments = 1 };
	ret = payload_init(&tx->payload, slots, conf->size, conf->run, conf->pktgen, err);
	if (ret)
		return ret;
	if (!(conf->ops->caps & TX_GSO))
		return 0;
	tx->message = calloc(slots, sizeof(*tx->message));
	tx->iov = calloc(slots, sizeof(*tx->iov));
	if (!tx->message || !tx->iov)
		return err_sys(err, ENOMEM, "memory for %u messages", slots);
	for (unsigned i = 0; i < slots; i++) {
		tx->message[i].msg_hdr.msg_iov = &tx->iov[i];
		tx->message[i].msg_hdr.msg_iovlen = 1;
	}
	tx_layout(tx, conf->segments);
	return 0;
}

void tx_layout(struct tx *tx, unsigned segments)
{
	uint16_t size = tx->payload.size;
	size_t used = 0;

	if (segments > 1)
		cmsg_put(tx->control, sizeof(tx->control), &used, SOL_UDP, UDP_SEGMENT, &size,
			 sizeof(size));
	tx->segments = segments;
	for (unsigned i = 0; i < tx->payload.slots / segments; i++) {
		tx->iov[i].iov_base = payload_slot(&tx->payload, i * segments);
		tx->iov[i].iov_len = segments * tx->payload.size;
		tx->message[i].msg_hdr.msg_control = used ? tx->control : NULL;
		tx->message[i].msg_hdr.msg_controllen = used;
	}
}

unsigned tx_cut(struct tx *tx, unsigned first, unsigned end)
{
	unsigned last = (end - 1) / tx->segments;

	tx->iov[last].iov_len = (end - last * tx->segments) * tx->payload.size;
	return last + 1 - first / tx->segments;
}

void tx_uncut(struct tx *tx, unsigned end)
{
	tx->iov[(end - 1) / tx->segments].iov_len = tx->segments * tx->payload.size;
}

void tx_free(struct tx *tx)
{
	free(tx->message);
	free(tx->iov);
	payload_free(&tx->payload);
	*tx = (struct tx){ 0 };
}
