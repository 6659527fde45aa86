/* SPDX-License-Identifier: MIT */
/* Queueing disciplines and routes, from answers made here and from the kernel. */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "net/qdisc.h"
#include "net/route.h"

/* An answer about interface 7. netlink_request has the shape of any message. */
static void answer(struct netlink_request *r, uint32_t parent, uint32_t handle, const char *kind)
{
	netlink_begin(r, RTM_NEWQDISC, 0, sizeof(r->body.tc));
	r->body.tc.tcm_ifindex = 7;
	r->body.tc.tcm_parent = parent;
	r->body.tc.tcm_handle = handle;
	netlink_add(r, TCA_KIND, kind, strlen(kind) + 1);
}

static void tell(struct qdisc *q, uint32_t parent, uint32_t handle, const char *kind)
{
	struct netlink_request r;

	answer(&r, parent, handle, kind);
	qdisc_take(&r.head, q);
}

static void test_single_queue(void **state)
{
	struct netlink_request r;
	struct qdisc q;

	(void)state;
	qdisc_begin(&q, 7);
	tell(&q, TC_H_INGRESS, 0xffff0000, "ingress");
	assert_string_equal(q.root, "");
	tell(&q, TC_H_ROOT, 0x80010000, "fq");
	/* Another interface, and what hangs below a discipline with classes. */
	answer(&r, TC_H_ROOT, 0, "etf");
	r.body.tc.tcm_ifindex = 8;
	qdisc_take(&r.head, &q);
	tell(&q, 0x80010001, 0x10000, "pfifo");
	assert_string_equal(q.root, "fq");
	assert_string_equal(q.kind, "fq");
	assert_int_equal(q.clock, -1);
	/* Cut short, or without a name: nothing is read. */
	qdisc_begin(&q, 7);
	netlink_begin(&r, RTM_NEWQDISC, 0, sizeof(r.body.tc));
	r.body.tc.tcm_ifindex = 7;
	r.body.tc.tcm_parent = TC_H_ROOT;
	qdisc_take(&r.head, &q);
	r.head.nlmsg_len = NLMSG_LENGTH(4);
	qdisc_take(&r.head, &q);
	assert_string_equal(q.root, "");
}

static void test_many_queues(void **state)
{
	struct qdisc q;

	(void)state;
	/* As the kernel makes them by default: handle 0. */
	qdisc_begin(&q, 7);
	tell(&q, TC_H_ROOT, 0, "mq");
	for (uint32_t queue = 1; queue <= 4; queue++)
		tell(&q, queue, 0, "fq");
	assert_string_equal(q.root, "mq");
	assert_string_equal(q.kind, "fq");
	tell(&q, 5, 0, "fq_codel");
	assert_string_equal(q.kind, "several");
	/* Below another major number: not a queue of this root. */
	qdisc_begin(&q, 7);
	tell(&q, TC_H_ROOT, 0x10000, "mqprio");
	tell(&q, 0x10001, 0x20000, "etf");
	tell(&q, 0x20001, 0x30000, "pfifo");
	assert_string_equal(q.kind, "etf");
}

static void test_etf_tells_its_clock(void **state)
{
	const struct tc_etf_qopt etf = { .delta = 300000, .clockid = CLOCK_TAI };
	struct netlink_request r, inner;
	struct qdisc q;

	(void)state;
	netlink_begin(&inner, 0, 0, 0);
	netlink_add(&inner, TCA_ETF_PARMS, &etf, sizeof(etf));
	answer(&r, TC_H_ROOT, 0x10000, "etf");
	netlink_add(&r, TCA_OPTIONS, (char *)&inner + NLMSG_HDRLEN, inner.head.nlmsg_len - NLMSG_HDRLEN);
	qdisc_begin(&q, 7);
	qdisc_take(&r.head, &q);
	assert_string_equal(q.kind, "etf");
	assert_int_equal(q.clock, CLOCK_TAI);
	assert_int_equal(q.delta_ns, 300000);
}

static void test_attributes_stay_in_bounds(void **state)
{
	const uint32_t value = 1;
	struct netlink_request r;
	size_t full;

	(void)state;
	netlink_begin(&r, RTM_NEWQDISC, 0, sizeof(r.body.tc));
	netlink_add(&r, TCA_KIND, "a", 2);
	netlink_add(&r, TCA_RATE, &value, sizeof(value));
	full = r.head.nlmsg_len;
	assert_non_null(netlink_find(&r.head, sizeof(r.body.tc), TCA_RATE, sizeof(value), NULL));
	assert_null(netlink_find(&r.head, sizeof(r.body.tc), TCA_RATE, sizeof(value) + 1, NULL));
	assert_null(netlink_find(&r.head, sizeof(r.body.tc), TCA_STATS, 0, NULL));
	for (size_t cut = 0; cut < full; cut++) {
		r.head.nlmsg_len = (uint32_t)cut;
		assert_null(netlink_find(&r.head, sizeof(r.body.tc), TCA_RATE, sizeof(value), NULL));
	}
	/* No more than fits is appended. */
	r.head.nlmsg_len = (uint32_t)full;
	for (unsigned i = 0; i < 100; i++)
		netlink_add(&r, TCA_STATS, &value, sizeof(value));
	assert_true(r.head.nlmsg_len <= sizeof(r));
}

/* The loopback interface has none, in every network namespace. */
static void test_kernel(void **state)
{
	struct err err = ERR_INIT;
	struct addr to, from;
	struct qdisc q;
	unsigned index;

	(void)state;
	assert_int_equal(addr_parse("127.0.0.1", AF_UNSPEC, 9, &to, &err), 0);
	assert_int_equal(addr_parse("127.0.0.5", AF_UNSPEC, 0, &from, &err), 0);
	assert_int_equal(route_device(&to, &from, 0, &index, &err), 0);
	assert_int_equal(index, if_nametoindex("lo"));
	memset(&from, 0, sizeof(from));
	assert_int_equal(route_device(&to, &from, 0, &index, &err), 0);
	assert_int_equal(addr_parse("::ffff:127.0.0.1", AF_UNSPEC, 9, &to, &err), 0);
	assert_int_equal(route_device(&to, NULL, 0, &index, &err), 0);
	assert_int_equal(index, if_nametoindex("lo"));
	assert_int_equal(qdisc_of(index, &q, &err), 0);
	assert_string_equal(q.root, "noqueue");
	assert_string_equal(q.kind, "noqueue");
	assert_int_equal(qdisc_of(0x7fffff00, &q, &err), -ENOENT);
	/* From an address that is not ours. */
	assert_int_equal(addr_parse("198.18.0.77", AF_UNSPEC, 0, &from, &err), 0);
	assert_true(route_device(&to, &from, 0, &index, &err) < 0);
	assert_non_null(strstr(err.text, "127.0.0.1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_queue),
		cmocka_unit_test(test_many_queues),
		cmocka_unit_test(test_etf_tells_its_clock),
		cmocka_unit_test(test_attributes_stay_in_bounds),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
