/* SPDX-License-Identifier: MIT */
#include "source/options.h"

#include <netinet/in.h>

#include "base/clock.h"
#include "source/tx.h"

#define AT(field) .offset = offsetof(struct source_conf, field)

#define SENDER(long_name, short_name, index, text)                                             \
	{ .name = long_name, .letter = short_name, .type = OPT_SET, AT(sender), .min = index,  \
	  .group = "Sender", .help = text }
#define FAMILY(long_name, short_name, value, text)                                             \
	{ .name = long_name, .letter = short_name, .type = OPT_SET, AT(family), .min = value,  \
	  .group = "Network", .help = text }
#define FLAG(long_name, field, heading, text)                                                  \
	{ .name = long_name, .type = OPT_FLAG, AT(field), .group = heading, .help = text }
#define TEXT(long_name, field, arg, heading, text)                                             \
	{ .name = long_name, .type = OPT_STRING, .argument = arg, AT(field), .group = heading, \
	  .help = text }
#define CHOICE(long_name, field, arg, values, value, heading, text)                            \
	{ .name = long_name, .type = OPT_CHOICE, .argument = arg, AT(field),                   \
	  .choices = values, .def = value, .group = heading, .help = text }
#define NUMBER(long_name, short_name, kind, field, arg, low, high, value, heading, text)       \
	{ .name = long_name, .letter = short_name, .type = kind, .argument = arg, AT(field),   \
	  .min = low, .max = high, .def = value, .group = heading, .help = text }

static const struct opt table[] = {
	CHOICE("sender", sender, "NAME", TX_NAMES, "sendmmsg", "Sender",
	       "system call to send with"),
	SENDER("sendmsg", 'u', TX_SENDMSG, "same as --sender sendmsg"),
	SENDER("sendmmsg", 'U', TX_SENDMMSG, "same as --sender sendmmsg"),
	SENDER("sendto", 't', TX_SENDTO,
	       "same as --sender sendto; the address goes with each datagram"),
	SENDER("write", 'T', TX_WRITE, "same as --sender write"),
	SENDER("send", 'S', TX_SEND, "same as --sender send"),
	FLAG("zerocopy", zerocopy, "Sender",
	     "with --sender uring: the kernel sends from our memory, without a copy"),
	NUMBER("batch", 'b', OPT_INT, batch, "N", 1, 65536, "32", "Sender",
	       "messages per flow before the next flow's turn; one sendmmsg call"),
	TEXT("gso", gso_text, "N", "Sender",
	     "datagrams per message by UDP_SEGMENT: a number, max, or require (max, and no way back)"),

	{ .name = "payload", .letter = 'm', .type = OPT_STRING, .argument = "SIZE", AT(size_text),
	  .def = "18", .group = "Traffic",
	  .help = "payload: bytes (0 to 65507), LOW..HIGH, NxBYTES, imix, or BYTES:WEIGHT,..." },
	{ .name = "size", .type = OPT_ALIAS, .choices = "payload", .argument = "SIZE",
	  .group = "Traffic", .help = "same as --payload" },
	{ .name = "fill", .type = OPT_STRING, .argument = "WHAT", AT(fill_text), .def = "pattern",
	  .group = "Traffic", .help = "behind the header: pattern, zero, random, or a file" },
	CHOICE("header", header, "KIND", "sequence|pktgen|none", "sequence", "Traffic",
	       "our own header, that of the kernel's pktgen, or none"),
	TEXT("dns", dns_text, "NAME", "DNS", "ask for this name, and read the answers"),
	TEXT("dns-file", dns_file, "FILE", "DNS", "ask what this file says: lines of name and type, as dnsperf reads them"),
	{ .name = "dns-type", .type = OPT_STRING, .argument = "LIST", AT(dns_types), .def = "A", .group = "DNS",
	  .help = "types to ask --dns for, with weights: A:8,AAAA:2" },
	FLAG("dns-random", dns_random, "DNS", "a label before each name that is another one every time"),
	NUMBER("dns-edns", 0, OPT_INT, dns_edns, "BYTES", 0, 65535, "1232", "DNS", "UDP size offered by EDNS; 0 for no EDNS"),
	FLAG("dns-do", dns_do, "DNS", "set DO: DNSSEC records are wanted"),
	FLAG("dns-cookie", dns_cookie, "DNS", "send a client cookie"),
	FLAG("dns-norecurse", dns_norecurse, "DNS", "do not set RD"),
	NUMBER("dns-timeout", 0, OPT_DURATION, dns_timeout_ns, "TIME", NSEC_PER_MSEC, 0, "5s", "DNS", "an answer after this time is late, none is lost"),

	TEXT("pcap", pcap_text, "FILE", "Traffic", "send the UDP payloads of a capture, at its times"),
	TEXT("pcap-filter", pcap_filter, "EXPR", "Traffic", "only the packets of the capture that this lets pass (pcap-filter(7))"),
	TEXT("pcap-speed", pcap_speed_text, "FACTOR", "Traffic", "so many times as fast as the capture, or max: without its times"),
	{ .name = "pktgen-header", .letter = 'P', .type = OPT_SET, AT(header), .min = PAYLOAD_PKTGEN,
	  .group = "Traffic", .help = "same as --header pktgen" },
	NUMBER("count", 'c', OPT_COUNT, count, "N", 1, 0, NULL, "Traffic",
	       "end after N datagrams; 1000000 when --duration is not given either"),
	NUMBER("duration", 0, OPT_DURATION, duration_ns, "TIME", 1, 0, NULL, "Traffic",
	       "end after this time"),
	NUMBER("flows", 0, OPT_INT, flows, "N", 1, 65535, NULL, "Traffic",
	       "source ports, one socket each; one per thread and source address when not given"),
	NUMBER("flow-length", 0, OPT_COUNT, flow_length, "N", 1, 0, NULL, "Traffic",
	       "datagrams before the next flow and destination; a batch and 1 when not given"),
	TEXT("flow-order", order_text, "HOW", "Traffic",
	     "whose turn it is: round-robin, random, or zipf:S"),
	TEXT("run-id", run_text, "HEX", "Traffic",
	     "run id in the header, up to 8 hex digits; random when not given"),
	NUMBER("seed", 0, OPT_COUNT, seed, "N", 0, INT64_MAX, NULL, "Traffic",
	       "of all random choices, so that a run can be repeated; the run id when not given"),
	NUMBER("reorder", 0, OPT_INT, reorder, "N", 2, 1000000000, NULL, "Traffic",
	       "of N datagrams of a flow the last two change places"),
	NUMBER("duplicate", 0, OPT_INT, duplicate, "N", 1, 1000000000, NULL, "Traffic",
	       "send every Nth datagram of a flow twice"),
	NUMBER("withhold", 0, OPT_INT, withhold, "N", 2, 1000000000, NULL, "Traffic",
	       "do not send every Nth number of a flow"),
	FLAG("trailer", trailer, "Traffic",
	     "at the end tell --check-sequence of the sink how many datagrams there were"),

	TEXT("rate", rate_text, "PLAN", "Pacing",
	     "datagrams per second (500k) or bits of payload (30Mbit); RATE:TIME,... or RATE..RATE/TIME"),
	CHOICE("pace", pace, "HOW", PACER_MODES, "hybrid", "Pacing",
	       "who waits, and how; txtime and fq leave it to the queueing discipline"),
	NUMBER("burst", 0, OPT_INT, burst, "N", 1, 1000000, NULL, "Pacing",
	       "datagrams at each deadline; what is due in 20 us when not given"),
	TEXT("start-at", start_at_text, "TIME", "Pacing",
	     "begin at HH:MM:SS, in +TIME, or @SECONDS since 1970"),
	FLAG("start-on-stdin", start_on_stdin, "Pacing",
	     "begin with a line, or the end, of standard input"),

	FAMILY("ipv4", '4', AF_INET, "ADDR must be IPv4"),
	FAMILY("ipv6", '6', AF_INET6, "ADDR must be IPv6"),
	NUMBER("port", 'p', OPT_INT, port, "PORT", 1, 65535, "6666", "Network",
	       "destination port, where ADDR has none"),
	TEXT("bind", bind_text, "RANGE", "Network",
	     "source address, or a range of them for the flows in turn"),
	{ .name = "src-range", .type = OPT_ALIAS, .choices = "bind", .argument = "RANGE",
	  .group = "Network", .help = "same as --bind" },
	TEXT("src-ports", src_ports_text, "RANGE", "Network",
	     "source ports FIRST-LAST of the flows in turn; chosen by the kernel when not given"),
	TEXT("spread", spread_text, "RECEIVER", "Network",
	     "source ports that fall evenly on the queues or workers of rss:Q, rss:Q:DEV or sink:N"),
	TEXT("rss-key", rss_key_text, "HEX", "Network",
	     "hash key of the receiver's network card, as ethtool -x prints it"),
	TEXT("dst-range", dst_text, "RANGE", "Network",
	     "destinations ADDR/PREFIX or FIRST-LAST, instead of ADDR"),
	TEXT("dst-ports", ports_text, "RANGE", "Network", "destination ports FIRST-LAST"),
	CHOICE("dst-order", dst_order, "HOW", "sequential|random", "sequential", "Network",
	       "how --dst-range and --dst-ports are gone through"),
	{ .name = "lite", .letter = 'L', .type = OPT_FLAG, AT(lite), .group = "Network", .help = "UDP-Lite instead of UDP" },
	FLAG("unconnected", unconnected, "Network",
	     "do not connect the sockets; the address goes with each message"),
	FLAG("recverr", recverr, "Network", "IP_RECVERR: what the queueing discipline drops is refused, with ENOBUFS"),
	TEXT("bind-dev", device, "DEV", "Network", "send by this interface only"),
	NUMBER("pmtu", 'd', OPT_INT, pmtu, "N", 0, 5, NULL, "Network",
	       "IP_MTU_DISCOVER: 0 dont, 1 want, 2 do, 3 probe, 4 interface, 5 omit"),
	{ .name = "df", .type = OPT_SET, AT(pmtu), .min = IP_PMTUDISC_DO, .group = "Network",
	  .help = "same as --pmtu 2: never in fragments" },
	NUMBER("tos", 0, OPT_INT, tos, "N", 0, 255, NULL, "Network",
	       "TOS or traffic class, the whole byte"),
	NUMBER("dscp", 0, OPT_INT, dscp, "N", 0, 63, NULL, "Network",
	       "DSCP, the upper six bits of that byte"),
	NUMBER("ecn", 0, OPT_INT, ecn, "N", 0, 3, NULL, "Network", "ECN, its lower two bits"),
	NUMBER("ttl", 0, OPT_INT, ttl, "N", 1, 255, NULL, "Network", "TTL or hop limit"),
	NUMBER("mark", 0, OPT_COUNT, mark, "N", 0, UINT32_MAX, NULL, "Network",
	       "SO_MARK, for rules and filters; needs CAP_NET_ADMIN"),
	NUMBER("priority", 0, OPT_INT, priority, "N", 0, INT32_MAX, NULL, "Network",
	       "SO_PRIORITY, for queueing disciplines; above 6 needs CAP_NET_ADMIN"),
	NUMBER("sndbuf", 0, OPT_BYTES, sndbuf, "BYTES", 1, INT32_MAX, NULL, "Network",
	       "SO_SNDBUF of each socket"),

	NUMBER("fragment", 0, OPT_INT, fragments.size, "BYTES", 8, 65528, NULL, "Packets of our own",
	       "send each datagram in fragments with so many bytes behind the IP header, a multiple of 8"),
	CHOICE("fragment-order", fragments.order, "HOW", "forward|reverse|odd-even|random", "forward", "Packets of our own",
	       "which fragment of a datagram goes first"),
	NUMBER("fragment-overlap", 0, OPT_INT, fragments.overlap, "N", 1, 1000000000, NULL, "Packets of our own",
	       "two fragments of every Nth datagram of a flow overlap"),
	NUMBER("fragment-duplicate", 0, OPT_INT, fragments.duplicate, "N", 1, 1000000000, NULL, "Packets of our own",
	       "send one fragment of every Nth datagram of a flow twice"),
	NUMBER("fragment-hole", 0, OPT_INT, fragments.hole, "N", 1, 1000000000, NULL, "Packets of our own",
	       "do not send one fragment of every Nth datagram of a flow"),
	CHOICE("frag-attack", fragments.attack, "WHICH", "none|first|middle", "none", "Packets of our own",
	       "send only the first or the second fragment of each datagram"),
	TEXT("bad", bad_text, "KIND[:N],...", "Packets of our own",
	     "every Nth datagram of a flow is wrong on purpose"),

	NUMBER("threads", 0, OPT_INT, threads, "N", 1, 1024, "1", "Threads", "sending threads"),
	TEXT("cpus", cpus_text, "LIST", "Threads",
	     "pin the threads to these CPUs in turn, such as 0,2-3"),

	CHOICE("format", format, "FORM", "text|json", "text", "Output", "text or json"),
	NUMBER("interval", 0, OPT_DURATION, interval_ns, "TIME", NSEC_PER_MSEC, 0, NULL, "Output",
	       "report each period of this length too"),
	{ .name = "verbose", .letter = 'v', .type = OPT_LEVEL, AT(verbose), .group = "Output",
	  .help = "say more on stderr" },
	{ .name = "config", .type = OPT_CONFIG, .argument = "FILE", .group = "Output",
	  .help = "read options from FILE" },
	FLAG("version", show_version, "Output", "print the version; with -v also how it was built"),
	{ .name = "help", .letter = 'h', .type = OPT_HELP, .group = "Output",
	  .help = "print this help" },
	{ .name = "dump-options", .type = OPT_FLAG, AT(dump_options), .group = "Output",
	  .help = "print the option table", .hidden = true },
	{ 0 },
};

void options_describe(struct opt_set *set, struct source_conf *conf)
{
	*set = (struct opt_set){
		.table = table,
		.program = "udp_source",
		.usage = "[options] ADDR[:PORT]",
		.about = "Sends UDP datagrams, and says how many of them the kernel took.",
		.conf = conf,
	};
}
