/* SPDX-License-Identifier: MIT */
/*
 * conf - what udp_source was asked to do: the checks that need more than one option, and the values derived from them. The table is in options.c. Main
 * thread, before any other exists; read only afterwards.
 */
#ifndef SOURCE_CONF_H
#define SOURCE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/opt.h"
#include "source/bad.h"
#include "source/capture.h"
#include "source/dst.h"
#include "source/fill.h"
#include "source/fragments.h"
#include "source/gso.h"
#include "source/impair.h"
#include "source/messages.h"
#include "source/order.h"
#include "source/pacer.h"
#include "source/size.h"
#include "source/spread.h"
#include "source/start.h"

/* What a thread's payload memory may take, so that a typing error in --batch does not exhaust the host. */
#define CONF_MEMORY_MAX (UINT64_C(1) << 30)

enum conf_format { CONF_TEXT, CONF_JSON };

struct source_conf {
	/* as given */
	int sender;            /* enum tx_index; after choose_sender never TX_AUTO */
	int batch;             /* messages handed over at once */
	bool zerocopy;         /* --sender uring */
	uint64_t count;        /* datagrams; UINT64_MAX = until stopped */
	uint64_t duration_ns;  /* 0 = no limit; until_ns knows the plan of --rate too */
	const char *rate_text, *start_at_text;
	const char *dns_text, *dns_file, *dns_types;
	bool dns_random, dns_do, dns_cookie, dns_norecurse;
	int dns_edns;
	uint64_t dns_timeout_ns;
	const char *pcap_text, *pcap_filter, *pcap_speed_text;
	int pace;              /* enum pacer_mode */
	int burst;             /* datagrams per deadline; 0 = not given */
	bool start_on_stdin;
	int header;            /* enum payload_header */
	int reorder, duplicate, withhold;
	bool trailer;
	struct fragments_conf fragments; /* --fragment and the like, --frag-attack */
	int flows;             /* sockets, each with a source port of its own */
	uint64_t flow_length;  /* 0 = not given */
	int dst_order;         /* enum dst_order */
	bool unconnected, lite, recverr;
	int threads;
	int family;            /* AF_UNSPEC, AF_INET, AF_INET6: what ADDR must be */
	int port;
	int pmtu;              /* IP_MTU_DISCOVER 0..5; -1 = leave */
	int tos;               /* the byte as sent: --tos, or --dscp and --ecn together; -1 = leave */
	int dscp, ecn;
	int ttl;               /* -1 = leave */
	uint64_t mark;
	int priority;          /* -1 = leave */
	uint64_t sndbuf;
	uint64_t interval_ns;
	uint64_t seed;
	const char *size_text, *fill_text, *gso_text, *order_text, *bad_text, *spread_text, *rss_key_text;
	const char *bind_text, *src_ports_text, *dst_text, *ports_text, *device, *run_text, *cpus_text;
	int format;            /* enum conf_format */
	int verbose;
	bool show_version, dump_options;
	/* derived */
	struct size_plan size;
	struct fill fill;
	struct messages messages; /* n = 0: none */
	bool dns;              /* datagrams are queries, and answers are read */
	struct capture_facts capture; /* of --pcap */
	double pcap_speed;     /* 0: its times are not used */
	struct impair impair;
	struct rate_plan rate; /* of the whole program; rate.n 0 = as fast as it goes */
	uint64_t until_ns;     /* when the run ends at the latest, by --duration or with the plan; 0 = no limit */
	struct start start;
	struct order_plan order;
	unsigned gso;          /* datagrams per message asked for; 1 = plain, 0 = as many as there can be */
	bool gso_require;
	struct addr dst;       /* the first destination */
	struct dst_plan to;
	bool addressed;        /* the sockets are not connected */
	struct range src;      /* source addresses; n = 0: the kernel chooses */
	struct range_ports src_ports; /* n = 0: the kernel chooses */
	struct spread_plan spread; /* SPREAD_NONE: ports in turn */
	struct bad_plan bad;
	bool automatic;        /* the sender was left to us */
	uint32_t run;
	struct cpu_list cpus;  /* n = 0: threads are not pinned */
	/* by choose_sender */
	unsigned segments;     /* datagrams per message; 1 = no GSO */
	struct gso_probe probe; /* all 0 where none was needed */
	/* by qpace_set, for PACER_TXTIME */
	int txtime_clock;      /* clockid_t of the times that go with messages */
	uint64_t ahead_ns;     /* they are handed over so long before */
	/* the command line, for records */
	struct opt_set set;
	int argc;
	char **argv;
};

/* Reads the command line. *next as opt_parse; --version and --dump-options are answered here. On success the caller ends with conf_free. -EINVAL:
 * usage. */
int conf_parse(struct source_conf *conf, int argc, char **argv, enum opt_next *next, struct err *err);

/* Parts of it, in conf_raw.c: after the addresses are known, and when all is. */
int conf_settle_raw(struct source_conf *conf, struct err *err);
int conf_check_raw(const struct source_conf *conf, struct err *err);

/* In conf_dns.c: makes the queries; before addresses are read, as the port becomes that of DNS. No-op without --dns and --dns-file. */
int conf_settle_dns(struct source_conf *conf, struct err *err);

/* In conf_capture.c: reads the file. No-op without --pcap. */
int conf_settle_capture(struct source_conf *conf, struct err *err);

/* In conf_messages.c: when they were made, and before rates are read. What they replace is refused; conf->size is theirs. No-op without them. */
int conf_settle_messages(struct source_conf *conf, struct err *err);

/* In conf_uring.c: what only --sender uring can do, and whether it is there at all. */
int conf_check_uring(const struct source_conf *conf, struct err *err);

/* In conf_spread.c: when destinations and source ports are known, and before flows are counted. */
int conf_settle_spread(struct source_conf *conf, struct err *err);

/* In conf_rate.c: when the sender and the sizes are known. */
int conf_settle_rate(struct source_conf *conf, struct err *err);

void conf_free(struct source_conf *conf);

#endif
