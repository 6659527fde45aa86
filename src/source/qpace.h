/* SPDX-License-Identifier: MIT */
/*
 * qpace - pacing by the queueing discipline of the outgoing interface: --pace txtime (SO_TXTIME, SCM_TXTIME with each message) and --pace fq
 * (SO_MAX_PACING_RATE). Only fq, and for txtime etf, look at these; under any other discipline they change nothing, so they are refused there.
 */
#ifndef SOURCE_QPACE_H
#define SOURCE_QPACE_H

#include "net/qdisc.h"
#include "source/flows.h"

/* Main, when the sockets are open and the sender is chosen. Nothing happens under the other modes of --pace. Sets the options of all sockets, and
 * conf->txtime_clock and conf->ahead_ns for PACER_TXTIME. On failure a sentence names the interface, its discipline and the command that changes it. */
int qpace_set(struct source_conf *conf, const struct flows *flows, struct err *err);

/* Parts of it, for tests. Can packets be paced by this discipline? name: of the interface. */
int qpace_check(enum pacer_mode mode, const struct qdisc *q, const char *name, struct err *err);
/* What SO_MAX_PACING_RATE is set to, in bytes per second. */
uint64_t qpace_bytes(double pps, unsigned flows, double payload, int family);

#endif
