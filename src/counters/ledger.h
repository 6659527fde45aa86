/* SPDX-License-Identifier: MIT */
/*
 * ledger - where every datagram of a window went: sent = received + lost, place by place + still on the way + residual.
 *
 * A pure calculation on what the readers of this folder and the sockets have counted; nothing is read here. What the counters mean, and where they overlap:
 *
 *   UdpInDatagrams counts reads: with UDP_GRO buffers of several datagrams. UdpInErrors contains RcvbufErrors, InCsumErrors, MemErrors (Linux 6.18
 *   has been seen to count these in the socket's drops only) and, with no counter of their own, what socket filters dropped and UDP headers with a wrong length. The drops of a socket (sk_drops) contain what was full, memory, filter, and
 *   those wrong checksums that were found after the socket was. (net/ipv4/udp.c: __udp_queue_rcv_skb, udp_queue_rcv_one_skb, __udp4_lib_rcv)
 *   A packet dropped at the backlog counts in softnet_stat of the host and in rx_dropped of its interface, and the sender's kernel may count it again as
 *   tx_dropped and SndbufErrors. (net/core/dev.c: enqueue_to_backlog; drivers/net/veth.c: veth_xmit)
 *
 *   Packets and datagrams: before the socket the kernel counts packets (skbs), and where GSO or GRO is at work one holds several datagrams. IpExtInNoECTPkts,
 *   InECT0Pkts, InECT1Pkts and InCEPkts count what is in them (ip_rcv_core adds max(1, gso_segs)), each fragment of a fragmented one by itself. A socket without
 *   UDP_GRO takes a packet apart before it queues, filters or drops anything: its counts are datagrams.
 *
 * So each place has what was counted there and the datagrams that these were, from `low` to `high`, with how that is known:
 *   exact     counted one by one
 *   derived   the one place that counts packets gets what is left of the datagrams that arrived at IP; never of `sent`, so that the check against it
 *             stays a check
 *   inferred  packets times the segments that the source says it sends at once
 *   bounded   more than one value fits
 *   unknown   nothing tells
 * Pure functions, any thread.
 */
#ifndef COUNTERS_LEDGER_H
#define COUNTERS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A figure that nobody could tell. Nothing is ever 0 for want of knowledge. */
#define LEDGER_UNKNOWN UINT64_MAX

/* UDP_MAX_SEGMENTS: the most datagrams in a packet (include/linux/udp.h; 64 before Linux 6.9). */
#define LEDGER_MOST_SEGMENTS 128

/* Where in the kernel a place lies: what its counter counts. */
enum ledger_unit {
	LEDGER_WIRE,     /* packets as they came, or fragments, before anything puts them together */
	LEDGER_PACKET,   /* packets, or fragments */
	LEDGER_WHOLE,    /* packets, fragments put together */
	LEDGER_SOCKET,   /* datagrams; with UDP_GRO packets */
	LEDGER_DATAGRAM, /* datagrams, always */
};

/* id, unit, what people read, what to look at. From top to bottom, the way a datagram goes. */
#define LEDGER_PLACES(X) \
	X(qdisc, WIRE, "sender's queueing discipline", "tc -s qdisc on the sending host; a slower source") \
	X(link, WIRE, "link: errors, missed, dropped", "ip -s -s link and ethtool -S; larger rings (ethtool -G)") \
	X(xdp, WIRE, "XDP program", "bpftool net; the counters of that program") \
	X(backlog, PACKET, "backlog of a CPU (softnet)", "net.core.netdev_max_backlog; spread over CPUs (RSS, RPS)") \
	X(netfilter, PACKET, "netfilter", "nft list ruleset") \
	X(ip, PACKET, "IP header, address or route", "nstat IpIn* Ip6In*; ip route get") \
	X(rp_filter, PACKET, "reverse path filter", "net.ipv4.conf.*.rp_filter; nstat TcpExtIPReversePathFilter") \
	X(reassembly, DATAGRAM, "reassembly of fragments", "net.ipv4.ipfrag_time and ipfrag_high_thresh (net.ipv6.ip6frag_*)") \
	X(reassembling, DATAGRAM, "still in reassembly", "net.ipv4.ipfrag_time: it is lost when that is over") \
	X(no_port, WHOLE, "no socket on that port", "the port of source and sink") \
	X(csum, WHOLE, "wrong checksum", "ethtool -k (rx-checksumming); the path") \
	X(header, WHOLE, "UDP header: wrong length", "the sender; udp_source --bad makes such") \
	X(mem, SOCKET, "memory of all UDP sockets", "net.ipv4.udp_mem") \
	X(filter, SOCKET, "socket filter", "ss -uanpe --bpf") \
	X(rcvbuf, SOCKET, "receive buffer", "a faster reader or more threads; --rcvbuf and net.core.rmem_max for bursts") \
	X(ring, DATAGRAM, "ring of the engine", "a faster reader; larger rings") \
	X(queued, DATAGRAM, "still in the receive buffer", "they were not read")

enum ledger_place {
#define X(id, unit, title, hint) LEDGER_##id,
	LEDGER_PLACES(X)
#undef X
	LEDGER_N
};

extern const struct ledger_place_info {
	const char *name, *title, *hint;
	enum ledger_unit unit;
} ledger_place[LEDGER_N];

/* Increments of a family's counters over the window; each may be unknown. The names are those of IPv4; Ip6 and Udp6 have the same. */
#define LEDGER_COUNTERS(X) \
	X(in_receives)     /* IpInReceives: packets, fragments too */ \
	X(arrived)         /* IpExtInNoECTPkts + InECT0Pkts + InECT1Pkts + InCEPkts: datagrams, fragments by themselves */ \
	X(icmp)            /* IcmpInMsgs: they arrive as well */ \
	X(ip_errors)       /* InHdrErrors + InAddrErrors + InUnknownProtos + InDiscards + InNoRoutes + InTruncatedPkts */ \
	X(reasm_reqds)     /* fragments in */ \
	X(reasm_oks)       /* datagrams out */ \
	X(reasm_fails)     /* datagrams at the time-out; fragments where memory ran out or they overlapped */ \
	X(reasm_timeout)   /* datagrams */ \
	X(in_datagrams)    /* UdpInDatagrams */ \
	X(no_ports) \
	X(in_errors) \
	X(rcvbuf_errors) \
	X(csum_errors) \
	X(mem_errors)

struct ledger_counters {
#define X(name) uint64_t name;
	LEDGER_COUNTERS(X)
#undef X
};

/* What a BPF program counted at a place, packet by packet; unknown without. */
struct ledger_seen {
	uint64_t packets, datagrams;
};

struct ledger_facts {
	/* the source: what it says, by trailer or by its sum record */
	uint64_t sent;           /* datagrams that its kernel accepted */
	uint64_t refused;        /* calls that its kernel refused; they are not in `sent` */
	uint64_t trailers_sent;  /* not in `sent` */
	uint64_t trailers_after; /* how many more of them were to come after the last one heard */
	uint64_t segments;       /* datagrams in one packet of its; 1 = plain */
	bool fragmented;         /* its datagrams are more than one packet each */
	uint64_t qdisc_drops, tx_dropped; /* of its host: packets */
	/* our sockets */
	uint64_t received;       /* datagrams of the run that the application read */
	uint64_t foreign;        /* datagrams it read that were not of the run */
	uint64_t control;        /* trailers it read */
	uint64_t buffers;        /* reads that brought something: what UdpInDatagrams counts */
	uint64_t ring_drops;     /* lost inside an engine: no place of the kernel's */
	bool gro;                /* a socket takes coalesced buffers */
	uint64_t socket_drops;   /* sk_drops of all our sockets */
	uint64_t queued_bytes;   /* in their receive buffers at the end; 0 = they are empty */
	/* the namespace: the families that our sockets take, together */
	struct ledger_counters mib;
	uint64_t tcp;            /* TcpInSegs: they arrive as well */
	uint64_t rp_filter;      /* TcpExtIPReversePathFilter: packets */
	uint64_t reassembling;   /* datagrams in reassembly that were not there before */
	uint64_t link_errors;    /* rx_errors + rx_missed_errors + rx_nohandler of all interfaces: packets */
	uint64_t link_dropped;   /* rx_dropped of all interfaces: packets, those of the backlog among them */
	bool xdp;                /* an interface has an XDP program, whose counts are its own */
	/* the host */
	uint64_t softnet_dropped;
	struct ledger_seen seen[LEDGER_N];
	bool end;                /* the end of a run, not an interval */
};

/* Everything unknown. */
void ledger_facts_init(struct ledger_facts *facts);

enum ledger_quality { LEDGER_EXACT, LEDGER_DERIVED, LEDGER_INFERRED, LEDGER_BOUNDED, LEDGER_NOTHING };
extern const char *const ledger_quality[];

struct ledger_term {
	uint64_t packets;        /* as counted; UNKNOWN */
	uint64_t low, high;      /* datagrams; equal unless bounded; 0 and UNKNOWN when unknown */
	enum ledger_quality quality;
};

enum ledger_verdict { LEDGER_NOT_JUDGED, LEDGER_BALANCED, LEDGER_UNBALANCED, LEDGER_FOREIGN, LEDGER_NOT_DETERMINABLE };
extern const char *const ledger_verdict[];

struct ledger {
	struct ledger_facts facts;
	struct ledger_term term[LEDGER_N];
	uint64_t arrived;        /* UDP datagrams at IP of this host, put together again; UNKNOWN */
	uint64_t others;         /* reads of sockets that are not ours; UNKNOWN */
	bool alone;              /* no other socket of the namespace took part: its counters are ours */
	uint64_t lost_low, lost_high; /* all places but the two "still" ones; high UNKNOWN where a place is */
	/* sent - everything else, for the least and the most that the places can be: above 0 are datagrams that no place explains, below 0 more than were
	 * sent. Without meaning when `sent` is unknown; rest_low is INT64_MIN where a place is unknown. */
	int64_t rest_low, rest_high;
	enum ledger_verdict verdict;
	char why[200];           /* a sentence without its full stop; empty: nothing to add */
};

void ledger_balance(struct ledger *out, const struct ledger_facts *facts);

/* "balanced", "unbalanced by 12", "not determinable: no trailer came". Returns buf. */
char *ledger_sentence(const struct ledger *l, char *buf, size_t size);

/* Datagrams that no place explains, or (surplus) that are more than were sent: one number, UNKNOWN where more than one fits or `sent` is unknown. */
uint64_t ledger_residual(const struct ledger *l);
uint64_t ledger_surplus(const struct ledger *l);

/* Datagrams of a term as one number: UNKNOWN where more than one fits. */
static inline uint64_t ledger_datagrams(const struct ledger_term *t)
{
	return t->low == t->high ? t->low : LEDGER_UNKNOWN;
}

#endif
