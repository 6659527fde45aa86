/* SPDX-License-Identifier: MIT */
/* Drops of sockets over time: baseline, growth, the 32-bit wrap, sockets that join. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sink/sampler.h"
#include "sockset.h"

static void overflow(const struct sock *from, const struct sock *to)
{
	for (int i = 0; i < 1000; i++)
		assert_true(send_to(from, &to->local, "x"));
}

static uint32_t dropped(const struct sock *sock)
{
	struct sock_memory memory;

	assert_int_equal(sock_memory(sock->fd, &memory), 0);
	return memory.drops;
}

static void test_drops(void **state)
{
	const struct addr listen[] = { parsed("127.0.0.1"), parsed("127.0.0.2") };
	struct sockset_conf conf = conf_of(listen, 2, 1);
	struct sock client = opened("127.0.0.1", &plain);
	struct sock_set set;
	struct sampler s;
	uint32_t before;

	(void)state;
	conf.sock.rcvbuf = 4096;
	conf.reserve = 1;
	open_ok(&set, &conf);
	overflow(&client, &set.sock[1]);
	before = dropped(&set.sock[1]);
	assert_true(before > 0);
	assert_int_equal(sampler_open(&s, NULL, 0, &set, NULL), 0);
	assert_int_equal(s.drops[1], 0); /* what was dropped before is nobody's */
	overflow(&client, &set.sock[1]);
	sampler_sockets(&s);
	assert_int_equal(s.drops[0], 0);
	assert_int_equal(s.drops[1], dropped(&set.sock[1]) - before);
	assert_true(s.queue_max[1] > 0 && s.queue_max[0] == 0);

	s.last_drops[1] = UINT32_MAX - 9; /* as if the counter had wrapped since */
	s.drops[1] = UINT64_C(1) << 40;
	sampler_sockets(&s);
	assert_int_equal(s.drops[1], (UINT64_C(1) << 40) + 10 + dropped(&set.sock[1]));
	sampler_close(&s);
	sockset_close(&set);
	sock_close(&client);
}

/* What is dropped between two runs counts in the second; what came before the first in none. */
static void test_carry(void **state)
{
	const struct addr listen[] = { parsed("127.0.0.1") };
	struct sockset_conf conf = conf_of(listen, 1, 1);
	struct sock client = opened("127.0.0.2", &plain);
	struct sampler_carry carry = { 0 };
	struct sock_set set;
	struct sampler s;
	uint32_t first, between;

	(void)state;
	conf.sock.rcvbuf = 4096;
	open_ok(&set, &conf);
	overflow(&client, &set.sock[0]);
	first = dropped(&set.sock[0]);
	assert_int_equal(sampler_open(&s, NULL, 0, &set, &carry), 0);
	assert_int_equal(s.drops[0], 0);
	sampler_close(&s);
	overflow(&client, &set.sock[0]);
	between = dropped(&set.sock[0]) - first;
	assert_true(between > 0);
	assert_int_equal(sampler_open(&s, NULL, 0, NULL, &carry), 0); /* an engine without sockets changes nothing */
	sampler_close(&s);
	assert_int_equal(sampler_open(&s, NULL, 0, &set, &carry), 0);
	assert_int_equal(s.drops[0], between);
	sampler_close(&s);
	free(carry.drops);
	sockset_close(&set);
	sock_close(&client);
}

static void test_joined(void **state)
{
	const struct addr listen[] = { parsed("127.0.0.1") };
	struct sockset_conf conf = conf_of(listen, 1, 1);
	struct sock client = opened("127.0.0.2", &plain);
	struct err err = ERR_INIT;
	struct sock_set set;
	struct sampler s;

	(void)state;
	conf.sock.rcvbuf = 4096;
	conf.reserve = 1;
	open_ok(&set, &conf);
	assert_int_equal(sampler_open(&s, NULL, 0, &set, NULL), 0);
	assert_int_equal(add_connected(&set, &set.sock[0], &set.sock[0].local, &client.local, &err), 1);
	overflow(&client, &set.sock[1]);
	sampler_sockets(&s);
	assert_int_equal(s.drops[0], 0);
	assert_int_equal(s.drops[1], dropped(&set.sock[1])); /* all since it was made */
	assert_true(s.drops[1] > 0);
	sampler_close(&s);
	sockset_close(&set);
	sock_close(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R77 drops by socket: baseline, growth, wrap", test_drops, NULL, NULL, NULL },
		{ "drops between two runs", test_carry, NULL, NULL, NULL },
		{ "drops of a socket that joined", test_joined, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sink_sampler", tests, NULL, NULL);
}
