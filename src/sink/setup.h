/* SPDX-License-Identifier: MIT */
/*
 * setup - turns options into what a run needs: addresses, sockets, CPUs, engines. Main thread.
 *
 * Everything that cannot be done as asked is refused here, with a sentence, before traffic starts.
 */
#ifndef SINK_SETUP_H
#define SINK_SETUP_H

#include "base/cpu.h"
#include "engine/engine.h"
#include "sink/conf.h"

/* An engine that was asked for, and whether it can run. */
struct setup_engine {
	const struct engine_ops *ops;
	struct engine_conf conf;
	bool skipped;   /* of a list such as "all": the rest runs */
	struct err why; /* the reason */
};

struct setup {
	const struct sink_conf *conf;
	unsigned workers;
	struct cpu_list allowed, cpus;  /* cpus: worker i runs on cpus.cpu[i % n]; n == 0: not pinned */
	struct addr *listen;
	enum sock_v6only *v6only;       /* of each */
	unsigned nlisten;
	struct addr sender, peer;       /* --check-sender, --connect ADDR; len 0 = none */
	bool dual;                      /* a socket takes IPv4 and IPv6 */
	unsigned want;                  /* enum cmsg_want of the sockets */
	struct sock_set set;
	unsigned per_slot;              /* sockets of one worker at the start */
	unsigned *socks;                /* workers * per_slot indexes, slot by slot */
	int others;                     /* sockets of others in our reuse-port group, -1 = not known */
	struct sock_drained drained;    /* --connect: thrown away before the first run */
	struct setup_engine *engine;    /* from engines_open */
	unsigned engines;
	char choice[480];               /* what `auto` chose and why; empty otherwise */
};

/* Reads the values that are more than a number: CPUs and addresses. Opens nothing. On failure *setup is empty, and what was asked makes no sense
 * here. */
int setup_plan(struct setup *setup, const struct sink_conf *conf, struct err *err);

/* After setup_plan: the sockets. setup_close closes what there is, also after a failure. */
int setup_open(struct setup *setup, struct err *err);

/* The control messages (enum cmsg_want) that the options ask the sockets for. */
unsigned setup_want(const struct sink_conf *conf);

/* Fills a slot for worker i. */
void setup_slot(const struct setup *setup, unsigned i, struct engine_slot *slot);

/* --connect: connects every socket to `peer`, and drains what was queued before. */
int setup_connect(struct setup *setup, const struct addr *peer, struct err *err);

/* Looks at the next datagram's source without taking it. 0 or -errno. */
int setup_first_sender(const struct setup *setup, struct addr *out);

void setup_close(struct setup *setup);

#endif
