/* SPDX-License-Identifier: MIT */
#include "source/local_loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "counters/link.h"
#include "counters/mib.h"

static uint64_t sndbuf_errors(int family)
{
	struct mib m = { 0 };
	uint64_t value = LOCAL_LOSS_UNKNOWN;

	if (!mib_read(&m, NULL))
		mib_get(&m, family == AF_INET ? "UdpSndbufErrors" : "Udp6SndbufErrors", &value);
	mib_free(&m);
	return value;
}

void local_loss_read(const struct flows *flows, const struct source_conf *conf, struct local_loss *out)
{
	struct rtnl_link_stats64 link;
	struct qdisc q;

	*out = (struct local_loss){
		.sndbuf_errors = sndbuf_errors(addr_packet_family(&conf->dst)),
		.qdisc_drops = LOCAL_LOSS_UNKNOWN,
		.tx_dropped = LOCAL_LOSS_UNKNOWN,
	};
	if (flows_device(flows, conf, &out->index, NULL)) {
		out->index = 0;
		return;
	}
	if_indextoname(out->index, out->device);
	if (!qdisc_of(out->index, &q, NULL)) {
		memcpy(out->qdisc, q.root, sizeof(out->qdisc));
		out->qdisc_drops = q.drops_known ? q.drops : LOCAL_LOSS_UNKNOWN;
	}
	if (!link_read(out->index, &link, NULL))
		out->tx_dropped = link.tx_dropped;
}

static uint64_t growth(uint64_t now, uint64_t before)
{
	return now == LOCAL_LOSS_UNKNOWN || before == LOCAL_LOSS_UNKNOWN || now < before ? LOCAL_LOSS_UNKNOWN : now - before;
}

void local_loss_since(struct local_loss *now, const struct local_loss *before)
{
	bool same = now->index && now->index == before->index;

	now->sndbuf_errors = growth(now->sndbuf_errors, before->sndbuf_errors);
	now->tx_dropped = same ? growth(now->tx_dropped, before->tx_dropped) : LOCAL_LOSS_UNKNOWN;
	if (!same || strcmp(now->qdisc, before->qdisc) || now->qdisc_drops == LOCAL_LOSS_UNKNOWN || before->qdisc_drops == LOCAL_LOSS_UNKNOWN)
		now->qdisc_drops = LOCAL_LOSS_UNKNOWN;
	else
		now->qdisc_drops = (uint32_t)(now->qdisc_drops - before->qdisc_drops); /* it wraps at 32 bits */
}

static bool some(uint64_t n)
{
	return n && n != LOCAL_LOSS_UNKNOWN;
}

bool local_loss_sentence(const struct local_loss *l, bool told, char *buf, size_t size)
{
	if (!told && some(l->qdisc_drops))
		snprintf(buf, size, "the queueing discipline of %s (%s) dropped %" PRIu64 " packets after the kernel had accepted them (tc -s qdisc show dev %s): send slower, or "
			 "give it a longer queue; --recverr refuses them instead", l->device, l->qdisc, l->qdisc_drops, l->device);
	else if (some(l->tx_dropped))
		snprintf(buf, size, "the interface %s dropped %" PRIu64 " packets after the kernel had accepted them (ip -s link show dev %s)", l->device, l->tx_dropped, l->device);
	else if (!told && some(l->sndbuf_errors))
		snprintf(buf, size, "this host dropped %" PRIu64 " datagrams after the kernel had accepted them (SndbufErrors, of all programs in this network namespace)",
			 l->sndbuf_errors);
	else
		return false;
	return true;
}
