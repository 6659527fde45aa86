/* SPDX-License-Identifier: MIT */
/* sock_join - multicast groups; see sock.h. */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "net/sock_opt.h"

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29 /* linux/in6.h, since Linux 4.20 */
#endif

int sock_join_parse(const char *text, struct addr *out, unsigned *ifindex, struct err *err)
{
	size_t host = strcspn(text, "%");
	char ip[INET6_ADDRSTRLEN];

	memset(out, 0, sizeof(*out));
	*ifindex = 0;
	snprintf(ip, sizeof(ip), "%.*s", (int)MIN(host, sizeof(ip) - 1), text);
	if (inet_pton(AF_INET, ip, &out->in.sin_addr) == 1) {
		out->in.sin_family = AF_INET;
		out->len = sizeof(out->in);
	} else if (inet_pton(AF_INET6, ip, &out->in6.sin6_addr) == 1) {
		out->in6.sin6_family = AF_INET6;
		out->len = sizeof(out->in6);
	}
	if (!addr_is_multicast(out))
		return err_say(err, EINVAL,
			       "--join %s: is no multicast address (224.0.0.0/4 or ff00::/8)",
			       text);
	if (!text[host])
		return 0;
	*ifindex = if_nametoindex(text + host + 1);
	if (*ifindex)
		return 0;
	return err_say(err, ENODEV, "--join %s: there is no interface '%s' here (see 'ip link')",
		       text, text + host + 1);
}

/* Only what this socket joined: otherwise a wildcard socket gets the groups of every program on the host (ip(7)). A
 * kernel without the option keeps that behaviour. */
static void only_joined(const struct sock *sock)
{
	const int off = 0;

	if (sock_opt_has4(sock))
		setsockopt(sock->fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off));
	if (sock_opt_has6(sock))
		setsockopt(sock->fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof(off));
}

int sock_join(struct sock *sock, const char *group, struct err *err)
{
	struct ip_mreqn four = { 0 };
	struct ipv6_mreq six;
	struct addr addr;
	unsigned ifindex;
	int rc = sock_join_parse(group, &addr, &ifindex, err);

	if (rc)
		return rc;
	if (addr.sa.sa_family == AF_INET ? !sock_opt_has4(sock) : !sock_opt_has6(sock))
		return err_say(err, EAFNOSUPPORT, "--join %s: the socket does not take this family",
			       group);
	only_joined(sock);
	if (addr.sa.sa_family == AF_INET) {
		four.imr_multiaddr = addr.in.sin_addr;
		four.imr_ifindex = (int)ifindex;
		rc = setsockopt(sock->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four));
	} else {
		six.ipv6mr_multiaddr = addr.in6.sin6_addr;
		six.ipv6mr_interface = ifindex;
		rc = setsockopt(sock->fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &six, sizeof(six));
	}
	if (rc)
		rc = err_sys(err, errno, "--join %s", group);
	if (rc == -ENODEV)
		err_hint(err, "; no route leads to the group: name the interface, GROUP%%DEV");
	return rc;
}
