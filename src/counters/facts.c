/* SPDX-License-Identifier: MIT */
#include "counters/facts.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* Which counters make up a fact, by family; "Udp@" is UDP or UDP-Lite. */
static const struct source {
	size_t offset;
	const char *name[2];
} sources[] = {
#define ROW(fact, v4, v6) { offsetof(struct ledger_counters, fact), { v4, v6 } }
	ROW(in_receives, "IpInReceives", "Ip6InReceives"),
	ROW(arrived, "IpExtInNoECTPkts", "Ip6InNoECTPkts"),
	ROW(arrived, "IpExtInECT0Pkts", "Ip6InECT0Pkts"),
	ROW(arrived, "IpExtInECT1Pkts", "Ip6InECT1Pkts"),
	ROW(arrived, "IpExtInCEPkts", "Ip6InCEPkts"),
	ROW(icmp, "IcmpInMsgs", "Icmp6InMsgs"),
	ROW(ip_errors, "IpInHdrErrors", "Ip6InHdrErrors"),
	ROW(ip_errors, "IpInAddrErrors", "Ip6InAddrErrors"),
	ROW(ip_errors, "IpInUnknownProtos", "Ip6InUnknownProtos"),
	ROW(ip_errors, "IpInDiscards", "Ip6InDiscards"),
	ROW(ip_errors, "IpExtInNoRoutes", "Ip6InNoRoutes"),
	ROW(ip_errors, "IpExtInTruncatedPkts", "Ip6InTruncatedPkts"),
	ROW(reasm_reqds, "IpReasmReqds", "Ip6ReasmReqds"),
	ROW(reasm_oks, "IpReasmOKs", "Ip6ReasmOKs"),
	ROW(reasm_fails, "IpReasmFails", "Ip6ReasmFails"),
	ROW(reasm_timeout, "IpReasmTimeout", "Ip6ReasmTimeout"),
	ROW(in_datagrams, "Udp@InDatagrams", "Udp@6InDatagrams"),
	ROW(no_ports, "Udp@NoPorts", "Udp@6NoPorts"),
	ROW(in_errors, "Udp@InErrors", "Udp@6InErrors"),
	ROW(rcvbuf_errors, "Udp@RcvbufErrors", "Udp@6RcvbufErrors"),
	ROW(csum_errors, "Udp@InCsumErrors", "Udp@6InCsumErrors"),
	ROW(mem_errors, "Udp@MemErrors", "Udp@6MemErrors"),
#undef ROW
};

/* The kernel's counters are unsigned long: where that is 32 bits wide they wrap, else one that went backwards was reset. */
static uint64_t since(uint64_t now, uint64_t before)
{
	if (now == LEDGER_UNKNOWN || before == LEDGER_UNKNOWN)
		return LEDGER_UNKNOWN;
	if (now >= before)
		return now - before;
	return sizeof(long) == 4 && before <= UINT32_MAX ? (uint32_t)(now - before) : LEDGER_UNKNOWN;
}

static uint64_t increment(const struct facts_reading *now, const struct facts_reading *before, const char *name)
{
	uint64_t a, b;

	return mib_get(&now->mib, name, &a) && mib_get(&before->mib, name, &b) ? since(a, b) : LEDGER_UNKNOWN;
}

static const char *expand(const char *name, bool lite, char *buf, size_t size)
{
	const char *at = strchr(name, '@');

	if (!at)
		return name;
	snprintf(buf, size, "%.*s%s%s", (int)(at - name), name, lite ? "Lite" : "", at + 1);
	return buf;
}

static void counters_since(const struct facts_reading *now, const struct facts_reading *before, unsigned families, bool lite,
			   struct ledger_counters *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < ARRAY_SIZE(sources); i++) {
		uint64_t *fact = (uint64_t *)((char *)out + sources[i].offset);

		for (unsigned family = 0; family < 2; family++) {
			char name[64];
			uint64_t n;

			if (!(families & (family ? FACTS_V6 : FACTS_V4)))
				continue;
			n = increment(now, before, expand(sources[i].name[family], lite, name, sizeof(name)));
			*fact = n == LEDGER_UNKNOWN || *fact == LEDGER_UNKNOWN ? LEDGER_UNKNOWN : *fact + n;
		}
	}
}

/* A level: what was there before is not of this window. Fewer than before counts as none. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	if (now == SOCKSTAT_UNKNOWN || before == SOCKSTAT_UNKNOWN)
		return LEDGER_UNKNOWN;
	return now > before ? now - before : 0;
}

static uint64_t reassembling(const struct facts_reading *now, const struct facts_reading *before, unsigned families)
{
	uint64_t v4 = families & FACTS_V4 ? grown(now->sockstat.frag, before->sockstat.frag) : 0;
	uint64_t v6 = families & FACTS_V6 ? grown(now->sockstat.frag6, before->sockstat.frag6) : 0;

	return v4 == LEDGER_UNKNOWN || v6 == LEDGER_UNKNOWN ? LEDGER_UNKNOWN : v4 + v6;
}

/* What the backlogs of all CPUs had no room for. */
static uint64_t softnet_dropped(const struct facts_reading *now, const struct facts_reading *before)
{
	struct softnet grown = { 0 };
	uint64_t n = LEDGER_UNKNOWN;

	if (now->has_softnet && before->has_softnet && !softnet_since(&before->softnet, &now->softnet, &grown))
		n = softnet_sum(&grown, SOFTNET_DROPPED);
	softnet_free(&grown);
	return n == SOFTNET_UNKNOWN ? LEDGER_UNKNOWN : n;
}

int facts_read(struct facts_reading *r, struct err *err)
{
	int ret = mib_read(&r->mib, err);

	if (ret)
		return ret;
	sockstat_read(&r->sockstat, &r->text);
	r->has_link = !link_lost(&r->link, NULL);
	r->has_softnet = !softnet_read(&r->softnet, NULL);
	return 0;
}

void facts_since(const struct facts_reading *now, const struct facts_reading *before, unsigned families, bool lite, struct ledger_facts *out)
{
	counters_since(now, before, families, lite, &out->mib);
	out->tcp = increment(now, before, "TcpInSegs");
	out->rp_filter = families & FACTS_V4 ? increment(now, before, "TcpExtIPReversePathFilter") : 0;
	out->reassembling = reassembling(now, before, families);
	out->fragmented = out->mib.reasm_reqds != LEDGER_UNKNOWN && out->mib.reasm_reqds > 0;
	if (now->has_link && before->has_link) {
		out->link_errors = since(now->link.errors, before->link.errors);
		out->link_dropped = since(now->link.dropped, before->link.dropped);
		out->xdp = now->link.xdp;
	}
	out->softnet_dropped = softnet_dropped(now, before);
}

void facts_free(struct facts_reading *r)
{
	mib_free(&r->mib);
	softnet_free(&r->softnet);
	proc_free(&r->text);
}
