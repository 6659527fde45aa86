/* SPDX-License-Identifier: MIT */
/* The table, engine_check, engine_auto, and the null engine. */
#include "rig.h"

#include <errno.h>
#include <string.h>

static struct engine_conf plain(void)
{
	return (struct engine_conf){ .batch = 8, .buffer_size = 2048, .nr_iovec = 1, .mmsg_timeout_ns = -1 };
}

/* The engine refuses this, with all these words. */
static void refuses(const char *engine, const struct engine_conf *conf, unsigned socks, const char *const *words)
{
	struct err err = ERR_INIT;
	int rc = engine_check(engine_find(engine), conf, socks, &err);

	if (rc >= 0)
		fail_msg("engine %s accepts what it cannot do (%s)", engine, words[0]);
	for (; *words; words++)
		if (!strstr(err.text, *words))
			fail_msg("engine %s: \"%s\" does not say \"%s\"", engine, err.text, *words);
}
#define REFUSES(engine, conf, socks, ...) refuses(engine, conf, socks, (const char *const[]){ __VA_ARGS__, NULL })

static void accepts(const char *engine, const struct engine_conf *conf, unsigned socks)
{
	struct err err = ERR_INIT;

	if (engine_check(engine_find(engine), conf, socks, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_table(void **state UNUSED)
{
	static const char *const order[] = { "recvmmsg", "recvmsg", "read", "recvfrom", "recv", "epoll", "null" };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const struct engine_ops *ops = engine_table[i];

		assert_string_equal(ops->name, order[i]);
		assert_ptr_equal(engine_find(order[i]), ops);
		assert_int_equal(!!(ops->caps & ENGINE_CLASSIC), i < 5);
		assert_string_equal(ops->label, i ? order[i] : "recvMmsg");
		assert_true(ops->summary && ops->open && ops->recv && ops->wake && ops->close);
		assert_int_equal(!!(ops->caps & ENGINE_REPLY), ops->reply_buf && ops->send);
	}
	assert_null(engine_table[ARRAY_SIZE(order)]);
	assert_null(engine_find("recvmm"));
}

/* A control buffer alone (the socket option is on, nobody reads it) is no reason to refuse. */
static void test_control(void **state UNUSED)
{
	struct engine_conf conf = plain();

	conf.control_size = 64;
	accepts("read", &conf, 1);
	conf.parse = CMSG_WANT_PKTINFO | CMSG_WANT_TTL;
	REFUSES("read", &conf, 1, "engine read", "control messages", "destination address, TTL", "use recvmmsg, recvmsg or epoll");
	REFUSES("recvfrom", &conf, 1, "engine recvfrom", "control messages");
	accepts("recvmsg", &conf, 1);
	accepts("recvmmsg", &conf, 1);
	accepts("epoll", &conf, 1);
	conf.control_size = 0;
	REFUSES("recvmsg", &conf, 1, "no buffer");
}

static void test_caps(void **state UNUSED)
{
	struct engine_conf conf = plain();

	conf.need_src = true;
	REFUSES("recv", &conf, 1, "source", "recvfrom");
	accepts("recvfrom", &conf, 1);
	conf = plain();
	conf.no_copy = true;
	REFUSES("read", &conf, 1, "--no-copy");
	accepts("recv", &conf, 1);
	conf = plain();
	conf.nr_iovec = 3;
	REFUSES("recv", &conf, 1, "--nr-iovec");
	accepts("recvmmsg", &conf, 1);
	conf = plain();
	accepts("recvmmsg", &conf, 1);
	REFUSES("recvmmsg", &conf, 2, "more than one socket", "epoll", "--wait poll");
	accepts("epoll", &conf, 2);
	conf.wait = ENGINE_WAIT_POLL;
	accepts("recvmmsg", &conf, 2);
}

static void test_limits(void **state UNUSED)
{
	struct engine_conf conf = plain();

	conf.batch = 1025;
	REFUSES("recvmmsg", &conf, 1, "--batch 1025");
	conf.batch = 0;
	REFUSES("recvmmsg", &conf, 1, "--batch 0");
	conf = plain();
	conf.buffer_size = 65536;
	REFUSES("recvmmsg", &conf, 1, "--buffer-size");
	conf = plain();
	conf.buffer_size = 2;
	conf.nr_iovec = 3;
	REFUSES("recvmmsg", &conf, 1, "--nr-iovec 3");
	conf = plain();
	conf.bad_ptr = 9;
	REFUSES("recvmmsg", &conf, 1, "--use-bad-ptr");
}

static void test_gro(void **state UNUSED)
{
	struct engine_conf conf = plain();

	conf.gro = true;
	conf.control_size = 64;
	conf.parse = CMSG_WANT_GRO;
	REFUSES("recvmmsg", &conf, 1, "--buffer-size with UDP_GRO 2048", "65535");
	conf.buffer_size = 65535;
	accepts("recvmmsg", &conf, 1);
	REFUSES("recv", &conf, 1, "coalesced", "UDP_GRO");
}

static void test_auto(void **state UNUSED)
{
	struct engine_conf conf = plain();
	char why[4096];

	assert_string_equal(engine_auto(&conf, 1, why, sizeof(why))->name, "recvmmsg");
	assert_non_null(strstr(why, "recvmmsg: chosen"));
	/* Two sockets under block: only epoll waits for both. */
	assert_string_equal(engine_auto(&conf, 2, why, sizeof(why))->name, "epoll");
	assert_non_null(strstr(why, "recvmmsg: passed over: "));
	assert_non_null(strstr(why, "epoll: chosen"));
	/* Nobody: each says why. A text that is too short is cut, not overrun. */
	conf.batch = 0;
	assert_null(engine_auto(&conf, 1, why, 40));
	assert_int_equal(strlen(why), 39);
	assert_null(engine_auto(&conf, 1, NULL, 0));
}

static void test_null(void **state UNUSED)
{
	struct engine_conf conf = plain();
	struct engine_run run = { .conf = &conf };
	const struct engine_slot slot = { .cpu = -1 };
	const struct engine_ops *ops = engine_find("null");
	struct batch batch = { .limit = 5 };
	struct engine *engine;
	struct err err = ERR_INIT;

	conf.work_payload = 100;
	conf.null_limit = 12;
	accepts("null", &conf, 0);
	assert_int_equal(ops->open(&run, &slot, &engine, &err), 0);
	for (unsigned left = 12; left; left -= batch.n) {
		assert_int_equal(ops->recv(engine, &batch), left < 5 ? left : 5);
		for (unsigned i = 0; i < batch.n; i++) {
			assert_int_equal(batch.packets[i].len, 100);
			assert_int_equal(batch.packets[i].wire_len, 100);
		}
	}
	assert_int_equal(ops->recv(engine, &batch), 0);
	assert_true(batch.drained && batch.waited_ns && !batch.event);
	ops->wake(engine);
	ops->close(engine);
	ops->close(NULL);
	conf.work_payload = 2049;
	REFUSES("null", &conf, 1, "2049", "--buffer-size 2048");
	conf.work_payload = 10;
	conf.bad_ptr = 1;
	REFUSES("null", &conf, 1, "bad pointer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_control), cmocka_unit_test(test_caps), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_gro), cmocka_unit_test(test_auto), cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests_name("contract/check", tests, NULL, NULL) ? 1 : 0;
}
