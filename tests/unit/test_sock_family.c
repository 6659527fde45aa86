/* SPDX-License-Identifier: MIT */
/* IPv4, IPv6, both on one socket: what arrives is understood, and answers leave from the right address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "child.h"
#include "net/sysctl.h"
#include "tap.h"
#include "udp.h"

#define ALL (CMSG_WANT_PKTINFO | CMSG_WANT_TTL | CMSG_WANT_TOS | CMSG_WANT_DROPS | CMSG_WANT_STAMP)

/* R11: V6ONLY is set either way, whatever net.ipv6.bindv6only says. */
static int check_v6only(bool only)
{
	struct sock_conf conf = plain;
	struct addr any = parsed("::"), to;
	struct sock s, client;
	struct got got;
	struct addr local4 = parsed("127.0.0.1");

	conf.v6only = only ? SOCK_V6ONLY_ON : SOCK_V6ONLY_OFF;
	CHILD_CHECK(sock_open(&s, &any, &conf, NULL) == 0);
	CHILD_CHECK(get_int(s.fd, IPPROTO_IPV6, IPV6_V6ONLY) == only);
	CHILD_CHECK(s.dual == !only);
	CHILD_CHECK(sock_open(&client, &local4, &plain, NULL) == 0);
	to = at(&s, "127.0.0.1");
	if (only) {
		/* The port of IPv4 is still free. */
		struct sock four;

		CHILD_CHECK(sock_open(&four, &to, &plain, NULL) == 0);
		sock_close(&four);
	} else {
		CHILD_CHECK(send_to(&client, &to, "four") && receive(&s, &got));
		CHILD_CHECK(addr_equal(&got.from, &client.local) && addr_is_mapped(&got.from));
	}
	sock_close(&client);
	sock_close(&s);
	return CHILD_OK;
}

static int child_bindv6only(void)
{
	if (!has_ipv6() || !child_enter_netns())
		return CHILD_SKIP;
	for (int sysctl = 0; sysctl < 2; sysctl++) {
		CHILD_CHECK(sysctl_write_int("net.ipv6.bindv6only", sysctl, NULL) == 0);
		CHILD_CHECK(check_v6only(true) == CHILD_OK);
		CHILD_CHECK(check_v6only(false) == CHILD_OK);
	}
	return CHILD_OK;
}

/* R02 R09 R10: one dual-stack socket with every option, asked at three addresses, answers from each of them. */
static void test_dual_stack_service(void **state)
{
	static const struct {
		const char *client, *server;
		int family;
	} rows[] = { { "127.0.0.1", "127.0.0.1", AF_INET },
		     { "127.0.0.1", "127.0.0.2", AF_INET },
		     { "::1", "::1", AF_INET6 } };
	struct sock_conf conf = { .want = ALL | CMSG_WANT_GRO, .tos = -1, .ttl = -1 };
	struct sock s = opened("::", &conf);

	(void)state;
	NEED_IPV6();
	assert_true(s.gro);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sock_conf marked = { .tos = 0xb9, .ttl = 33 };
		struct sock client = opened(rows[i].client, &marked);
		struct addr to = at(&s, rows[i].server), dst;
		struct got got;

		assert_true(send_to(&client, &to, "query"));
		assert_true(receive(&s, &got));
		assert_string_equal(got.text, "query");
		assert_false(got.flags & MSG_CTRUNC);
		assert_true(addr_equal(&got.from, &client.local));
		assert_int_equal(got.info.malformed, 0);
		/* No drops yet: that message stays away. One datagram: no segment size. */
		assert_int_equal(got.info.valid, ALL & ~CMSG_WANT_DROPS);
		assert_int_equal(got.info.family, rows[i].family);
		addr_from_in6(&dst, &got.info.dst, addr_port(&to), got.info.ifindex);
		assert_true(addr_equal(&dst, &to));
		assert_int_equal(got.info.ifindex, if_nametoindex("lo"));
		assert_int_equal(got.info.ttl, 33);
		assert_int_equal(got.info.tos, 0xb9);
		assert_in_range(got.info.stamp_ns, clock_wall() - NSEC_PER_SEC, clock_wall());
		assert_true(answer(&s, &got));
		assert_true(receive(&client, &got));
		assert_string_equal(got.text, "answer");
		assert_true(addr_equal(&got.from, &to));
		sock_close(&client);
	}
	sock_close(&s);
}

/* R02: without pktinfo, a socket on one address still answers from it. */
static void test_specific_address(void **state)
{
	struct sock s = opened("127.0.0.5", &plain), client = opened("127.0.0.1", &plain);
	struct got got;

	(void)state;
	assert_true(send_to(&client, &s.local, "query"));
	assert_true(receive(&s, &got));
	assert_int_equal(got.info.valid, 0);
	assert_true(answer(&s, &got));
	assert_true(receive(&client, &got));
	assert_true(addr_equal(&got.from, &s.local));
	sock_close(&client);
	sock_close(&s);
}

/* An IPv6 address on an interface (struct in6_ifreq of linux/ipv6.h, whose header does not go with netinet/in.h). */
static bool add_address6(const char *dev, const char *text, unsigned prefix)
{
	struct {
		struct in6_addr addr;
		uint32_t prefix;
		int ifindex;
	} request = { .prefix = prefix, .ifindex = (int)if_nametoindex(dev) };
	struct addr a = parsed(text);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	request.addr = a.in6.sin6_addr;
	ok = fd >= 0 && !ioctl(fd, SIOCSIFADDR, &request);
	util_close(&fd);
	return ok;
}

/* R13: the scope is there from the first datagram to the answer. */
static int child_link_local(void)
{
	struct sock_conf conf = { .want = CMSG_WANT_PKTINFO, .tos = -1, .ttl = -1 };
	struct addr any = parsed("::"), link, to;
	struct sock s, client;
	struct got got;
	int rc;

	if (!has_ipv6() || !child_enter_netns())
		return CHILD_SKIP;
	CHILD_CHECK(add_address6("lo", "fe80::7%lo", 64));
	link = parsed("fe80::7%lo");
	CHILD_CHECK(sock_open(&s, &any, &conf, NULL) == 0);
	/* The kernel's worker makes the address usable a moment later. */
	for (int ms = 0;
	     (rc = sock_open(&client, &link, &plain, NULL)) == -EADDRNOTAVAIL && ms < DEADLINE_MS;
	     ms++)
		poll(NULL, 0, 1);
	CHILD_CHECK(rc == 0);
	to = at(&s, "fe80::7%lo");
	CHILD_CHECK(send_to(&client, &to, "query") && receive(&s, &got));
	CHILD_CHECK(got.from.in6.sin6_scope_id == if_nametoindex("lo"));
	CHILD_CHECK(addr_equal(&got.from, &client.local));
	CHILD_CHECK(answer(&s, &got) && receive(&client, &got));
	CHILD_CHECK(addr_equal(&got.from, &to) &&
		    got.from.in6.sin6_scope_id == if_nametoindex("lo"));
	sock_close(&s);
	sock_close(&client);
	return CHILD_OK;
}

IN_CHILD(test_bindv6only, child_bindv6only, NETNS ", or no IPv6")
IN_CHILD(test_link_local, child_link_local, NETNS ", or no IPv6")

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R11 V6ONLY under both values of bindv6only", test_bindv6only, NULL, NULL, NULL },
		{ "R02 R09 R10 R15 dual-stack service with every option", test_dual_stack_service,
		  NULL, NULL, NULL },
		{ "R02 one address answers without pktinfo", test_specific_address, NULL, NULL,
		  NULL },
		{ "R13 link-local there and back", test_link_local, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock_family", tests, NULL, NULL);
}
