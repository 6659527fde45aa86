/* SPDX-License-Identifier: MIT */
#include "net/route.h"

#include <errno.h>
#include <string.h>

#include "net/netlink.h"

static void add_address(struct netlink_request *r, unsigned short type, const struct addr *a)
{
	if (a->sa.sa_family == AF_INET)
		netlink_add(r, type, &a->in.sin_addr, sizeof(a->in.sin_addr));
	else
		netlink_add(r, type, &a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

static unsigned char bits(const struct addr *a)
{
	return a->sa.sa_family == AF_INET ? 32 : 128;
}

static void take(const struct nlmsghdr *answer, void *data)
{
	const void *oif = netlink_find(answer, sizeof(struct rtmsg), RTA_OIF, sizeof(unsigned), NULL);

	if (answer->nlmsg_type == RTM_NEWROUTE && oif)
		memcpy(data, oif, sizeof(unsigned));
}

int route_device(const struct addr *to, const struct addr *from, uint32_t mark, unsigned *index, struct err *err)
{
	struct addr dst = *to, src = from ? *from : (struct addr){ 0 };
	struct netlink_request r;
	char text[ADDR_TEXT];
	int ret;

	addr_to_family(&dst, addr_packet_family(&dst));
	netlink_begin(&r, RTM_GETROUTE, 0, sizeof(r.body.route));
	r.body.route.rtm_family = (unsigned char)dst.sa.sa_family;
	r.body.route.rtm_dst_len = bits(&dst);
	add_address(&r, RTA_DST, &dst);
	if (src.len && !addr_is_wildcard(&src) && addr_to_family(&src, dst.sa.sa_family)) {
		r.body.route.rtm_src_len = bits(&src);
		add_address(&r, RTA_SRC, &src);
	}
	if (mark)
		netlink_add(&r, RTA_MARK, &mark, sizeof(mark));
	if (dst.sa.sa_family == AF_INET6 && dst.in6.sin6_scope_id)
		netlink_add(&r, RTA_OIF, &dst.in6.sin6_scope_id, sizeof(dst.in6.sin6_scope_id));
	*index = 0;
	ret = netlink_ask(&r, take, index);
	if (!ret && !*index)
		ret = -ENODEV;
	return ret ? err_sys(err, ret, "the route to %s", addr_format_host(to, text, sizeof(text))) : 0;
}
