/* SPDX-License-Identifier: MIT */
/*
 * conf - what udp_source was asked to do: the option table, the checks that need more than one option, and the
 * values derived from them. Main thread, before any other exists; read only afterwards.
 */
#ifndef SOURCE_CONF_H
#define SOURCE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/opt.h"
#include "net/addr.h"

/* The largest payload of a UDP datagram over IPv4: 65535 - 20 - 8. IPv6 would carry 65527; one limit for both
 * families keeps their runs comparable. */
#define CONF_PAYLOAD_MAX 65507

/* What a thread's payload memory may take, so that a typing error in --batch does not exhaust the host. */
#define CONF_MEMORY_MAX (UINT64_C(1) << 30)

enum conf_format { CONF_TEXT, CONF_JSON };

struct source_conf {
	/* as given */
	int sender;            /* index into tx_table */
	int batch;             /* messages handed over at once */
	int gso;               /* datagrams per message asked for; 1 = plain */
	uint64_t payload;      /* bytes of each datagram */
	uint64_t count;        /* datagrams; UINT64_MAX = until stopped */
	uint64_t duration_ns;  /* 0 = no limit */
	uint64_t rate;         /* datagrams per second of the whole program; 0 = as fast as it goes */
	int flows;             /* sockets, each with a source port of its own */
	int threads;
	int family;            /* AF_UNSPEC, AF_INET, AF_INET6: what ADDR must be */
	int port;
	int pmtu;              /* IP_MTU_DISCOVER 0..5; -1 = leave */
	int tos;               /* the byte as sent: --tos, or --dscp and --ecn together; -1 = leave */
	int dscp, ecn;
	int ttl;               /* -1 = leave */
	uint64_t sndbuf;
	uint64_t interval_ns;
	const char *bind_text, *device, *run_text, *cpus_text;
	bool pktgen_header;
	int format;            /* enum conf_format */
	int verbose;
	bool show_version, dump_options;
	/* derived */
	struct addr dst;
	struct addr src;       /* port 0: the kernel chooses one per flow */
	uint32_t run;
	struct cpu_list cpus;  /* n = 0: threads are not pinned */
	/* the command line, for records */
	struct opt_set set;
	int argc;
	char **argv;
};

/* Reads the command line. *next as opt_parse; --version and --dump-options are answered here. On success the
 * caller ends with conf_free. -EINVAL: usage. */
int conf_parse(struct source_conf *conf, int argc, char **argv, enum opt_next *next,
	       struct err *err);

/* Datagrams in one message: what was asked, or as many as fit into the largest message. 1 = no GSO. */
unsigned conf_segments(const struct source_conf *conf);

void conf_free(struct source_conf *conf);

#endif
