/* SPDX-License-Identifier: MIT */
/* Whole IP packets by sendmmsg(2) on a raw socket: any source, fragments of our own, packets that are wrong on purpose.
 *
 * What is sent are packets, what is counted are datagrams, and a call may end between two fragments of one. So each call of send makes the packets anew,
 * from the datagram on that is not complete, without those that the kernel has. A datagram of which a fragment is refused is refused as a whole, and its id
 * is not used again. */
#include <stdlib.h>

#include "source/flows.h"
#include "source/tx.h"

#define MOST 1024 /* UIO_MAXIOV: messages that sendmmsg(2) takes */

struct packet {
	struct iovec iov[2];   /* headers, payload */
	struct sockaddr_in6 name; /* or sockaddr_in */
	unsigned char head[WIRE_IP_MOST + WIRE_UDP];
	bool fragment;
	/* of a datagram's last packet */
	bool last, incomplete;
	unsigned missing;      /* bytes of payload that were not sent */
	enum bad_kind bad;
};

struct window {
	const struct raw *raw;
	struct packet *packet;   /* owned */
	struct mmsghdr *message; /* owned; the same number */
	unsigned room, n;
	struct fragments plan;
	unsigned done;           /* packets of the datagram at hand that the kernel has */
};

static int open_window(struct tx *tx, const struct tx_conf *conf, struct err *err)
{
	const struct fragments_conf *fragments = conf->raw->fragments;
	size_t largest = tx->payload.room;
	struct window *w = calloc(1, sizeof(*w));

	tx->own = w;
	if (w) {
		w->raw = conf->raw;
		w->room = (unsigned)MIN((uint64_t)tx->payload.slots * fragments_most(fragments, largest), MOST);
		w->packet = calloc(w->room, sizeof(*w->packet));
		w->message = calloc(w->room, sizeof(*w->message));
	}
	if (!w || !w->packet || !w->message || fragments_init(&w->plan, fragments, largest))
		return err_sys(err, ENOMEM, "memory for packets");
	for (unsigned i = 0; i < w->room; i++) {
		struct packet *p = &w->packet[i];

		p->iov[0].iov_base = p->head;
		w->message[i].msg_hdr = (struct msghdr){ .msg_name = &p->name, .msg_iov = p->iov, .msg_iovlen = ARRAY_SIZE(p->iov) };
	}
	return 0;
}

static void close_window(struct tx *tx)
{
	struct window *w = tx->own;

	if (!w)
		return;
	fragments_free(&w->plan);
	free(w->packet);
	free(w->message);
	free(w);
}

static void add_packet(struct window *w, const struct raw_datagram *d, const struct wire_part *part, const struct addr *to, unsigned char *payload)
{
	struct packet *p = &w->packet[w->n];

	w->message[w->n++].msg_hdr.msg_namelen = raw_name(&p->name, to);
	p->iov[0].iov_len = raw_head(p->head, d, part);
	p->iov[1].iov_base = payload + (part->offset ? part->offset - WIRE_UDP : 0);
	p->iov[1].iov_len = wire_payload(part);
	p->fragment = wire_is_fragment(part);
	p->last = false;
}

/* The packets of one slot behind the first `skip`, as many as there is room for. ahead: datagrams of this call before it. */
static void add_datagram(struct window *w, const struct tx *tx, const struct flow *flow, unsigned slot, unsigned ahead, unsigned skip)
{
	const struct raw *raw = w->raw;
	const size_t size = tx->payload.len[slot];
	const uint64_t index = flow->sequence + ahead;
	const enum bad_kind bad = bad_due(raw->bad, index);
	unsigned char *payload = payload_slot(&tx->payload, slot);
	struct raw_datagram d;
	unsigned i;

	raw_make(&d, raw, flow, ahead, &tx->name[slot], payload, size, bad);
	fragments_plan(&w->plan, raw->fragments, size, index, d.random);
	if (bad == BAD_TRUNCATED) {
		w->plan.part[0].len = BAD_TRUNCATED_TO;
		w->plan.missing = (unsigned)size;
	}
	for (i = skip; i < w->plan.n && w->n < w->room; i++)
		add_packet(w, &d, &w->plan.part[i], &tx->name[slot], payload);
	if (i == w->plan.n) {
		struct packet *p = &w->packet[w->n - 1];

		p->last = true;
		p->incomplete = w->plan.incomplete;
		p->missing = w->plan.missing;
		p->bad = bad;
	}
}

/* The kernel has taken the first n. */
static void account(struct window *w, unsigned n, struct tx_result *result)
{
	result->messages = n;
	for (unsigned i = 0; i < n; i++) {
		const struct packet *p = &w->packet[i];

		result->fragments += p->fragment;
		w->done++;
		if (!p->last)
			continue;
		w->done = 0;
		result->sent++;
		result->incomplete += p->incomplete;
		result->missing += p->missing;
		if (p->bad != BAD_NONE)
			result->bad[p->bad]++;
	}
}

static void send_packets(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result)
{
	struct window *w = tx->own;
	int n;

	w->n = 0;
	for (unsigned slot = first; slot < end && w->n < w->room; slot++)
		add_datagram(w, tx, flow, slot, slot - first, slot == first ? w->done : 0);
	n = sendmmsg(flow->fd, w->message, w->n, 0);
	result->calls = 1;
	if (n > 0) {
		account(w, (unsigned)n, result);
		flow->ids += result->sent;
		if (!result->sent)
			result->error = EAGAIN; /* the first one goes on with the next call */
		return;
	}
	result->error = n ? errno : EAGAIN; /* 0: as in tx_send_batch */
	if (result->error == EINTR || result->error == EAGAIN)
		return;
	w->done = 0;
	flow->ids++;
}

const struct tx_ops tx_raw = {
	.name = "raw",
	.caps = TX_BATCH | TX_ADDRESS | TX_ALWAYS | TX_PACKETS,
	.open = open_window,
	.close = close_window,
	.send = send_packets,
};
