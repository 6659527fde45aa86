/* SPDX-License-Identifier: MIT */
#include "source/qpace.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* Packets are handed over so long before their time: waking up and the system calls are done by then. At 300,000 per second 60 of them wait, of the 100 that
 * fq holds for a flow (flow_limit). */
#define AHEAD_NS PACER_QUEUE_NS

/* What fq counts beside the payload: headers of Ethernet, IP and UDP. */
#define ETHERNET 14
#define UDP 8
#define IP_HEADER(family) ((family) == AF_INET ? 20 : 40)

static const char *needed(enum pacer_mode mode)
{
	return mode == PACER_FQ ? "fq" : "fq or etf";
}

int qpace_check(enum pacer_mode mode, const struct qdisc *q, const char *name, struct err *err)
{
	bool queues = strcmp(q->root, q->kind);

	if (!strcmp(q->kind, "fq") || (mode == PACER_TXTIME && !strcmp(q->kind, "etf")))
		return 0;
	return err_say(err, EOPNOTSUPP, "--pace %s: packets leave by %s, whose queueing discipline is %s%s%s, and only %s can do this; as root: tc qdisc replace dev "
		       "%s root fq", mode == PACER_FQ ? "fq" : "txtime", name, q->root, queues && q->kind[0] ? " over " : "", queues ? q->kind : "",
		       needed(mode), name);
}

/* A sixteenth above the mean, so that the queue runs empty between the bursts: it is the bursts that keep the rate. */
uint64_t qpace_bytes(double pps, unsigned flows, double payload, int family)
{
	double bytes = payload + UDP + IP_HEADER(family) + ETHERNET;

	return (uint64_t)(pps / flows * bytes * 17 / 16) + 1;
}

static int set_txtime(struct source_conf *conf, const struct flows *flows, const struct qdisc *q, struct err *err)
{
	/* fq knows CLOCK_MONOTONIC only. */
	const struct sock_txtime txtime = { .clockid = q->clock >= 0 ? q->clock : CLOCK_MONOTONIC };

	conf->txtime_clock = txtime.clockid;
	conf->ahead_ns = AHEAD_NS + q->delta_ns;
	for (unsigned i = 0; i < flows->n; i++)
		if (setsockopt(flows->flow[i].fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))
			return err_sys(err, errno, "--pace txtime: SO_TXTIME with clock %d%s", txtime.clockid,
				       errno == EPERM ? " (needs CAP_NET_ADMIN)" : "");
	return 0;
}

static int set_rate(const struct source_conf *conf, const struct flows *flows, struct err *err)
{
	uint64_t rate = qpace_bytes(rate_at(&conf->rate, 0), flows->n, conf->size.mean, addr_packet_family(&conf->dst));
	uint32_t old = (uint32_t)MIN(rate, UINT32_MAX); /* kernels before 4.20 take 32 bits only */

	for (unsigned i = 0; i < flows->n; i++)
		if (setsockopt(flows->flow[i].fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) &&
		    setsockopt(flows->flow[i].fd, SOL_SOCKET, SO_MAX_PACING_RATE, &old, sizeof(old)))
			return err_sys(err, errno, "--pace fq: SO_MAX_PACING_RATE %llu", (unsigned long long)rate);
	return 0;
}

int qpace_set(struct source_conf *conf, const struct flows *flows, struct err *err)
{
	char name[IF_NAMESIZE] = "?";
	struct qdisc q;
	unsigned index;
	int ret;

	if (conf->pace != PACER_TXTIME && conf->pace != PACER_FQ)
		return 0;
	ret = flows_device(flows, conf, &index, err);
	if (!ret)
		ret = qdisc_of(index, &q, err);
	if (ret)
		return ret;
	if_indextoname(index, name);
	ret = qpace_check(conf->pace, &q, name, err);
	if (ret)
		return ret;
	return conf->pace == PACER_TXTIME ? set_txtime(conf, flows, &q, err) : set_rate(conf, flows, err);
}
