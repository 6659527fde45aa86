/* SPDX-License-Identifier: MIT */
/* UDP sockets on loopback: what is asked for is on, what is refused is said, and what the kernel delivers is understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/clock.h"
#include "child.h"
#include "net/sock.h"
#include "net/sock_buffer.h"
#include "net/sysctl.h"
#include "tap.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define ALL (CMSG_WANT_PKTINFO | CMSG_WANT_TTL | CMSG_WANT_TOS | CMSG_WANT_DROPS | CMSG_WANT_STAMP)

/* A datagram sent on loopback is in the queue when sendto(2) returns, on one CPU; this is for the case that it is not. */
#define DEADLINE_MS 2000

static const struct sock_conf plain = { .tos = -1, .ttl = -1 };

static struct addr parsed(const char *text)
{
	struct addr a = { 0 };
	struct err err = ERR_INIT;

	if (addr_parse(text, AF_UNSPEC, 0, &a, &err))
		fprintf(stderr, "%s\n", err.text);
	return a;
}

/* cmocka form: fails the test. */
static struct sock opened(const char *local, const struct sock_conf *conf)
{
	struct addr a = parsed(local);
	struct err err = ERR_INIT;
	struct sock s;

	if (sock_open(&s, &a, conf, &err))
		fail_msg("%s", err.text);
	return s;
}

/* The address of a socket as reached through another of this host's addresses. */
static struct addr at(const struct sock *s, const char *host)
{
	struct addr a = parsed(host);

	addr_set_port(&a, addr_port(&s->local));
	return a;
}

static bool send_to(const struct sock *from, const struct addr *to, const char *text)
{
	return sendto(from->fd, text, strlen(text), 0, &to->sa, to->len) == (ssize_t)strlen(text);
}

static bool wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, DEADLINE_MS) == 1 && p.revents & POLLIN;
}

/* One datagram with everything around it. */
struct got {
	ssize_t len;
	char text[64];
	struct addr from;
	struct cmsg_info info;
	int flags;
};

static bool receive(const struct sock *s, struct got *got)
{
	_Alignas(struct cmsghdr) unsigned char control[512];
	struct iovec iov = { got->text, sizeof(got->text) - 1 };
	struct msghdr h = { .msg_name = &got->from.ss, .msg_namelen = sizeof(got->from.ss), .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = cmsg_space(s->want, s->family, s->dual) };

	memset(got->text, 0, sizeof(got->text));
	got->len = wait_readable(s->fd) ? recvmsg(s->fd, &h, MSG_DONTWAIT) : -1;
	got->from.len = h.msg_namelen;
	got->flags = h.msg_flags;
	cmsg_parse(control, h.msg_controllen, &got->info);
	return got->len >= 0;
}

/* Sends an answer the way a server does: source = destination of the request. */
static bool answer(const struct sock *s, const struct got *got)
{
	_Alignas(struct cmsghdr) unsigned char control[128];
	struct addr to = got->from;
	struct iovec iov = { (char *)"answer", 6 };
	struct msghdr h = { .msg_name = &to.ss, .msg_namelen = to.len, .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };

	h.msg_controllen = cmsg_reply(control, sizeof(control), &got->info, s->family, false);
	if (!h.msg_controllen)
		h.msg_control = NULL;
	return sendmsg(s->fd, &h, 0) == 6;
}

static int get_int(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? -errno : value;
}

/* ------------------------------------------------------------------ open and read back */

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
	if (!strstr(err.text, local) || !strstr(err.text, strerror(code)) || !strstr(err.text, says))
		fail_msg("'%s' lacks '%s'", err.text, says);
}

static void test_bind_errors(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	char text[ADDR_TEXT];

	(void)state;
	check_bind_error(addr_format(&s.local, text, sizeof(text)), EADDRINUSE, "; 'ss -uanp sport = :");
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

/* ------------------------------------------------------------------ families */

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
	if (!child_enter_netns())
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
	} rows[] = { { "127.0.0.1", "127.0.0.1", AF_INET }, { "127.0.0.1", "127.0.0.2", AF_INET }, { "::1", "::1", AF_INET6 } };
	struct sock_conf conf = { .want = ALL | CMSG_WANT_GRO, .tos = -1, .ttl = -1 };
	struct sock s = opened("::", &conf);

	(void)state;
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

	if (!child_enter_netns())
		return CHILD_SKIP;
	CHILD_CHECK(add_address6("lo", "fe80::7%lo", 64));
	link = parsed("fe80::7%lo");
	CHILD_CHECK(sock_open(&s, &any, &conf, NULL) == 0);
	CHILD_CHECK(sock_open(&client, &link, &plain, NULL) == 0);
	to = at(&s, "fe80::7%lo");
	CHILD_CHECK(send_to(&client, &to, "query") && receive(&s, &got));
	CHILD_CHECK(got.from.in6.sin6_scope_id == if_nametoindex("lo"));
	CHILD_CHECK(addr_equal(&got.from, &client.local));
	CHILD_CHECK(answer(&s, &got) && receive(&client, &got));
	CHILD_CHECK(addr_equal(&got.from, &to) && got.from.in6.sin6_scope_id == if_nametoindex("lo"));
	sock_close(&s);
	sock_close(&client);
	return CHILD_OK;
}

/* ------------------------------------------------------------------ devices, privileges, kernels without something */

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
	CHILD_CHECK(strstr(err.text, "--bind-dev lo") && strstr(err.text, strerror(EPERM)) && strstr(err.text, "CAP_NET_RAW"));
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
	CHILD_CHECK(get_int(s.fd, SOL_SOCKET, SO_TIMESTAMP) == 1 && get_int(s.fd, SOL_SOCKET, SO_TIMESTAMPNS) == 0);
	CHILD_CHECK(send_to(&s, &s.local, "x") && receive(&s, &got));
	CHILD_CHECK(got.info.valid == CMSG_WANT_STAMP && !(got.flags & MSG_CTRUNC));
	CHILD_CHECK(got.info.stamp_ns <= clock_wall() && got.info.stamp_ns > clock_wall() - NSEC_PER_SEC);
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

/* ------------------------------------------------------------------ buffers */

static int limit_of(const char *name)
{
	int limit;

	return sysctl_read_int(name, &limit) ? 0 : limit;
}

/* R89 R90: as an ordinary user the force variant is refused without a word, and the limit rules. */
static int child_buffer_unprivileged(void)
{
	struct sock_conf conf = { .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	int limit = limit_of("net.core.rmem_max"), wlimit = limit_of("net.core.wmem_max");
	char text[240];
	struct sock s;

	if (limit < 4096 || limit > 1 << 28 || wlimit < 4096 || wlimit > 1 << 28)
		return CHILD_SKIP;
	/* Root in a user namespace of one's own has no CAP_NET_ADMIN where it counts, and keeps none over this network. */
	if (unshare(CLONE_NEWUSER))
		return CHILD_SKIP;
	conf.rcvbuf = (uint64_t)limit * 2;
	conf.sndbuf = (uint64_t)wlimit * 2;
	CHILD_CHECK(sock_open(&s, &local, &conf, NULL) == 0);
	CHILD_CHECK(!s.rcvbuf.forced && s.rcvbuf.asked == conf.rcvbuf);
	CHILD_CHECK(s.rcvbuf.granted == (uint64_t)limit && s.rcvbuf.limit == (uint64_t)limit);
	CHILD_CHECK(!strcmp(s.rcvbuf.sysctl, "net.core.rmem_max") && !strcmp(s.sndbuf.sysctl, "net.core.wmem_max"));
	CHILD_CHECK(s.sndbuf.granted == (uint64_t)wlimit);
	CHILD_CHECK(sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)));
	CHILD_CHECK(strstr(text, "net.core.rmem_max") && !strstr(text, "wmem"));
	sock_close(&s);

	conf.rcvbuf_strict = true;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == -ENOBUFS && s.fd == -1);
	CHILD_CHECK(strstr(err.text, "--rcvbuf") && strstr(err.text, "net.core.rmem_max") && strstr(err.text, "CAP_NET_ADMIN"));

	/* Just the limit: nothing is short. */
	conf.rcvbuf = (uint64_t)limit;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == 0);
	CHILD_CHECK(s.rcvbuf.granted == conf.rcvbuf && !sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)) && !text[0]);
	sock_close(&s);
	/* More than an int holds is asked for as much as there is, and reported as asked. */
	conf = (struct sock_conf){ .rcvbuf = UINT64_C(1) << 40, .tos = -1, .ttl = -1 };
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == 0);
	CHILD_CHECK(s.rcvbuf.asked == conf.rcvbuf && s.rcvbuf.granted == (uint64_t)limit);
	sock_close(&s);
	return CHILD_OK;
}

static void test_buffer_forced(void **state)
{
	int limit = limit_of("net.core.rmem_max");
	struct sock_conf conf = { .rcvbuf = (uint64_t)limit + 65536, .rcvbuf_strict = true, .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;
	int rc;

	(void)state;
	if (limit <= 0 || limit > 1 << 28)
		TAP_SKIP("net.core.rmem_max is not readable here, or too large to pass");
	rc = sock_open(&s, &local, &conf, &err);
	if (rc == -ENOBUFS)
		TAP_SKIP("SO_RCVBUFFORCE is not permitted here (needs CAP_NET_ADMIN in the first user namespace)");
	assert_int_equal(rc, 0);
	assert_true(s.rcvbuf.forced);
	assert_true(s.rcvbuf.granted == conf.rcvbuf);
	sock_close(&s);
}

static void test_buffer_default(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	char text[240];

	(void)state;
	assert_int_equal(s.rcvbuf.asked, 0);
	assert_false(s.rcvbuf.forced);
	assert_int_equal(s.rcvbuf.granted, get_int(s.fd, SOL_SOCKET, SO_RCVBUF) / 2);
	assert_false(sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)));
	sock_close(&s);
}

/* ------------------------------------------------------------------ connect and drain */

static void test_connect(void **state)
{
	struct sock dual = opened("::", &plain), four = opened("127.0.0.1", &plain), peer4 = opened("127.0.0.1", &plain);
	struct sock peer6 = opened("::1", &plain), six;
	struct sock_conf only = { .v6only = SOCK_V6ONLY_ON, .tos = -1, .ttl = -1 };
	struct err err = ERR_INIT;
	struct got got;

	(void)state;
	assert_int_equal(sock_connect(&dual, &peer4.local, &err), 0);
	assert_true(addr_equal(&dual.peer, &peer4.local));
	assert_true(addr_is_loopback(&dual.local)); /* the wildcard became an address */
	assert_true(send_to(&peer4, &dual.local, "hello") == false); /* mapped name, IPv4 socket */
	assert_int_equal(sock_connect(&peer4, &dual.local, &err), 0); /* a mapped peer of an IPv4 socket is IPv4 */
	assert_int_equal(send(peer4.fd, "hello", 5, 0), 5);
	assert_true(receive(&dual, &got));
	assert_string_equal(got.text, "hello");

	assert_int_equal(sock_connect(&four, &peer6.local, &err), -EAFNOSUPPORT);
	assert_non_null(strstr(err.text, "IPv4 only"));
	assert_int_equal(four.peer.len, 0);
	six = opened("::1", &only);
	assert_int_equal(sock_connect(&six, &four.local, &err), -EAFNOSUPPORT);
	assert_non_null(strstr(err.text, "IPv6 only"));
	sock_close(&six);
	sock_close(&peer6);
	sock_close(&peer4);
	sock_close(&four);
	sock_close(&dual);
}

static int child_connect_refused(void)
{
	struct addr local = parsed("127.0.0.1"), peer = parsed("198.18.0.1:9");
	struct err err = ERR_INIT;
	struct sock s;

	/* Nothing but lo there: no route. */
	if (!child_enter_netns())
		return CHILD_SKIP;
	local = parsed("0.0.0.0");
	CHILD_CHECK(sock_open(&s, &local, &plain, NULL) == 0);
	CHILD_CHECK(sock_connect(&s, &peer, &err) == -ENETUNREACH);
	CHILD_CHECK(strstr(err.text, "198.18.0.1:9") && strstr(err.text, "no route"));
	CHILD_CHECK(s.peer.len == 0);
	sock_close(&s);
	return CHILD_OK;
}

/* R104: what others sent before connect(2) is still in the queue; it is taken out and counted apart, however it is mixed with the peer's. */
static void drain_mixed(const char *server, const char *client)
{
	struct sock s = opened(server, &plain), a = opened(client, &plain), b = opened(client, &plain);
	struct addr to = at(&s, client);
	struct sock_drained d;
	struct got got;

	for (int i = 0; i < 5; i++) {
		assert_true(send_to(&a, &to, "foreign"));
		assert_true(send_to(&b, &to, "early"));
		assert_true(send_to(&a, &to, "foreign"));
	}
	assert_int_equal(sock_connect(&s, &b.local, NULL), 0);
	assert_int_equal(sock_drain(&s, &d), 0);
	assert_int_equal(d.foreign, 10);
	assert_int_equal(d.peer, 5);
	/* After connect(2) only the peer comes through; the foreign sender hears that nobody is there. */
	send_to(&a, &to, "foreign");
	assert_true(send_to(&b, &to, "mine"));
	assert_true(receive(&s, &got));
	assert_string_equal(got.text, "mine");
	assert_int_equal(recv(s.fd, got.text, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	sock_close(&b);
	sock_close(&a);
	sock_close(&s);
}

static void test_drain(void **state)
{
	(void)state;
	drain_mixed("127.0.0.1", "127.0.0.1");
	drain_mixed("::1", "::1");
	drain_mixed("::", "127.0.0.1");
	drain_mixed("::", "::1");
}

static void test_drain_empty(void **state)
{
	struct sock s = opened("127.0.0.1", &plain), peer = opened("127.0.0.1", &plain);
	struct addr gone = peer.local;
	struct sock_drained d = { 1, 1 };

	(void)state;
	assert_int_equal(sock_connect(&s, &peer.local, NULL), 0);
	assert_int_equal(sock_drain(&s, &d), 0);
	assert_int_equal(d.foreign + d.peer, 0);
	/* R104: zero-length datagrams are datagrams; a pending refusal ends nothing. */
	assert_int_equal(sendto(peer.fd, "", 0, 0, &s.local.sa, s.local.len), 0);
	sock_close(&peer);
	assert_int_equal(send(s.fd, "x", 1, 0), 1); /* nobody there: ECONNREFUSED is pending */
	assert_int_equal(sock_drain(&s, &d), 0);
	assert_int_equal(d.peer, 1);
	assert_true(addr_equal(&s.peer, &gone));
	sock_close(&s);
}

/* A full queue is drained to the end; the bound is never less than what it holds. */
static void test_drain_full(void **state)
{
	struct sock s = opened("127.0.0.1", &plain), a = opened("127.0.0.1", &plain), b = opened("127.0.0.1", &plain);
	struct sock_memory before, after;
	struct sock_drained d;

	(void)state;
	do {
		assert_true(send_to(&a, &s.local, ""));
		assert_int_equal(sock_memory(s.fd, &before), 0);
	} while (!before.drops);
	assert_int_equal(sock_connect(&s, &b.local, NULL), 0);
	assert_int_equal(sock_drain(&s, &d), 0);
	assert_true(d.foreign > 10);
	assert_int_equal(d.peer, 0);
	assert_int_equal(recv(s.fd, NULL, 0, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(sock_memory(s.fd, &after), 0);
	assert_true(after.rmem < before.rmem);
	sock_close(&b);
	sock_close(&a);
	sock_close(&s);
}

/* R18: a coalesced buffer counts as its datagrams, and the segment size comes out of the control message. */
static void test_gro(void **state)
{
	struct sock_conf conf = { .want = CMSG_WANT_GRO, .tos = -1, .ttl = -1 };
	struct sock s = opened("127.0.0.1", &conf), client = opened("127.0.0.1", &plain), other = opened("127.0.0.1", &plain);
	static unsigned char payload[10 * 1200];
	const int segment = 1200;
	_Alignas(struct cmsghdr) unsigned char control[64];
	struct iovec iov = { payload, sizeof(payload) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_drained d;
	struct cmsg_info info;

	(void)state;
	assert_true(s.gro);
	if (setsockopt(client.fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		TAP_SKIP("no UDP_SEGMENT in this kernel");
	for (int i = 0; i < 2; i++)
		assert_int_equal(sendto(client.fd, payload, sizeof(payload), 0, &s.local.sa, s.local.len), sizeof(payload));
	assert_true(wait_readable(s.fd));
	assert_int_equal(recvmsg(s.fd, &h, MSG_DONTWAIT), sizeof(payload));
	assert_false(h.msg_flags & MSG_CTRUNC);
	cmsg_parse(control, h.msg_controllen, &info);
	assert_int_equal(info.valid, CMSG_WANT_GRO);
	assert_int_equal(info.gro_segment, 1200);
	assert_int_equal(sock_connect(&s, &other.local, NULL), 0);
	assert_int_equal(sock_drain(&s, &d), 0);
	assert_int_equal(d.foreign, 10);
	sock_close(&other);
	sock_close(&client);
	sock_close(&s);
}

/* ------------------------------------------------------------------ counters, time-outs, groups */

/* Last column of the socket's line in /proc/net/udp; false when it is not there. */
static bool proc_drops(int fd, uint32_t *drops)
{
	struct stat st;
	char line[256];
	FILE *f = fopen("/proc/thread-self/net/udp", "re");
	bool found = false;

	if (!f || fstat(fd, &st))
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		unsigned long inode;

		found = sscanf(line, " %*u: %*s %*s %*s %*s %*s %*s %*s %*s %lu %*s %*s %" SCNu32, &inode, drops) == 2 &&
			inode == st.st_ino;
	}
	fclose(f);
	return found;
}

/* R77: after a forced overflow sent = received + dropped, and SO_MEMINFO says the same as /proc/net/udp. */
static void test_drops(void **state)
{
	enum { SENT = 5000 };
	struct sock_conf conf = { .rcvbuf = 4096, .want = CMSG_WANT_DROPS, .tos = -1, .ttl = -1 };
	struct sock s = opened("127.0.0.1", &conf), client = opened("127.0.0.1", &plain);
	struct sock_memory memory;
	uint32_t column;
	unsigned received = 0;
	struct got got;

	(void)state;
	for (int i = 0; i < SENT; i++)
		assert_true(send_to(&client, &s.local, "payload"));
	assert_int_equal(sock_memory(s.fd, &memory), 0);
	assert_true(memory.drops > 0);
	assert_true(memory.rmem > 0);
	assert_int_equal(memory.rcvbuf, get_int(s.fd, SOL_SOCKET, SO_RCVBUF));
	assert_true(proc_drops(s.fd, &column));
	assert_int_equal(memory.drops, column);
	while (recv(s.fd, got.text, sizeof(got.text), MSG_DONTWAIT) >= 0)
		received++;
	assert_int_equal(received + memory.drops, SENT);
	/* A later datagram tells the same sum, once and not per datagram. */
	assert_true(send_to(&client, &s.local, "late"));
	assert_true(receive(&s, &got));
	assert_true(got.info.valid & CMSG_WANT_DROPS);
	assert_int_equal(got.info.drops, memory.drops);
	sock_close(&client);
	sock_close(&s);
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
		if (!strstr(err.text, "--join") || !strstr(err.text, rows[i].group) || !strstr(err.text, rows[i].says))
			fail_msg("'%s' lacks '%s'", err.text, rows[i].says);
		sock_close(&s);
	}
}

static bool send_by(struct sock *client, const char *dev)
{
	const struct ip_mreqn four = { .imr_ifindex = (int)if_nametoindex(dev) };

	if (client->family == AF_INET)
		return !setsockopt(client->fd, IPPROTO_IP, IP_MULTICAST_IF, &four, sizeof(four));
	return !setsockopt(client->fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &four.imr_ifindex, sizeof(four.imr_ifindex));
}

/* "GROUP%dev" without the device, which the sending socket has. */
static struct addr group_at(const struct sock *s, const char *group)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(group, "%"), group);
	return at(s, text);
}

/* One host, one port, two groups, a receiver for each: every one gets its own group only. */
static int join_one_of_two(const char *receiver, const char *sender, const char *joined, const char *not_joined)
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
	if (!child_enter_netns())
		return CHILD_SKIP;
	CHILD_CHECK(join_one_of_two("0.0.0.0", "127.0.0.1", "239.1.2.3%lo", "239.1.2.4%lo") == CHILD_OK);
	CHILD_CHECK(join_one_of_two("::", "127.0.0.1", "239.1.2.3%lo", "239.1.2.4%lo") == CHILD_OK);
	/* lo has no IPv6 multicast. */
	if (system("ip link add us0 type veth peer name us1 && ip link set us1 up && ip link set us0 up && "
		   "ip addr add 2001:db8::1/64 dev us0 nodad"))
		return CHILD_SKIP;
	CHILD_CHECK(join_one_of_two("::", "2001:db8::1", "ff05::1:1%us0", "ff05::1:2%us0") == CHILD_OK);
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

/* ------------------------------------------------------------------ sysctl */

static int child_sysctl(void)
{
	struct err err = ERR_INIT;
	int value;
	char text[64];

	CHILD_CHECK(sysctl_read_int("net.ipv4.no_such_thing", &value) == -ENOENT);
	CHILD_CHECK(sysctl_write_int("net.ipv4.no_such_thing", 1, &err) == -ENOENT);
	CHILD_CHECK(strstr(err.text, "/proc/sys/net/ipv4/no_such_thing") && strstr(err.text, strerror(ENOENT)));
	CHILD_CHECK(sysctl_read("kernel.ostype", text, sizeof(text)) == 0 && !strcmp(text, "Linux"));
	CHILD_CHECK(sysctl_read_int("kernel.ostype", &value) == -EINVAL);
	if (!child_enter_netns())
		return CHILD_SKIP;
	for (int i = 0; i < 2; i++) {
		CHILD_CHECK(sysctl_write_int("net.ipv4.ip_early_demux", i, &err) == 0);
		CHILD_CHECK(sysctl_read_int("net.ipv4.ip_early_demux", &value) == 0 && value == i);
	}
	CHILD_CHECK(sysctl_write_int("net.ipv4.conf.lo.forwarding", 1, &err) == 0);
	CHILD_CHECK(sysctl_write_int("net.ipv4.ip_early_demux", -7, &err) == -EINVAL);
	CHILD_CHECK(strstr(err.text, "write -7 to /proc/sys/net/ipv4/ip_early_demux"));
	/* Nobody may write this one. */
	CHILD_CHECK(sysctl_write_int("net.ipv4.tcp_available_congestion_control", 1, &err) == -EACCES);
	CHILD_CHECK(strstr(err.text, strerror(EACCES)) && strstr(err.text, "root"));
	return CHILD_OK;
}

/* ------------------------------------------------------------------ tests that need a process of their own */

static void in_child(int (*run)(void), const char *why)
{
	int rc = child_run(run);

	if (rc == CHILD_SKIP)
		TAP_SKIP("%s", why);
	assert_int_equal(rc, CHILD_OK);
}

#define NETNS "no user and network namespace can be made here"
#define SECCOMP "no seccomp filter can be set here"
#define IN_CHILD(test, child, why) \
	static void test(void **state) \
	{ \
		(void)state; \
		in_child(child, why); \
	}

IN_CHILD(test_low_port, child_low_port, NETNS)
IN_CHILD(test_bindv6only, child_bindv6only, NETNS)
IN_CHILD(test_link_local, child_link_local, NETNS)
IN_CHILD(test_device_refused, child_device_refused, SECCOMP)
IN_CHILD(test_stamp_fallback, child_stamp_fallback, SECCOMP)
IN_CHILD(test_gro_refused, child_gro_refused, SECCOMP)
IN_CHILD(test_busy_poll_refused, child_busy_poll_refused, SECCOMP)
IN_CHILD(test_buffer_unprivileged, child_buffer_unprivileged, "no user namespace can be made here, or the buffer limits cannot be read")
IN_CHILD(test_connect_refused, child_connect_refused, NETNS)
IN_CHILD(test_join, child_join, NETNS ", or ip(8) is missing")
IN_CHILD(test_sysctl, child_sysctl, NETNS)

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R02 open IPv4: address and port are real, options are on", test_open_v4, NULL, NULL, NULL },
		{ "open dual stack: the options of both families", test_open_dual, NULL, NULL, NULL },
		{ "R96 nothing asked, nothing on, no REUSEADDR", test_nothing_asked, NULL, NULL, NULL },
		{ "R96 SO_REUSEPORT when asked, and no REUSEADDR", test_reuse_port, NULL, NULL, NULL },
		{ "no bind", test_no_bind, NULL, NULL, NULL },
		{ "bind: in use, not ours", test_bind_errors, NULL, NULL, NULL },
		{ "bind: low port", test_low_port, NULL, NULL, NULL },
		{ "R11 V6ONLY under both values of bindv6only", test_bindv6only, NULL, NULL, NULL },
		{ "R02 R09 R10 R15 dual-stack service with every option", test_dual_stack_service, NULL, NULL, NULL },
		{ "R02 one address answers without pktinfo", test_specific_address, NULL, NULL, NULL },
		{ "R13 link-local there and back", test_link_local, NULL, NULL, NULL },
		{ "R07 device", test_device, NULL, NULL, NULL },
		{ "R07 device refused", test_device_refused, NULL, NULL, NULL },
		{ "R19 SO_TIMESTAMPNS refused: SO_TIMESTAMP", test_stamp_fallback, NULL, NULL, NULL },
		{ "UDP_GRO refused", test_gro_refused, NULL, NULL, NULL },
		{ "SO_BUSY_POLL refused", test_busy_poll_refused, NULL, NULL, NULL },
		{ "UDP-Lite works or is refused with a sentence", test_lite, NULL, NULL, NULL },
		{ "R89 R90 buffers without privilege", test_buffer_unprivileged, NULL, NULL, NULL },
		{ "R90 buffers with privilege", test_buffer_forced, NULL, NULL, NULL },
		{ "R89 buffers not asked for", test_buffer_default, NULL, NULL, NULL },
		{ "R105 connect across families", test_connect, NULL, NULL, NULL },
		{ "R105 connect refused", test_connect_refused, NULL, NULL, NULL },
		{ "R104 drain: mixed senders", test_drain, NULL, NULL, NULL },
		{ "R104 drain: empty queue, empty datagram, pending refusal", test_drain_empty, NULL, NULL, NULL },
		{ "R104 drain: full queue", test_drain_full, NULL, NULL, NULL },
		{ "R18 coalesced buffers", test_gro, NULL, NULL, NULL },
		{ "R77 drops equal /proc/net/udp", test_drops, NULL, NULL, NULL },
		{ "time-out and blocking", test_timeout, NULL, NULL, NULL },
		{ "multicast: refused", test_join_refused, NULL, NULL, NULL },
		{ "multicast: joined groups only", test_join, NULL, NULL, NULL },
		{ "steering by CPU", test_steer, NULL, NULL, NULL },
		{ "sysctl", test_sysctl, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock", tests, NULL, NULL);
}
