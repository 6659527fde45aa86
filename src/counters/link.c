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

static bool is_link(const struct nlmsghdr *m)
{
	return m->nlmsg_type == RTM_NEWLINK && m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg));
}

/* Kernels append members: what this one does not have stays 0. */
static bool stats_of(const struct nlmsghdr *m, struct rtnl_link_stats64 *out)
{
	size_t size;
	const void *stats = netlink_find(m, sizeof(struct ifinfomsg), IFLA_STATS64, 1, &size);

	*out = (struct rtnl_link_stats64){ 0 };
	if (stats)
		memcpy(out, stats, size < sizeof(*out) ? size : sizeof(*out));
	return stats;
}

static void take(const struct nlmsghdr *m, void *data)
{
	struct look *l = data;

	if (is_link(m) && (unsigned)((const struct ifinfomsg *)NLMSG_DATA(m))->ifi_index == l->index)
		l->found = stats_of(m, &l->stats);
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

static bool has_xdp(const struct nlmsghdr *m)
{
	size_t size;
	const void *xdp = netlink_find(m, sizeof(struct ifinfomsg), IFLA_XDP, 1, &size);
	const unsigned char *attached = xdp ? netlink_find_in(xdp, size, IFLA_XDP_ATTACHED, 1, NULL) : NULL;

	return attached && *attached != XDP_ATTACHED_NONE;
}

void link_lost_take(const struct nlmsghdr *m, void *data)
{
	struct link_lost *lost = data;
	struct rtnl_link_stats64 s;

	if (!is_link(m) || !stats_of(m, &s))
		return;
	lost->errors += s.rx_errors + s.rx_missed_errors + s.rx_nohandler;
	lost->dropped += s.rx_dropped;
	lost->xdp |= has_xdp(m);
}

int link_lost(struct link_lost *out, struct err *err)
{
	struct netlink_request r;
	int ret;

	*out = (struct link_lost){ 0 };
	netlink_begin(&r, RTM_GETLINK, NLM_F_DUMP, sizeof(r.body.link));
	ret = netlink_ask(&r, link_lost_take, out);
	return ret ? err_sys(err, ret, "statistics of the interfaces") : 0;
}
