/* SPDX-License-Identifier: MIT */
#include "counters/link.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "net/netlink.h"

struct look {
	unsigned index;
	bool found;
	struct rtnl_link_stats64 stats;
};

static void take(const struct nlmsghdr *m, void *data)
{
	struct look *l = data;
	const struct ifinfomsg *link = NLMSG_DATA(m);
	size_t size;
	const void *stats;

	if (m->nlmsg_type != RTM_NEWLINK || m->nlmsg_len < NLMSG_LENGTH(sizeof(*link)) || (unsigned)link->ifi_index != l->index)
		return;
	/* Kernels append members: what this one does not have stays 0. */
	stats = netlink_find(m, sizeof(*link), IFLA_STATS64, 1, &size);
	if (!stats)
		return;
	memcpy(&l->stats, stats, size < sizeof(l->stats) ? size : sizeof(l->stats));
	l->found = true;
}

int link_read(unsigned index, struct rtnl_link_stats64 *out, struct err *err)
{
	struct look l = { .index = index };
	struct netlink_request r;
	char name[IF_NAMESIZE];
	int ret;

	netlink_begin(&r, RTM_GETLINK, 0, sizeof(r.body.link));
	r.body.link.ifi_index = (int)index;
	ret = netlink_ask(&r, take, &l);
	if (!ret && !l.found)
		ret = -ENODATA;
	*out = l.stats;
	return ret ? err_sys(err, ret, "statistics of %s", if_indextoname(index, name) ? name : "the interface") : 0;
}
