/* SPDX-License-Identifier: MIT */
/* UDP sockets: what is asked for is on, and what is refused is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/time.h>

#include "base/clock.h"
#include "child.h"
#include "net/sysctl.h"
#include "tap.h"
#include "udp.h"

#define ALL (CMSG_WANT_PKTINFO | CMSG_WANT_TTL | CMSG_WANT_TOS | CMSG_WANT_DROPS | CMSG_WANT_STAMP)

static void test_open_v4(void **state)
{
	struct sock_conf conf = { .want = ALL, .tos = 0xb8, .ttl = 9 };
	struct sock s = opened("127.0.0.5", &conf);
	char text[ADDR_TEXT];

	(void)state;
	assert_int_equal(s.family, AF_INET);
	assert_false(s.dual);
	assert_int_equal(s.want, ALL);
	assert_string_equal(addr_format_host(&s.local, text, sizeof(text)), "127.0.0.5");
	assert_true(addr_port(&s.local) > 0);
	assert_int_equal(s.peer.len, 0);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_TOS), 0xb8);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_TTL), 9);
	assert_int_equal(fcntl(s.fd, F_GETFD), FD_CLOEXEC);
	sock_close(&s);
	assert_int_equal(s.fd, -1);
	sock_close(&s);
}

static void test_open_dual(void **state)
{
	struct sock_conf conf = { .want = ALL, .tos = 0x48, .ttl = 7 };
	struct sock s = opened("::", &conf);

	(void)state;
	NEED_IPV6();
	assert_true(s.dual);
	assert_int_equal(s.want, ALL);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_PKTINFO), 1);
	assert_int_equal(get_int(s.fd, IPPROTO_IPV6, IPV6_RECVPKTINFO), 1);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_TOS), 0x48);
	assert_int_equal(get_int(s.fd, IPPROTO_IPV6, IPV6_TCLASS), 0x48);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_TTL), 7);
	assert_int_equal(get_int(s.fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS), 7);
	sock_close(&s);
	/* Only what is on for every family counts as on. */
	conf.v6only = SOCK_V6ONLY_ON;
	s = opened("::", &conf);
	assert_false(s.dual);
	assert_int_equal(s.want, ALL);
	assert_int_equal(get_int(s.fd, IPPROTO_IP, IP_PKTINFO), 0);
	s.dual = true;
	sock_close(&s);
}

static void test_nothing_asked(void **state)
{
	static const char *const locals[] = { "127.0.0.1", "::1" };

	(void)state;
	NEED_IPV6();
	for (size_t i = 0; i < ARRAY_SIZE(locals); i++) {
		struct sock s = opened(locals[i], &plain);

		assert_int_equal(s.want, 0);
		assert_false(s.gro);
		assert_int_equal(get_int(s.fd, SOL_SOCKET, SO_REUSEADDR), 0);
		assert_int_equal(get_int(s.fd, SOL_SOCKET, SO_REUSEPORT), 0);
		assert_false(s.reuse_port);
		sock_close(&s);
	}
}

static void test_reuse_port(void **state)
{
	struct sock_conf conf = { .reuse_port = true, .tos = -1, .ttl = -1 };
	struct sock s = opened("127.0.0.1", &conf);

	(void)state;
	assert_true(s.reuse_port);
	assert_int_equal(get_int(s.fd, SOL_SOCKET, SO_REUSEADDR), 0);
	sock_close(&s);
}

static void test_no_bind(void **state)
{
	struct addr none = { .sa = { .sa_family = AF_INET6 } };
	struct sock s;

	(void)state;
	NEED_IPV6();
	assert_int_equal(sock_open(&s, &none, &plain, NULL), 0);
	assert_int_equal(s.family, AF_INET6);
	assert_int_equal(addr_port(&s.local), 0);
	sock_close(&s);
}

static void check_bind_error(const char *local, int code, const char *says)
{
	struct addr a = parsed(local);
	struct err err = ERR_INIT;
	struct sock s;

	assert_int_equal(sock_open(&s, &a, &plain, &err), -code);
	assert_int_equal(s.fd, -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, local) || !strstr(err.text, strerror(code)) ||
	    !strstr(err.text, says))
		fail_msg("'%s' lacks '%s'", err.text, says);
}

static void test_bind_errors(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	char text[ADDR_TEXT];

	(void)state;
	check_bind_error(addr_format(&s.local, text, sizeof(text)), EADDRINUSE,
			 "; 'ss -uanp sport = :");
	check_bind_error("198.18.255.1:9", EADDRNOTAVAIL, "ip addr");
	sock_close(&s);
}

static int child_low_port(void)
{
	struct addr a = parsed("127.0.0.1:9");
	struct err err = ERR_INIT;
	struct sock s;
	int from;

	/* In a namespace of one's own the sysctl is 1024, whatever the host has. */
	if (!child_enter_netns() || sysctl_read_int("net.ipv4.ip_unprivileged_port_start", &from))
		return CHILD_SKIP;
	CHILD_CHECK(sysctl_write_int("net.ipv4.ip_unprivileged_port_start", 1024, NULL) == 0);
	/* A further user namespace takes the capabilities over this network away. */
	CHILD_CHECK(unshare(CLONE_NEWUSER) == 0);
	CHILD_CHECK(sock_open(&s, &a, &plain, &err) == -EACCES);
	CHILD_CHECK(strstr(err.text, "127.0.0.1:9") && strstr(err.text, "CAP_NET_BIND_SERVICE"));
	return CHILD_OK;
}

static void test_device(void **state)
{
	struct sock_conf conf = { .device = "lo", .tos = -1, .ttl = -1 };
	struct sock s = opened("127.0.0.1", &conf);
	struct err err = ERR_INIT;
	struct addr local = parsed("127.0.0.1");
	char name[IF_NAMESIZE] = "";
	socklen_t len = sizeof(name);

	(void)state;
	assert_int_equal(getsockopt(s.fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len), 0);
	assert_string_equal(name, "lo");
	sock_close(&s);
	conf.device = "nosuchif0";
	assert_int_equal(sock_open(&s, &local, &conf, &err), -ENODEV);
	assert_non_null(strstr(err.text, "--bind-dev nosuchif0"));
	conf.device = "a_name_that_is_too_long";
	assert_int_equal(sock_open(&s, &local, &conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--bind-dev a_name_that_is_too_long"));
}

/* R07: refused for lack of privilege: no socket, and the sentence has the option, the errno and the capability. */
static int child_device_refused(void)
{
	struct sock_conf conf = { .device = "lo", .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;

	if (!child_refuse_sockopt(SOL_SOCKET, SO_BINDTODEVICE, EPERM))
		return CHILD_SKIP;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == -EPERM);
	CHILD_CHECK(s.fd == -1);
	CHILD_CHECK(strstr(err.text, "--bind-dev lo") && strstr(err.text, strerror(EPERM)) &&
		    strstr(err.text, "CAP_NET_RAW"));
	return CHILD_OK;
}

/* R19: with SO_TIMESTAMPNS refused the microsecond stamps still come, and are read. */
static int child_stamp_fallback(void)
{
	struct sock_conf conf = { .want = CMSG_WANT_STAMP, .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct sock s;
	struct got got;

	if (!child_refuse_sockopt(SOL_SOCKET, SO_TIMESTAMPNS, ENOPROTOOPT))
		return CHILD_SKIP;
	CHILD_CHECK(sock_open(&s, &local, &conf, NULL) == 0);
	CHILD_CHECK(s.want == CMSG_WANT_STAMP);
	CHILD_CHECK(get_int(s.fd, SOL_SOCKET, SO_TIMESTAMP) == 1 &&
		    get_int(s.fd, SOL_SOCKET, SO_TIMESTAMPNS) == 0);
	CHILD_CHECK(send_to(&s, &s.local, "x") && receive(&s, &got));
	CHILD_CHECK(got.info.valid == CMSG_WANT_STAMP && !(got.flags & MSG_CTRUNC));
	CHILD_CHECK(got.info.stamp_ns <= clock_wall() &&
		    got.info.stamp_ns > clock_wall() - NSEC_PER_SEC);
	sock_close(&s);
	return CHILD_OK;
}

static int child_gro_refused(void)
{
	struct sock_conf conf = { .want = CMSG_WANT_GRO, .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;

	if (!child_refuse_sockopt(IPPROTO_UDP, 104, ENOPROTOOPT))
		return CHILD_SKIP;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == -ENOPROTOOPT && s.fd == -1);
	CHILD_CHECK(strstr(err.text, "--gro") && strstr(err.text, "Linux 5.0"));
	return CHILD_OK;
}

static int child_busy_poll_refused(void)
{
	struct sock_conf conf = { .busy_poll_us = 50, .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;

	if (!child_refuse_sockopt(SOL_SOCKET, SO_BUSY_POLL, EPERM))
		return CHILD_SKIP;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == -EPERM && s.fd == -1);
	CHILD_CHECK(strstr(err.text, "--busy-poll 50") && strstr(err.text, "CAP_NET_ADMIN"));
	return CHILD_OK;
}

static void test_lite(void **state)
{
	struct sock_conf conf = { .lite = true, .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;
	int rc = sock_open(&s, &local, &conf, &err);

	(void)state;
	if (!rc) {
		assert_int_equal(get_int(s.fd, SOL_SOCKET, SO_PROTOCOL), 136);
		sock_close(&s);
		return;
	}
	assert_int_equal(rc, -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "--lite"));
	assert_non_null(strstr(err.text, "no UDP-Lite"));
}

static void test_timeout(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	struct timeval tv;
	socklen_t len = sizeof(tv);
	char byte;

	(void)state;
	assert_int_equal(sock_set_timeout(s.fd, 1), 0); /* rounded up, not to "for ever" */
	assert_int_equal(getsockopt(s.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len), 0);
	assert_true(tv.tv_sec == 0 && tv.tv_usec > 0);
	assert_int_equal(recv(s.fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(sock_set_timeout(s.fd, 3 * NSEC_PER_SEC + 500 * NSEC_PER_MSEC), 0);
	assert_int_equal(getsockopt(s.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len), 0);
	assert_true(tv.tv_sec == 3 && tv.tv_usec == 500000);
	assert_int_equal(sock_set_timeout(s.fd, 0), 0);
	assert_int_equal(getsockopt(s.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len), 0);
	assert_true(tv.tv_sec == 0 && tv.tv_usec == 0);
	assert_int_equal(sock_set_nonblock(s.fd, true), 0);
	assert_true(fcntl(s.fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(sock_set_nonblock(s.fd, false), 0);
	assert_false(fcntl(s.fd, F_GETFL) & O_NONBLOCK);
	sock_close(&s);
	assert_int_equal(sock_set_timeout(s.fd, 1), -EBADF);
	assert_int_equal(sock_set_nonblock(s.fd, true), -EBADF);
}

IN_CHILD(test_low_port, child_low_port, NETNS)
IN_CHILD(test_device_refused, child_device_refused, SECCOMP)
IN_CHILD(test_stamp_fallback, child_stamp_fallback, SECCOMP)
IN_CHILD(test_gro_refused, child_gro_refused, SECCOMP)
IN_CHILD(test_busy_poll_refused, child_busy_poll_refused, SECCOMP)

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R02 open IPv4: address and port are real, options are on", test_open_v4, NULL,
		  NULL, NULL },
		{ "open dual stack: the options of both families", test_open_dual, NULL, NULL,
		  NULL },
		{ "R96 nothing asked, nothing on, no REUSEADDR", test_nothing_asked, NULL, NULL,
		  NULL },
		{ "R96 SO_REUSEPORT when asked, and no REUSEADDR", test_reuse_port, NULL, NULL,
		  NULL },
		{ "no bind", test_no_bind, NULL, NULL, NULL },
		{ "bind: in use, not ours", test_bind_errors, NULL, NULL, NULL },
		{ "bind: low port", test_low_port, NULL, NULL, NULL },
		{ "R07 device", test_device, NULL, NULL, NULL },
		{ "R07 device refused", test_device_refused, NULL, NULL, NULL },
		{ "R19 SO_TIMESTAMPNS refused: SO_TIMESTAMP", test_stamp_fallback, NULL, NULL,
		  NULL },
		{ "UDP_GRO refused", test_gro_refused, NULL, NULL, NULL },
		{ "SO_BUSY_POLL refused", test_busy_poll_refused, NULL, NULL, NULL },
		{ "UDP-Lite works or is refused with a sentence", test_lite, NULL, NULL, NULL },
		{ "time-out and blocking", test_timeout, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock", tests, NULL, NULL);
}
