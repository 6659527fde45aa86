/* SPDX-License-Identifier: MIT */
/* Groups: multicast, and reuse-port with steering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
#include "tap.h"
#include "udp.h"

static void test_join_refused(void **state)
{
	static const struct {
		const char *local, *group;
		int code;
		const char *says;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.2", EINVAL, "no multicast address" },
		{ "127.0.0.1", "all", EINVAL, "no multicast address" },
		{ "127.0.0.1", "", EINVAL, "no multicast address" },
		{ "127.0.0.1", "239.1.2.3%nosuchif0", ENODEV, "nosuchif0" },
		{ "127.0.0.1", "239.1.2.3%", ENODEV, "ip link" },
		{ "127.0.0.1", "ff05::1%lo", EAFNOSUPPORT, "family" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sock s = opened(rows[i].local, &plain);
		struct err err = ERR_INIT;

		assert_int_equal(sock_join(&s, rows[i].group, &err), -rows[i].code);
		if (!strstr(err.text, "--join") || !strstr(err.text, rows[i].group) ||
		    !strstr(err.text, rows[i].says))
			fail_msg("'%s' lacks '%s'", err.text, rows[i].says);
		sock_close(&s);
	}
}

static bool send_by(struct sock *client, const char *dev)
{
	const struct ip_mreqn four = { .imr_ifindex = (int)if_nametoindex(dev) };

	if (client->family == AF_INET)
		return !setsockopt(client->fd, IPPROTO_IP, IP_MULTICAST_IF, &four, sizeof(four));
	return !setsockopt(client->fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &four.imr_ifindex,
			   sizeof(four.imr_ifindex));
}

/* "GROUP%dev" without the device, which the sending socket has. */
static struct addr group_at(const struct sock *s, const char *group)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(group, "%"), group);
	return at(s, text);
}

/* One host, one port, two groups, a receiver for each: every one gets its own group only. */
static int join_one_of_two(const char *receiver, const char *sender, const char *joined,
			   const char *not_joined)
{
	const char *dev = strchr(joined, '%') + 1;
	struct sock_conf conf = { .reuse_port = true, .tos = -1, .ttl = -1 };
	struct addr local = parsed(receiver), from = parsed(sender), to;
	struct sock s, other, client;
	struct got got;

	CHILD_CHECK(sock_open(&s, &local, &conf, NULL) == 0);
	local = s.local;
	CHILD_CHECK(sock_open(&other, &local, &conf, NULL) == 0);
	CHILD_CHECK(sock_open(&client, &from, &plain, NULL) == 0 && send_by(&client, dev));
	CHILD_CHECK(sock_join(&s, joined, NULL) == 0);
	CHILD_CHECK(sock_join(&s, joined, NULL) == -EADDRINUSE);
	CHILD_CHECK(sock_join(&other, not_joined, NULL) == 0);
	to = group_at(&s, not_joined);
	CHILD_CHECK(send_to(&client, &to, "other"));
	to = group_at(&s, joined);
	CHILD_CHECK(send_to(&client, &to, "ours"));
	CHILD_CHECK(receive(&s, &got) && !strcmp(got.text, "ours"));
	CHILD_CHECK(recv(s.fd, got.text, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	CHILD_CHECK(receive(&other, &got) && !strcmp(got.text, "other"));
	sock_close(&client);
	sock_close(&other);
	sock_close(&s);
	return CHILD_OK;
}

static int child_join(void)
{
	if (!has_ipv6() || !child_enter_netns())
		return CHILD_SKIP;
	CHILD_CHECK(join_one_of_two("0.0.0.0", "127.0.0.1", "239.1.2.3%lo", "239.1.2.4%lo") ==
		    CHILD_OK);
	CHILD_CHECK(join_one_of_two("::", "127.0.0.1", "239.1.2.3%lo", "239.1.2.4%lo") == CHILD_OK);
	/* lo has no IPv6 multicast. */
	if (system("ip link add us0 type veth peer name us1 && "
		   "ip link set us1 up && ip link set us0 up && "
		   "ip addr add 2001:db8::1/64 dev us0 nodad"))
		return CHILD_SKIP;
	CHILD_CHECK(join_one_of_two("::", "2001:db8::1", "ff05::1:1%us0", "ff05::1:2%us0") ==
		    CHILD_OK);
	return CHILD_OK;
}

/* Every CPU's share goes to the member of its number: with one member, to that one. */
static void test_steer(void **state)
{
	struct sock_conf conf = { .reuse_port = true, .tos = -1, .ttl = -1 };
	struct sock s[2], client = opened("127.0.0.1", &plain);
	struct err err = ERR_INIT;
	struct addr local;
	char byte;

	(void)state;
	s[0] = opened("127.0.0.1", &conf);
	local = s[0].local;
	assert_int_equal(sock_open(&s[1], &local, &conf, NULL), 0);
	assert_int_equal(sock_steer_by_cpu(&s[0], 0, &err), -EINVAL);
	assert_int_equal(sock_steer_by_cpu(&s[0], 1, &err), 0);
	for (int i = 0; i < 64; i++) {
		struct sock flow = opened("127.0.0.1", &plain);

		assert_true(send_to(&flow, &local, "x"));
		sock_close(&flow);
	}
	for (int i = 0; i < 64; i++)
		assert_int_equal(recv(s[0].fd, &byte, 1, MSG_DONTWAIT), 1);
	assert_int_equal(recv(s[1].fd, &byte, 1, MSG_DONTWAIT), -1);
	sock_close(&client);
	sock_close(&s[1]);
	sock_close(&s[0]);
}

IN_CHILD(test_join, child_join, NETNS ", or no IPv6, or ip(8) is missing")

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "multicast: refused", test_join_refused, NULL, NULL, NULL },
		{ "multicast: joined groups only", test_join, NULL, NULL, NULL },
		{ "steering by CPU", test_steer, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock_join", tests, NULL, NULL);
}
