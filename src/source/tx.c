/* SPDX-License-Identifier: MIT */
#include "source/tx.h"

#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "net/cmsg.h"

const struct tx_ops *const tx_table[] = {
	[TX_SENDMMSG] = &tx_sendmmsg, [TX_SENDMSG] = &tx_sendmsg, [TX_SENDTO] = &tx_sendto,
	[TX_SEND] = &tx_send,	      [TX_WRITE] = &tx_write,     [TX_SEGMENT] = &tx_segment,
	[TX_URING] = &tx_uring,       [TX_RAW] = &tx_raw,
};

static int init_names(struct tx *tx, const struct tx_conf *conf, struct err *err)
{
	if (!conf->addressed && !(conf->ops->caps & TX_ALWAYS))
		return 0;
	tx->name = calloc(tx->payload.slots, sizeof(*tx->name));
	if (!tx->name)
		return err_sys(err, ENOMEM, "memory for %u addresses", tx->payload.slots);
	for (unsigned i = 0; i < tx->payload.slots; i++)
		tx->name[i] = conf->dst;
	return 0;
}

static int init_messages(struct tx *tx, const struct tx_conf *conf, struct err *err)
{
	unsigned slots = tx->payload.slots;

	if (!(conf->ops->caps & TX_GSO))
		return 0;
	tx->message = calloc(slots, sizeof(*tx->message));
	tx->iov = calloc(slots, sizeof(*tx->iov));
	tx->timed = conf->timed;
	tx->control = calloc(tx->timed ? slots : 1, sizeof(*tx->control));
	if (!tx->message || !tx->iov || !tx->control)
		return err_sys(err, ENOMEM, "memory for %u messages", slots);
	for (unsigned i = 0; i < slots; i++) {
		tx->message[i].msg_hdr.msg_iov = &tx->iov[i];
		tx->message[i].msg_hdr.msg_iovlen = 1;
	}
	tx_layout(tx, conf->segments);
	return 0;
}

int tx_init(struct tx *tx, const struct tx_conf *conf, struct random *r, struct err *err)
{
	struct payload_conf payload = conf->payload;
	int ret;

	*tx = (struct tx){ .ops = conf->ops, .segments = 1, .stop = conf->stop };
	payload.slots = conf->batch * conf->segments;
	ret = payload_init(&tx->payload, &payload, r, err);
	if (!ret)
		ret = init_names(tx, conf, err);
	if (!ret)
		ret = init_messages(tx, conf, err);
	if (!ret && conf->ops->open)
		ret = conf->ops->open(tx, conf, err);
	return ret;
}

/* The time comes first: tx_time knows its place. Returns the bytes in use. */
static size_t put_control(const struct tx *tx, struct tx_control *control, unsigned segments)
{
	uint16_t size = (uint16_t)tx->payload.room;
	uint64_t time = 0;
	size_t used = 0;

	if (tx->timed)
		cmsg_put(control->data, sizeof(control->data), &used, SOL_SOCKET, SCM_TXTIME, &time, sizeof(time));
	if (segments > 1)
		cmsg_put(control->data, sizeof(control->data), &used, SOL_UDP, UDP_SEGMENT, &size, sizeof(size));
	return used;
}

void tx_time(struct tx *tx, unsigned slot, uint64_t ns)
{
	memcpy(tx->control[slot / tx->segments].data + CMSG_LEN(0), &ns, sizeof(ns));
}

void tx_layout(struct tx *tx, unsigned segments)
{
	tx->segments = segments;
	for (unsigned i = 0; i < tx->payload.slots / segments; i++) {
		unsigned slot = i * segments;
		struct msghdr *h = &tx->message[i].msg_hdr;
		struct tx_control *control = &tx->control[tx->timed ? i : 0];
		size_t used = put_control(tx, control, segments);

		tx->iov[i].iov_base = payload_slot(&tx->payload, slot);
		tx->iov[i].iov_len = segments > 1 ? segments * tx->payload.room : tx->payload.len[slot];
		h->msg_control = used ? control->data : NULL;
		h->msg_controllen = used;
		h->msg_name = tx->name ? &tx->name[slot].sa : NULL;
		h->msg_namelen = tx->name ? tx->name[slot].len : 0;
	}
}

static void draw_names(struct tx *tx, unsigned n, struct dst_walk *walk, struct random *r)
{
	for (unsigned slot = 0; slot < n; slot += tx->segments) {
		unsigned end = MIN(slot + tx->segments, n);

		dst_next(walk, r, end - slot, &tx->name[slot]);
		for (unsigned i = slot + 1; i < end; i++)
			tx->name[i] = tx->name[slot];
	}
}

void tx_draw(struct tx *tx, unsigned n, struct dst_walk *walk, struct random *r)
{
	if (walk->plan->n > 1)
		draw_names(tx, n, walk, r);
	if (tx->payload.fixed)
		return;
	payload_draw(&tx->payload, 0, n, r);
	for (unsigned i = 0; tx->iov && i < n; i++)
		tx->iov[i].iov_len = tx->payload.len[i];
}

unsigned tx_cut(struct tx *tx, unsigned first, unsigned end)
{
	unsigned last = (end - 1) / tx->segments;

	if (tx->segments > 1)
		tx->iov[last].iov_len = (end - last * tx->segments) * tx->payload.room;
	return last + 1 - first / tx->segments;
}

void tx_uncut(struct tx *tx, unsigned end)
{
	if (tx->segments > 1)
		tx->iov[(end - 1) / tx->segments].iov_len = tx->segments * tx->payload.room;
}

void tx_send_messages(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result)
{
	unsigned at = first / tx->segments, messages = tx_cut(tx, first, end);

	for (unsigned i = 0; i < messages && !result->error; i++) {
		result->calls++;
		if (sendmsg(flow->fd, &tx->message[at + i].msg_hdr, 0) < 0)
			result->error = errno;
		else
			result->messages++;
	}
	result->sent = MIN(result->messages * tx->segments, end - first);
	tx_uncut(tx, end);
}

void tx_free(struct tx *tx)
{
	if (tx->ops && tx->ops->close)
		tx->ops->close(tx);
	free(tx->message);
	free(tx->iov);
	free(tx->control);
	free(tx->name);
	payload_free(&tx->payload);
	*tx = (struct tx){ 0 };
}
