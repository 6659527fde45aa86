/* SPDX-License-Identifier: MIT */
/* Connected sockets, what was queued before, and counters of a queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <sys/stat.h>

#include "child.h"
#include "net/sock.h"
#include "tap.h"
#include "udp.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static void test_connect(void **state)
{
	struct sock dual = opened("::", &plain), four = opened("127.0.0.1", &plain),
		    peer4 = opened("127.0.0.1", &plain);
	struct sock peer6 = opened("::1", &plain), six;
	struct sock_conf only = { .v6only = SOCK_V6ONLY_ON, .tos = -1, .ttl = -1 };
	struct err err = ERR_INIT;
	struct got got;

	(void)state;
	NEED_IPV6();
	assert_int_equal(sock_connect(&dual, &peer4.local, &err), 0);
	assert_true(addr_equal(&dual.peer, &peer4.local));
	assert_true(addr_is_loopback(&dual.local)); /* the wildcard became an address */
	assert_true(send_to(&peer4, &dual.local, "hello") == false); /* mapped name, IPv4 socket */
	/* A mapped peer of an IPv4 socket is IPv4. */
	assert_int_equal(sock_connect(&peer4, &dual.local, &err), 0);
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

/* R104: what others sent before connect(2) is still in the queue; it is taken out and counted apart, however it is
 * mixed with the peer's. */
static void drain_mixed(const char *server, const char *client)
{
	struct sock s = opened(server, &plain), a = opened(client, &plain),
		    b = opened(client, &plain);
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
	NEED_IPV6();
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
	struct sock s = opened("127.0.0.1", &plain), a = opened("127.0.0.1", &plain),
		    b = opened("127.0.0.1", &plain);
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
	struct sock s = opened("127.0.0.1", &conf), client = opened("127.0.0.1", &plain),
		    other = opened("127.0.0.1", &plain);
	static unsigned char payload[10 * 1200];
	const int segment = 1200;
	_Alignas(struct cmsghdr) unsigned char control[64];
	struct iovec iov = { payload, sizeof(payload) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct sock_drained d;
	struct cmsg_info info;

	(void)state;
	assert_true(s.gro);
	if (setsockopt(client.fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		TAP_SKIP("no UDP_SEGMENT in this kernel");
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			sendto(client.fd, payload, sizeof(payload), 0, &s.local.sa, s.local.len),
			sizeof(payload));
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

		found = sscanf(line, " %*u: %*s %*s %*s %*s %*s %*s %*s %*s %lu %*s %*s %" SCNu32,
			       &inode, drops) == 2 &&
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

IN_CHILD(test_connect_refused, child_connect_refused, NETNS)

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R105 connect across families", test_connect, NULL, NULL, NULL },
		{ "R105 connect refused", test_connect_refused, NULL, NULL, NULL },
		{ "R104 drain: mixed senders", test_drain, NULL, NULL, NULL },
		{ "R104 drain: empty queue, empty datagram, pending refusal", test_drain_empty,
		  NULL, NULL, NULL },
		{ "R104 drain: full queue", test_drain_full, NULL, NULL, NULL },
		{ "R18 coalesced buffers", test_gro, NULL, NULL, NULL },
		{ "R77 drops equal /proc/net/udp", test_drops, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock_connect", tests, NULL, NULL);
}
