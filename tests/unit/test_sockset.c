/* SPDX-License-Identifier: MIT */
/* All sockets of a run: order, multicast, steering, sockets added later. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "sockset.h"
#include "tap.h"

static void test_layout(void **state)
{
	const struct addr listen[] = { parsed("127.0.0.1"), parsed("::1") };
	struct sockset_conf conf = conf_of(listen, 2, 3);
	struct sock_set set;

	(void)state;
	NEED_IPV6();
	conf.group = true;
	conf.reserve = 4;
	open_ok(&set, &conf);
	assert_int_equal(set.n, 6);
	assert_int_equal(set.capacity, 10);
	for (unsigned slot = 0; slot < 3; slot++)
		for (unsigned a = 0; a < 2; a++) {
			const struct sock *s = &set.sock[slot * 2 + a];

			assert_true(addr_equal_host(&s->local, &listen[a]));
			/* Port 0 was chosen once per address. */
			assert_true(addr_port(&s->local) &&
				    addr_equal(&s->local, &set.sock[a].local));
			assert_true(s->reuse_port);
			assert_int_equal(get_int(s->fd, SOL_SOCKET, SO_REUSEADDR), 0);
		}
	sockset_close(&set);
	assert_null(set.sock);
}

static void test_shared(void **state)
{
	const struct addr listen[] = { parsed("127.0.0.1"), parsed("127.0.0.2") };
	struct sockset_conf conf = conf_of(listen, 2, 8);
	struct sock_set set;

	(void)state;
	conf.shared = true;
	open_ok(&set, &conf);
	assert_int_equal(set.n, 2);
	assert_true(addr_equal_host(&set.sock[1].local, &listen[1]));
	assert_false(set.sock[0].reuse_port);
	sockset_close(&set);
}

static void test_nonsense(void **state)
{
	const struct addr listen = parsed("127.0.0.1");
	struct sockset_conf conf = conf_of(&listen, 1, 2);

	(void)state;
	open_refused(&conf, EINVAL, "a group of their own");
	conf.group = conf.join = true;
	open_refused(&conf, EINVAL, "a group of their own");
	conf = conf_of(&listen, 0, 1);
	open_refused(&conf, EINVAL, "no address");
	conf = conf_of(&listen, 1, 0);
	open_refused(&conf, EINVAL, "no worker");
	conf = conf_of(&listen, 1, 1);
	conf.reserve = 65536;
	open_refused(&conf, EINVAL, "65536");
}

/* Index order is bind order: the program's result 0 is the socket of slot 0. */
static void test_steer(void **state)
{
	struct addr listen = parsed("127.0.0.1");
	struct sockset_conf conf = conf_of(&listen, 1, 2);
	struct sock client = opened("127.0.0.1", &plain);
	unsigned received = 0;
	struct sock_set set;
	char byte;

	(void)state;
	conf.group = conf.steer_cpu = true;
	open_ok(&set, &conf);
	for (int i = 0; i < 100; i++)
		assert_true(send_to(&client, &set.sock[0].local, "x"));
	for (unsigned i = 0; i < set.n; i++)
		while (recv(set.sock[i].fd, &byte, 1, MSG_DONTWAIT) == 1)
			received++;
	assert_int_equal(received, 100);
	sockset_close(&set);
	sock_close(&client);
}

static void test_multicast(void **state)
{
	const struct addr listen[] = { parsed("::1"), parsed("0.0.0.0") };
	const char *const groups[] = { "239.1.2.3%lo" }, *const bad[] = { "10.0.0.1" };
	struct sockset_conf conf = conf_of(listen, 2, 2);
	struct sock_set set;

	(void)state;
	NEED_IPV6();
	conf.group = true;
	conf.groups = groups;
	conf.ngroups = 1;
	open_refused(&conf, EINVAL, "every datagram");
	conf.group = false;
	conf.shared = true;
	conf.sock.v6only = SOCK_V6ONLY_ON;
	open_ok(&set, &conf); /* on the second socket: the first is IPv6 only */
	sockset_close(&set);
	conf.nlisten = 1;
	open_refused(&conf, EAFNOSUPPORT, "--join 239.1.2.3%lo");
	conf.groups = bad;
	open_refused(&conf, EINVAL, "--join 10.0.0.1");
}

/* A connected socket beside the listener takes its flow; the listener keeps the others. */
static void add_flow(const char *listen_text, const char *host, enum sock_v6only v6only)
{
	struct addr listen = parsed(listen_text), local;
	struct sockset_conf conf = conf_of(&listen, 1, 1);
	struct sock flow = opened(host, &plain), other = opened(host, &plain);
	struct err err = ERR_INIT;
	struct sock_set set;
	struct got got;
	int i;

	conf.reserve = 1;
	conf.sock.want = CMSG_WANT_PKTINFO;
	conf.sock.v6only = v6only;
	open_ok(&set, &conf);
	local = at(&set.sock[0], host);
	assert_true(send_to(&flow, &local, "first"));
	assert_true(receive(&set.sock[0], &got));
	i = add_connected(&set, &set.sock[0], &local, &got.from, &err);
	assert_int_equal(i, 1);
	assert_int_equal(set.n, 2);
	assert_true(addr_equal(&set.sock[1].peer, &flow.local));
	assert_true(addr_equal(&set.sock[1].local, &local));
	assert_int_equal(set.sock[1].want, CMSG_WANT_PKTINFO);
	assert_true(send_to(&other, &local, "other"));
	assert_true(send_to(&flow, &local, "second"));
	assert_true(receive(&set.sock[1], &got));
	assert_string_equal(got.text, "second");
	assert_true(receive(&set.sock[0], &got));
	assert_string_equal(got.text, "other");
	assert_int_equal(recv(set.sock[1].fd, got.text, 1, MSG_DONTWAIT), -1);
	i = add_connected(&set, &set.sock[0], &local, &other.local, &err);
	assert_int_equal(i, -ENOSPC);
	sockset_close(&set);
	sock_close(&other);
	sock_close(&flow);
}

static void test_add_connected(void **state)
{
	(void)state;
	NEED_IPV6();
	add_flow("127.0.0.1", "127.0.0.1", SOCK_V6ONLY_OFF);
	add_flow("0.0.0.0", "127.0.0.2", SOCK_V6ONLY_OFF);
	add_flow("::1", "::1", SOCK_V6ONLY_OFF);
	add_flow("::", "::1", SOCK_V6ONLY_ON);
	add_flow("::", "127.0.0.2", SOCK_V6ONLY_OFF); /* mapped */
}

struct adder {
	struct sock_set *set;
	uint16_t first_port;
	atomic_int failed;
};

enum { ADDS = 50 };

static void *add_many(void *arg)
{
	struct adder *adder = arg;
	const struct sock *listener = &adder->set->sock[0];
	struct addr peer = listener->local;

	for (int i = 0; i < ADDS; i++) {
		addr_set_port(&peer, (uint16_t)(adder->first_port + i));
		if (add_connected(adder->set, listener, &listener->local, &peer, NULL) < 0)
			adder->failed++;
	}
	return NULL;
}

/* Workers add at the same time: each socket has an index of its own, and those below n are complete. */
static void test_add_from_threads(void **state)
{
	struct addr listen = parsed("127.0.0.1");
	struct sockset_conf conf = conf_of(&listen, 1, 1);
	struct adder adder[] = { { .first_port = 1000 }, { .first_port = 2000 } };
	pthread_t thread[2];
	unsigned seen = 0, n;
	struct sock_set set;

	(void)state;
	conf.reserve = 2 * ADDS;
	open_ok(&set, &conf);
	for (int i = 0; i < 2; i++) {
		adder[i].set = &set;
		assert_int_equal(pthread_create(&thread[i], NULL, add_many, &adder[i]), 0);
	}
	while (seen < set.capacity) {
		n = atomic_load_explicit(&set.n, memory_order_acquire);
		for (; seen < n; seen++)
			assert_true(set.sock[seen].fd >= 0 && (!seen || set.sock[seen].peer.len));
		if (adder[0].failed || adder[1].failed)
			break;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(set.n, 1 + 2 * ADDS);
	assert_int_equal(adder[0].failed + adder[1].failed, 0);
	sockset_close(&set);
}

/* A failed connect(2) leaves no socket and no gap. */
static void test_add_refused(void **state)
{
	struct addr listen = parsed("127.0.0.1"), peer = parsed("[2001:db8::1]:9");
	struct sockset_conf conf = conf_of(&listen, 1, 1);
	struct err err = ERR_INIT;
	struct sock_set set;

	(void)state;
	conf.reserve = 1;
	open_ok(&set, &conf);
	assert_int_equal(add_connected(&set, &set.sock[0], &set.sock[0].local, &peer, &err),
			 -EAFNOSUPPORT);
	assert_int_equal(set.n, 1);
	peer = at(&set.sock[0], "127.0.0.9");
	assert_int_equal(add_connected(&set, &set.sock[0], &set.sock[0].local, &peer, &err),
			 1);
	sockset_close(&set);
}

static void test_forget(void **state)
{
	struct addr listen[] = { parsed("127.0.0.1"), parsed("127.0.0.2") };
	struct sockset_conf conf = conf_of(listen, 2, 1);
	struct sock client = opened("127.0.0.3", &plain);
	struct err err = ERR_INIT;
	struct sock_set set;

	(void)state;
	conf.reserve = 2;
	open_ok(&set, &conf);
	for (int round = 0; round < 3; round++) {
		int fd;

		assert_int_equal(add_connected(&set, &set.sock[0], &set.sock[0].local, &client.local, &err), 2);
		assert_int_equal(add_connected(&set, &set.sock[1], &set.sock[1].local, &client.local, &err), 3);
		fd = set.sock[3].fd;
		sockset_forget(&set);
		assert_int_equal(set.n, 2);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
		/* Now it is the listener's again. */
		assert_true(send_to(&client, &set.sock[0].local, "x"));
		assert_int_equal(recv(set.sock[0].fd, &(char){ 0 }, 1, 0), 1);
	}
	sockset_forget(&set);
	assert_int_equal(set.n, 2);
	sockset_close(&set);
	sock_close(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "layout in slot order, one port per address", test_layout, NULL, NULL, NULL },
		{ "shared sockets", test_shared, NULL, NULL, NULL },
		{ "contradictions are refused", test_nonsense, NULL, NULL, NULL },
		{ "steering by CPU loses nothing", test_steer, NULL, NULL, NULL },
		{ "multicast with several sockets is refused", test_multicast, NULL, NULL, NULL },
		{ "connected sockets beside the listener", test_add_connected, NULL, NULL, NULL },
		{ "sockets added by two threads at once", test_add_from_threads, NULL, NULL, NULL },
		{ "a connected socket that cannot be", test_add_refused, NULL, NULL, NULL },
		{ "connected sockets are forgotten after a run", test_forget, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sockset", tests, NULL, NULL);
}
