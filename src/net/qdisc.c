/* SPDX-License-Identifier: MIT */
#include "net/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

void qdisc_begin(struct qdisc *out, unsigned index)
{
	*out = (struct qdisc){ .index = index, .clock = -1 };
}

static void read_etf(const struct nlmsghdr *m, struct qdisc *q)
{
	size_t size;
	const void *options = netlink_find(m, sizeof(struct tcmsg), TCA_OPTIONS, 0, &size);
	const void *parms = options ? netlink_find_in(options, size, TCA_ETF_PARMS, sizeof(struct tc_etf_qopt), NULL) : NULL;
	struct tc_etf_qopt etf;

	if (!parms)
		return;
	memcpy(&etf, parms, sizeof(etf));
	q->clock = etf.clockid;
	q->delta_ns = etf.delta > 0 ? (uint32_t)etf.delta : 0;
}

/* One queue below the root, or the root itself. */
static void add_kind(struct qdisc *q, const char *kind)
{
	if (!q->kind[0])
		snprintf(q->kind, sizeof(q->kind), "%s", kind);
	else if (strcmp(q->kind, kind))
		snprintf(q->kind, sizeof(q->kind), "several");
}

/* Classes hand a packet on to the discipline below them and count what that drops too (sch_generic.h, qdisc_qstats_drop); mq adds its queues up. */
static void read_drops(const struct nlmsghdr *m, struct qdisc *q)
{
	size_t size;
	const void *stats = netlink_find(m, sizeof(struct tcmsg), TCA_STATS2, 0, &size);
	const void *queue = stats ? netlink_find_in(stats, size, TCA_STATS_QUEUE, sizeof(struct gnet_stats_queue), NULL) : NULL;
	struct gnet_stats_queue now;

	if (!queue)
		return;
	memcpy(&now, queue, sizeof(now));
	q->drops = now.drops;
	q->drops_known = true;
}

static bool is_multi(const char *kind)
{
	return !strcmp(kind, "mq") || !strcmp(kind, "mqprio");
}

/* The kernel lists the root first (tc_dump_qdisc_root). */
void qdisc_take(const struct nlmsghdr *m, void *data)
{
	const struct tcmsg *tc = NLMSG_DATA(m);
	struct qdisc *q = data;
	char kind[sizeof(q->kind)];
	const char *name;
	size_t len;

	if (m->nlmsg_type != RTM_NEWQDISC || m->nlmsg_len < NLMSG_LENGTH(sizeof(*tc)) || (unsigned)tc->tcm_ifindex != q->index)
		return;
	name = netlink_find(m, sizeof(*tc), TCA_KIND, 1, &len);
	if (!name)
		return;
	snprintf(kind, sizeof(kind), "%.*s", (int)MIN(len, sizeof(kind)), name);
	if (tc->tcm_parent == TC_H_ROOT) {
		memcpy(q->root, kind, sizeof(kind));
		q->handle = tc->tcm_handle;
		read_drops(m, q);
	} else if (!is_multi(q->root) || TC_H_MAJ(tc->tcm_parent) != TC_H_MAJ(q->handle)) {
		return; /* ingress, or a class of a discipline that is no mere list of queues */
	}
	if (is_multi(kind))
		return;
	add_kind(q, kind);
	if (!strcmp(kind, "etf"))
		read_etf(m, q);
}

int qdisc_of(unsigned index, struct qdisc *out, struct err *err)
{
	struct netlink_request r;
	char name[IF_NAMESIZE];
	int ret;

	qdisc_begin(out, index);
	netlink_begin(&r, RTM_GETQDISC, NLM_F_DUMP, sizeof(r.body.tc));
	r.body.tc.tcm_ifindex = (int)index; /* kernels before 4.19 send all */
	ret = netlink_ask(&r, qdisc_take, out);
	if (!ret && !out->root[0])
		ret = -ENOENT;
	return ret ? err_sys(err, ret, "the queueing discipline of %s", if_indextoname(index, name) ? name : "the interface") : 0;
}
