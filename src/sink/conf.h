/* SPDX-License-Identifier: MIT */
/*
 * conf - the options of udp_sink: one table, and the struct that it fills. Main thread; constant once threads exist.
 */
#ifndef SINK_CONF_H
#define SINK_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "base/clock.h"
#include "engine/engine.h"

enum conf_format { CONF_TEXT, CONF_CLASSIC, CONF_JSON };
enum conf_nstat { CONF_NSTAT_OFF, CONF_NSTAT_AUTO, CONF_NSTAT_TEXT, CONF_NSTAT_JSON }; /* auto: as format */
enum conf_demux { CONF_DEMUX_KEEP, CONF_DEMUX_ON, CONF_DEMUX_OFF };

struct sink_conf {
	/* what to receive on */
	struct opt_list listen;
	int port;
	int family; /* AF_INET, AF_INET6: of the default address and of --check-sender */
	bool v6only, lite, reuse_port, shared_socket, use_bpf, connect_each;
	const char *connect; /* NULL, "first", or an address */
	const char *bind_dev;
	struct opt_list join;
	/* how */
	struct opt_list engines;
	int threads; /* 0 = one per allowed CPU */
	const char *cpus, *place;
	int batch, nr_iovec, wait, bad_ptr, max_flows;
	uint64_t buffer_size, timeout, sk_timeout, rcvbuf, busy_poll, work;
	bool waitforone, dontwait, no_copy, rcvbuf_strict, gro;
	bool counts_empty; /* calls that return empty were asked for: the classic format shows them */
	bool pktinfo, recv_ttl, recv_tos, rxq_ovfl;
	int early_demux;
	/* how long */
	uint64_t count, duration, until_quiet, interval;
	int repeat;
	/* checks and views */
	const char *check_sender;
	int check_pktgen;
	bool check_sequence, by_destination;
	bool ledger, drop_reasons;
	const char *sent_from; /* NULL, a file, or the number of an open descriptor */
	/* counters of the kernel */
	int nstat;
	bool zeros, softnet, watch;
	struct opt_list ethtool;
	struct opt_list patterns; /* operands; owned by the opt_set */
	/* output */
	int format, verbose;
	uint64_t null_payload;
	bool list_engines, dump_options, dump_counters, version;
};

/* The table and what it describes; conf is filled by opt_parse. */
void conf_options(struct opt_set *set, struct sink_conf *conf);

/* What one option cannot say alone: combinations that exclude each other, defaults that depend on another option. 0 or -EINVAL
 * with a sentence. After opt_parse. */
int conf_check(const struct opt_set *set, struct sink_conf *conf, struct err *err);

/* Parts of it. A switch that was given as off, or a choice that is the default, excludes nothing. */
bool conf_in_force(const struct opt_set *set, const char *name);

/* In conf_counted.c: options about the counters of the kernel, and operands. */
int conf_check_counted(const struct opt_set *set, struct sink_conf *conf, struct err *err);

#endif
