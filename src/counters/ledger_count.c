/* SPDX-License-Identifier: MIT */
#include "counters/ledger_count.h"

#include "base/util.h"

static const struct ledger_count nothing = { 0, LEDGER_UNKNOWN };

/* InErrors that have no counter of their own: socket filters and wrong lengths. Most: where InErrors does not have MemErrors in it. */
static uint64_t nameless_most(const struct ledger_counters *m)
{
	return ledger_minus(m->in_errors, ledger_plus(m->rcvbuf_errors, m->csum_errors));
}

static uint64_t nameless(const struct ledger_counters *m)
{
	uint64_t most = nameless_most(m);

	return ledger_known(most) && most < m->mem_errors ? most : ledger_minus(most, m->mem_errors);
}

bool ledger_count_alone(const struct ledger *l)
{
	const struct ledger_counters *m = &l->facts.mib;
	uint64_t least = ledger_plus(m->rcvbuf_errors, m->mem_errors), drops = l->facts.socket_drops;

	return l->others == 0 && ledger_known(least) && ledger_known(m->in_errors) && least <= drops;
}

/* Drops of our sockets that the namespace has not counted at all: Linux 6.18 does so when udp_mem runs out (seen: reason PROTO_MEM, no MIB). */
static uint64_t uncounted(const struct ledger_facts *f)
{
	return ledger_minus(f->socket_drops, ledger_plus(f->mib.in_errors, f->mib.mem_errors));
}

/* The drops of our sockets, told apart by the counters of a namespace that nobody else uses. */
static void own_counters(struct ledger_count *c, const struct ledger_facts *f)
{
	const struct ledger_counters *m = &f->mib;
	uint64_t mem = m->mem_errors + uncounted(f);
	uint64_t rest = ledger_minus(f->socket_drops, m->rcvbuf_errors + mem); /* filters, and wrong checksums found late */
	uint64_t others = nameless(m), most = MIN(nameless_most(m), rest), least = MIN(most, ledger_minus(rest, m->csum_errors));

	c[LEDGER_rcvbuf] = ledger_just(m->rcvbuf_errors);
	c[LEDGER_mem] = ledger_just(mem);
	c[LEDGER_csum] = ledger_just(m->csum_errors);
	c[LEDGER_no_port] = ledger_just(m->no_ports);
	if (!ledger_known(others)) { /* this kernel has fewer counters */
		c[LEDGER_filter] = c[LEDGER_header] = m->in_errors == m->rcvbuf_errors ? ledger_just(0) : nothing;
		return;
	}
	c[LEDGER_filter] = (struct ledger_count){ least, most };
	c[LEDGER_header] = (struct ledger_count){ ledger_minus(others, most), ledger_minus(others, least) };
}

/* Other sockets use it as well: of what the namespace counted between nothing and all was ours. */
static void shared_counters(struct ledger_count *c, const struct ledger_facts *f)
{
	const struct ledger_counters *m = &f->mib;
	uint64_t others = ledger_plus(ledger_plus(ledger_minus(m->in_errors, m->rcvbuf_errors), m->mem_errors), uncounted(f)), drops = f->socket_drops;

	c[LEDGER_mem].high = MIN(ledger_plus(m->mem_errors, uncounted(f)), drops);
	c[LEDGER_filter].high = MIN(nameless_most(m), drops);
	c[LEDGER_csum].high = m->csum_errors;
	c[LEDGER_header].high = nameless_most(m);
	c[LEDGER_no_port].high = m->no_ports;
	c[LEDGER_rcvbuf].high = MIN(drops, m->rcvbuf_errors);
	c[LEDGER_rcvbuf].low = ledger_known(others) ? ledger_minus(drops, others) : m->in_errors == m->rcvbuf_errors ? c[LEDGER_rcvbuf].high : 0;
}

static struct ledger_count reassembly(const struct ledger_counters *m)
{
	if (!ledger_known(m->reasm_fails))
		return nothing;
	/* One failure is one datagram at the time-out, else one fragment: at least one datagram. */
	if (m->reasm_fails == m->reasm_timeout)
		return ledger_just(m->reasm_fails);
	return (struct ledger_count){ ledger_known(m->reasm_timeout) && m->reasm_timeout < m->reasm_fails ? MAX(m->reasm_timeout, 1) : 1, m->reasm_fails };
}

/* A packet dropped at the backlog is in softnet_dropped of the host and in rx_dropped of its interface, perhaps in tx_dropped of the sender. */
static void interfaces(struct ledger_count *c, const struct ledger_facts *f)
{
	uint64_t here = ledger_plus(f->link_errors, ledger_minus(f->link_dropped, f->softnet_dropped)), all = ledger_plus(f->link_errors, f->link_dropped);

	c[LEDGER_backlog] = ledger_just(ledger_known(f->link_dropped) && ledger_known(f->softnet_dropped) ? MIN(f->softnet_dropped, f->link_dropped) : LEDGER_UNKNOWN);
	if (f->softnet_dropped == 0) /* where the interfaces do not tell */
		c[LEDGER_backlog] = ledger_just(0);
	c[LEDGER_link] = ledger_just(ledger_known(f->tx_dropped) ? ledger_plus(here, ledger_minus(f->tx_dropped, all)) : here);
	c[LEDGER_qdisc] = ledger_just(f->qdisc_drops);
	if (!f->xdp)
		c[LEDGER_xdp] = ledger_just(0);
}

void ledger_count_places(const struct ledger *l, struct ledger_count *c)
{
	const struct ledger_facts *f = &l->facts;

	for (unsigned p = 0; p < LEDGER_N; p++)
		c[p] = nothing;
	interfaces(c, f);
	c[LEDGER_ip] = ledger_just(f->mib.ip_errors);
	c[LEDGER_rp_filter] = ledger_just(f->rp_filter);
	c[LEDGER_reassembly] = reassembly(&f->mib);
	c[LEDGER_reassembling] = ledger_just(f->reassembling);
	c[LEDGER_netfilter] = ledger_just(f->seen[LEDGER_netfilter].packets);
	c[LEDGER_ring] = ledger_just(f->ring_drops);
	if (!f->queued_bytes)
		c[LEDGER_queued] = ledger_just(0);
	else
		c[LEDGER_queued].low = 1;
	if (l->alone) {
		own_counters(c, f);
		return;
	}
	shared_counters(c, f);
	c[LEDGER_ip].low = c[LEDGER_rp_filter].low = c[LEDGER_reassembly].low = c[LEDGER_reassembling].low = 0;
}
