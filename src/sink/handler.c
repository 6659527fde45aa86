/* SPDX-License-Identifier: MIT */
#include "sink/handler.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

unsigned handler_bits(const struct sink_conf *conf, const struct engine_ops *ops, bool dual, unsigned workers)
{
	unsigned bits = 0;
	bool src = ops->caps & ENGINE_SRC, control = ops->caps & ENGINE_CMSG;

	bits |= dual && src ? HANDLER_FAMILY : 0;
	bits |= workers > 1 && src ? HANDLER_FLOWS : 0;
	bits |= conf->check_sender ? HANDLER_SENDER : 0;
	bits |= conf->check_sequence ? HANDLER_SEQUENCE : 0;
	bits |= conf->check_pktgen ? HANDLER_PKTGEN : 0;
	bits |= conf->by_destination ? HANDLER_DEST : 0;
	bits |= conf->recv_tos || conf->rxq_ovfl || (conf->recv_ttl && control) ? HANDLER_FIELDS : 0;
	bits |= conf->connect_each ? HANDLER_EACH : 0;
	bits |= conf->work ? HANDLER_WORK : 0;
	bits |= conf->ledger ? HANDLER_TRAILERS : 0;
	return bits;
}

int handler_open(struct handler *h, unsigned bits, const struct sink_conf *conf, const struct addr *sender,
		 const struct engine_ops *ops, struct sock_set *set, const struct engine_slot *slot,
		 atomic_uint_least64_t *run)
{
	*h = (struct handler){ .bits = bits, .conf = conf, .sender = *sender, .pktgen.level = conf->check_pktgen };
	h->flows = bits & HANDLER_FLOWS ? calloc(1, sizeof(*h->flows)) : NULL;
	h->sequence = bits & HANDLER_SEQUENCE ? sequence_new(run) : NULL;
	h->destinations = bits & HANDLER_DEST ? calloc(1, sizeof(*h->destinations)) : NULL;
	h->fields = bits & HANDLER_FIELDS ? calloc(1, sizeof(*h->fields)) : NULL;
	h->trailers = bits & HANDLER_TRAILERS ? calloc(1, sizeof(*h->trailers)) : NULL;
	if ((bits & HANDLER_FLOWS && !h->flows) || (bits & HANDLER_SEQUENCE && !h->sequence) ||
	    (bits & HANDLER_DEST && !h->destinations) || (bits & HANDLER_FIELDS && !h->fields) || (bits & HANDLER_TRAILERS && !h->trailers) ||
	    (bits & HANDLER_EACH && each_open(&h->each, ops, set, slot, (unsigned)conf->max_flows))) {
		handler_close(h);
		return -ENOMEM;
	}
	return 0;
}

void handler_close(struct handler *h)
{
	free(h->flows);
	sequence_free(h->sequence);
	free(h->destinations);
	free(h->fields);
	free(h->trailers);
	each_close(&h->each);
	*h = (struct handler){ 0 };
}

/* Takes one datagram out of what the worker has counted for it. */
static void uncount(struct stats *stats, uint32_t len, uint32_t wire_len)
{
	stats->datagrams--;
	stats->bytes -= len;
	stats->wire_bytes -= wire_len;
	stats->empty -= wire_len == 0;
}

/* A packet of which nothing is ours: that it was cut is no matter either. */
static void uncount_flags(struct stats *stats, const struct packet *p)
{
	stats->truncated -= p->flags & PACKET_TRUNC ? 1 : 0;
	stats->ctrunc -= p->flags & PACKET_CTRUNC ? 1 : 0;
}

/* All datagrams of a packet from another host. */
static void foreign_packet(struct stats *stats, const struct packet *p)
{
	uint32_t n = packet_datagrams(p);

	stats->foreign += n;
	stats->datagrams -= n - 1;
	uncount(stats, p->len, p->wire_len);
	uncount_flags(stats, p);
}

static void fields(struct handler_fields *f, const struct cmsg_info *info)
{
	if (info->valid & CMSG_WANT_TOS)
		f->tos[info->tos]++;
	if (info->valid & CMSG_WANT_TTL)
		f->ttl[info->ttl & 255]++;
	if (info->valid & CMSG_WANT_DROPS && info->drops > f->rxq_ovfl)
		f->rxq_ovfl = info->drops;
	f->malformed += info->malformed;
}

/* Is this datagram of the run? Foreign ones and trailers are not. */
static bool is_of_run(struct handler *h, const void *payload, uint32_t len, uint32_t wire_len, struct stats *stats)
{
	uint64_t before = stats->trailers;
	bool ours = !(h->bits & HANDLER_SEQUENCE) || sequence_check(h->sequence, payload, len, stats);

	if (!(h->bits & HANDLER_TRAILERS) || !trailers_fits(wire_len))
		return ours;
	if (ours && trailers_take(h->trailers, payload, len)) {
		stats->trailers++;
		return false;
	}
	if (stats->trailers != before)
		trailers_take(h->trailers, payload, len);
	return ours;
}

/* Can one of these datagrams be a trailer? */
static bool may_hold_trailer(const struct packet *p)
{
	return p->segment ? trailers_fits(p->segment) || trailers_fits(p->wire_len % p->segment) : trailers_fits(p->wire_len);
}

/* What is ours of a packet. */
struct share {
	uint32_t datagrams, wire_len;
};

/* Checks each datagram; foreign ones and trailers are taken out of *share. */
static void payloads(struct handler *h, const struct packet *p, struct stats *stats, struct share *share)
{
	struct segment s;

	segment_start(&s, p);
	while (segment_next(&s)) {
		uint32_t wire_len = p->segment ? s.len : p->wire_len;

		if (!is_of_run(h, s.data, s.len, wire_len, stats)) {
			uncount(stats, s.len, wire_len);
			share->datagrams--;
			share->wire_len -= wire_len;
		} else if (h->bits & HANDLER_PKTGEN) {
			pktgen_check(&h->pktgen, s.data, s.len, stats);
		}
	}
	if (!share->datagrams)
		uncount_flags(stats, p);
}

/* Foreign datagrams first: nothing of them may show in a view. */
static void one(struct handler *h, struct engine *engine, const struct packet *p, struct stats *stats)
{
	struct share ours = { packet_datagrams(p), p->wire_len };

	if (h->bits & HANDLER_SENDER && !(p->src && addr_equal_host(p->src, &h->sender))) {
		foreign_packet(stats, p);
		return;
	}
	if (h->bits & (HANDLER_SEQUENCE | HANDLER_PKTGEN) || (h->bits & HANDLER_TRAILERS && may_hold_trailer(p)))
		payloads(h, p, stats, &ours);
	if (!ours.datagrams)
		return;
	if (h->bits & HANDLER_FAMILY && p->src) {
		if (addr_packet_family(p->src) == AF_INET)
			stats->ipv4 += ours.datagrams;
		else
			stats->ipv6 += ours.datagrams;
	}
	if (h->bits & HANDLER_FLOWS && p->src)
		flows_see(h->flows, addr_hash(p->src));
	if (h->bits & HANDLER_DEST && p->info && p->info->valid & CMSG_WANT_PKTINFO)
		destination_count(h->destinations, &p->info->dst, ours.datagrams, ours.wire_len);
	if (h->bits & HANDLER_FIELDS && p->info)
		fields(h->fields, p->info);
	if (h->bits & HANDLER_EACH)
		each_see(&h->each, engine, p);
}

/* A server's work on each datagram: the clock is read in a loop because a loop of fixed length would change with the machine. */
static void work(const struct batch *batch, uint64_t ns)
{
	uint64_t end = clock_mono();

	for (unsigned i = 0; i < batch->n; i++)
		end += ns * packet_datagrams(&batch->packets[i]);

	while (clock_mono() < end)
		;
}

void handler_batch(struct handler *h, struct engine *engine, const struct batch *batch, struct stats *stats)
{
	bool trailers_only = !(h->bits & ~(unsigned)(HANDLER_WORK | HANDLER_TRAILERS)); /* most packets cannot be one */

	for (unsigned i = 0; h->bits & ~(unsigned)HANDLER_WORK && i < batch->n; i++) {
		const struct packet *p = &batch->packets[i];

		if (!(p->flags & PACKET_BAD) && (!trailers_only || may_hold_trailer(p)))
			one(h, engine, p, stats);
	}
	if (h->bits & HANDLER_WORK)
		work(batch, h->conf->work);
}
