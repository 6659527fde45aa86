/* SPDX-License-Identifier: MIT */
/* The protocol counters in the form of nstat: increments, patterns, zeros, rates, counters that came or went backwards (R85), IPv6 that is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "counters/nstat.h"
#include "proc_root.h"
#include "text_of.h"

#define SECONDS_2 (2 * NSEC_PER_SEC)

static struct mib from, to;

static int set_up(void **state)
{
	if (proc_set_up(state))
		return 1;
	proc_put("snmp", "Ip: Forwarding InReceives\nIp: 1 4294967290\nIcmpMsg: OutType8\nIcmpMsg: 3\nUdp: InDatagrams NoPorts InErrors\nUdp: 5 6 7\n");
	proc_put("netstat", "TcpExt: SyncookiesSent\nTcpExt: 0\n");
	if (mib_read(&from, NULL))
		return 1;
	proc_put("snmp", "Ip: Forwarding InReceives\nIp: 2 4294967306\nIcmpMsg: OutType3 OutType8\nIcmpMsg: 2 3\nUdp: InDatagrams NoPorts InErrors\nUdp: 8 6 1\n");
	return mib_read(&to, NULL);
}

static int tear_down(void **state)
{
	proc_put("snmp", NULL);
	proc_put("netstat", NULL);
	mib_free(&from);
	mib_free(&to);
	text_free();
	return proc_tear_down(state);
}

static const char *text(const struct nstat_view *view, uint64_t ns)
{
	text_begin();
	nstat_text(text_out, &from, &to, ns, view);
	return text_end();
}

static const char *json(const struct nstat_view *view, uint64_t ns)
{
	text_begin();
	assert_int_equal(nstat_json(text_out, &from, &to, ns, view), 0);
	return text_end();
}

#define IN_RECEIVES "IpInReceives                    16                 8.0\n"
#define OUT_TYPE3 "IcmpMsgOutType3                 2                  1.0\n"
#define OUT_TYPE8 "IcmpMsgOutType8                 0                  0.0\n"
#define IN_DATAGRAMS "UdpInDatagrams                  3                  1.5\n"
#define NO_PORTS "UdpNoPorts                      0                  0.0\n"
#define IN_ERRORS "UdpInErrors                     0                  0.0 (overflow)\n"
#define SYNCOOKIES "TcpExtSyncookiesSent            0                  0.0\n"

static void test_what_changed(void **state)
{
	const struct nstat_view view = { 0 };

	(void)state;
	assert_string_equal(text(&view, SECONDS_2), "#kernel\n" IN_RECEIVES OUT_TYPE3 IN_DATAGRAMS IN_ERRORS);
	assert_string_equal(json(&view, SECONDS_2), "{\"type\":\"nstat\",\"kernel\":{\"IpInReceives\":16,\"IcmpMsgOutType3\":2,\"UdpInDatagrams\":3,\"UdpInErrors\":0},"
						    "\"rate\":{\"IpInReceives\":8.0,\"IcmpMsgOutType3\":1.0,\"UdpInDatagrams\":1.5,\"UdpInErrors\":null},"
						    "\"interval_ns\":2000000000,\"wrapped\":[\"UdpInErrors\"]}\n");
}

static void test_zeros(void **state)
{
	const struct nstat_view view = { .zeros = true };

	(void)state;
	assert_string_equal(text(&view, SECONDS_2), "#kernel\n" IN_RECEIVES OUT_TYPE3 OUT_TYPE8 IN_DATAGRAMS NO_PORTS IN_ERRORS SYNCOOKIES);
	assert_non_null(strstr(json(&view, SECONDS_2), "\"TcpExtSyncookiesSent\":0}"));
}

static void test_patterns(void **state)
{
	static const char *const some[] = { "udpno*", "ICMPMSGOutType[3]", "*Receives" }, *const none[] = { "Udp" };
	const struct nstat_view three = { .zeros = true, .pattern = some, .patterns = 3 }, nothing = { .zeros = true, .pattern = none, .patterns = 1 };

	(void)state;
	assert_string_equal(text(&three, SECONDS_2), "#kernel\n" IN_RECEIVES OUT_TYPE3 NO_PORTS);
	assert_string_equal(text(&nothing, SECONDS_2), "#kernel\n");
	assert_string_equal(json(&nothing, SECONDS_2), "{\"type\":\"nstat\",\"kernel\":{},\"rate\":{},\"interval_ns\":2000000000,\"wrapped\":[]}\n");
}

static void test_no_time(void **state)
{
	static const char *const one[] = { "UdpInDatagrams" };
	const struct nstat_view view = { .pattern = one, .patterns = 1 };

	(void)state;
	assert_string_equal(text(&view, 0), "#kernel\nUdpInDatagrams                  3                  0.0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_changed), cmocka_unit_test(test_zeros), cmocka_unit_test(test_patterns), cmocka_unit_test(test_no_time),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
