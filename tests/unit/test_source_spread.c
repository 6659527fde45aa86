/* SPDX-License-Identifier: MIT */
/* Source ports by what the receiver makes of them: each flow on its queue, no port twice, an end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/sock.h"
#include "source/spread.h"

static struct addr at(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, AF_UNSPEC, 0, &a, NULL), 0);
	return a;
}

struct bench {
	struct spread_plan plan;
	struct spread spread;
	struct addr dst, host;
};

static void set_up(struct bench *b, const char *text, const char *dst, const char *host, uint16_t first, uint32_t n, unsigned addresses)
{
	const struct range_ports ports = { first, n };
	struct err err = ERR_INIT;

	if (spread_parse(text, NULL, &b->plan, &err))
		fail_msg("%s", err.text);
	b->dst = at(dst);
	b->host = at(host);
	assert_int_equal(spread_open(&b->spread, &b->plan, &b->dst, &b->host, &ports, addresses, &err), 0);
}

static void tear_down(struct bench *b)
{
	spread_close(&b->spread);
	spread_plan_free(&b->plan);
}

static unsigned expected(const struct bench *b, const struct addr *from)
{
	if (b->plan.kind == SPREAD_SINK)
		return sock_steer_member(from, b->plan.queues);
	return b->plan.rss.table[toeplitz_udp(&b->plan.rss.key, from, &b->dst) & (b->plan.rss.n - 1)];
}

static void even(const char *text, const char *dst, const char *host, const char *any, unsigned flows)
{
	static bool used[65536];
	unsigned least, most;
	struct bench b;

	memset(used, 0, sizeof(used));
	set_up(&b, text, dst, host, 20000, 30000, 1);
	for (unsigned i = 0; i < flows; i++) {
		struct addr from = at(any), source = at(host);

		assert_int_equal(spread_port(&b.spread, i, &from, NULL), 0);
		assert_in_range(addr_port(&from), 20000, 49999);
		assert_false(used[addr_port(&from)]);
		used[addr_port(&from)] = true;
		addr_set_port(&source, addr_port(&from));
		assert_int_equal(expected(&b, &source), i % b.plan.queues);
		spread_placed(&b.spread, &from);
	}
	spread_least_most(&b.spread, &least, &most);
	assert_int_equal(least, flows / b.plan.queues);
	assert_int_equal(most, (flows + b.plan.queues - 1) / b.plan.queues);
	tear_down(&b);
}

static void test_even(void **state)
{
	static const char *const plans[] = { "rss:1", "rss:8", "rss:7", "rss:128", "sink:1", "sink:3", "sink:16" };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(plans); i++) {
		even(plans[i], "198.18.0.1:9000", "198.18.0.2", "0.0.0.0", 1000);
		even(plans[i], "198.18.0.1:9000", "198.18.0.2", "198.18.0.2", 77);
		even(plans[i], "[2001:db8::1]:9000", "2001:db8::2:1", "::", 1000);
		even(plans[i], "[::ffff:198.18.0.1]:9000", "::ffff:198.18.0.2", "::", 50);
	}
}

static void test_addresses_in_turn(void **state)
{
	unsigned least, most;
	struct bench b;

	(void)state;
	set_up(&b, "rss:4", "198.18.0.1:9000", "198.18.0.2", 1024, 64, 10);
	for (unsigned i = 0; i < 200; i++) {
		char text[32];
		struct addr from;

		snprintf(text, sizeof(text), "198.18.1.%u", i % 10);
		from = at(text);
		assert_int_equal(spread_port(&b.spread, i, &from, NULL), 0);
		assert_int_equal(expected(&b, &from), i % 4);
		spread_placed(&b.spread, &from);
	}
	spread_least_most(&b.spread, &least, &most);
	assert_int_equal(least, 50);
	assert_int_equal(most, 50);
	tear_down(&b);
}

/* Every port is offered once, each to the queue that it falls on; asking again for a flow passes over a port that was in use. */
static void test_until_none_is_left(void **state)
{
	unsigned offered = 0;
	struct bench b;

	(void)state;
	set_up(&b, "rss:4", "198.18.0.1:9000", "198.18.0.2", 30000, 100, 1);
	for (unsigned queue = 0; queue < 4; queue++) {
		struct err err = ERR_INIT;
		struct addr from = at("0.0.0.0");
		unsigned before = 0;

		while (!spread_port(&b.spread, queue, &from, &err)) {
			assert_true(addr_port(&from) > before);
			before = addr_port(&from);
			offered++;
		}
		assert_int_equal(err.code, ENOSPC);
		assert_non_null(strstr(err.text, "30000-30099"));
		assert_non_null(strstr(err.text, "198.18.0.2"));
		assert_non_null(strstr(err.text, "--src-ports"));
	}
	assert_int_equal(offered, 100);
	tear_down(&b);
}

static void test_ports_of_the_system(void **state)
{
	struct bench b;
	struct addr from = at("0.0.0.0");

	(void)state;
	set_up(&b, "rss:2", "198.18.0.1:9000", "198.18.0.2", 0, 0, 1);
	assert_int_equal(spread_port(&b.spread, 0, &from, NULL), 0);
	assert_true(addr_port(&from) >= 1024);
	tear_down(&b);
}

static void test_refused_r16(void **state)
{
	static const struct {
		const char *text, *key, *word;
	} wrong[] = {
		{ "", NULL, "rss:Q" },	    { "rss", NULL, "rss:Q" },	 { "rss:", NULL, "1 to 1024" },	     { "rss:0", NULL, "1 to 1024" },
		{ "rss:1025", NULL, "1 to" }, { "rss:x", NULL, "1 to" },   { "rss:-1", NULL, "1 to" },	     { "rss:2:", NULL, "device" },
		{ "rss:99999999999999999999", NULL, "1 to" },		 { "sink:0", NULL, "1 to" },	     { "sink:2:lo", NULL, "sink:N" },
		{ "sink:2", "aa", "--rss-key" }, { "rss:2", "aa", "--rss-key" }, { "rss:2:lo", "aa", "--rss-key" }, { "reuseport:4", NULL, "secret" },
		{ "rss:2:no-such-dev", NULL, "no-such-dev" },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err err = ERR_INIT;
		struct spread_plan plan;

		assert_true(spread_parse(wrong[i].text, wrong[i].key, &plan, &err) < 0);
		assert_non_null(strstr(err.text, wrong[i].word));
		spread_plan_free(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),		    cmocka_unit_test(test_addresses_in_turn), cmocka_unit_test(test_until_none_is_left),
		cmocka_unit_test(test_ports_of_the_system), cmocka_unit_test(test_refused_r16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
