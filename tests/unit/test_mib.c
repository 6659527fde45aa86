/* SPDX-License-Identifier: MIT */
/* The kernel's counters from files of other kernels: names and order of nstat, no IPv6 (R82), long lines (R85), files that are others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/mib.h"
#include "proc_root.h"

#define SNMP "Ip: Forwarding DefaultTTL InReceives\nIp: 1 64 4000000000\nTcp: RtoAlgorithm RtoMin RtoMax MaxConn CurrEstab InSegs\nTcp: 1 200 120000 -1 3 77\n" \
	     "Udp: InDatagrams NoPorts InErrors\nUdp: 5 6 18446744073709551615\nUdpLite: InDatagrams\nUdpLite: 9\n"
#define SNMP6 "Ip6InReceives                   \t12\nUdp6InDatagrams                 \t3\n"
#define NETSTAT "TcpExt: SyncookiesSent IPReversePathFilter\nTcpExt: 0 8\nIpExt: InNoECTPkts\nIpExt: 100\n"

static int tear_down(void **state)
{
	proc_put("snmp", NULL);
	proc_put("snmp6", NULL);
	proc_put("netstat", NULL);
	return proc_tear_down(state);
}

static uint64_t get(const struct mib *m, const char *name)
{
	uint64_t value = 12345678;

	assert_true(mib_get(m, name, &value));
	return value;
}

static void test_names_order_values(void **state)
{
	static const char *const order[] = { "IpInReceives", "TcpInSegs", "UdpInDatagrams", "UdpNoPorts", "UdpInErrors", "UdpLiteInDatagrams", "Ip6InReceives",
					     "Udp6InDatagrams", "TcpExtSyncookiesSent", "TcpExtIPReversePathFilter", "IpExtInNoECTPkts" };
	struct mib m = { 0 };
	uint64_t value;

	(void)state;
	proc_put("snmp", SNMP);
	proc_put("snmp6", SNMP6);
	proc_put("netstat", NETSTAT);
	for (unsigned again = 0; again < 3; again++) {
		assert_int_equal(mib_read(&m, NULL), 0);
		assert_int_equal(m.n, ARRAY_SIZE(order));
		for (unsigned i = 0; i < m.n; i++)
			assert_string_equal(m.entry[i].name, order[i]);
		assert_true(get(&m, "IpInReceives") == 4000000000 && get(&m, "UdpInErrors") == UINT64_MAX && get(&m, "Udp6InDatagrams") == 3);
		assert_true(get(&m, "IpExtInNoECTPkts") == 100 && m.has_ipv6 && m.has_extended);
		assert_false(mib_get(&m, "IpForwarding", &value) || mib_get(&m, "UdpInDatagram", &value));
	}
	mib_free(&m);
}

static void test_no_ipv6_r82(void **state)
{
	struct mib m = { 0 };
	uint64_t value;

	(void)state;
	proc_put("snmp", SNMP);
	proc_put("snmp6", NULL);
	proc_put("netstat", NULL);
	assert_int_equal(mib_read(&m, NULL), 0);
	assert_false(m.has_ipv6 || m.has_extended || mib_get(&m, "Udp6InDatagrams", &value));
	assert_int_equal(get(&m, "UdpInDatagrams"), 5);
	mib_free(&m);
}

/* As nstat: in front of all others. */
static void test_sctp(void **state)
{
	struct mib m = { 0 };

	(void)state;
	proc_put("sctp/snmp", "SctpCurrEstab                   \t0\nSctpActiveEstabs                \t7\n");
	proc_put("snmp", SNMP);
	proc_put("snmp6", NULL);
	proc_put("netstat", NULL);
	assert_int_equal(mib_read(&m, NULL), 0);
	assert_string_equal(m.entry[0].name, "SctpCurrEstab");
	assert_int_equal(get(&m, "SctpActiveEstabs"), 7);
	assert_string_equal(m.entry[2].name, "IpInReceives");
	proc_put("sctp/snmp", NULL);
	mib_free(&m);
}

static void refuse(const char *file, const char *text)
{
	struct mib m = { 0 };
	struct err err = ERR_INIT;

	proc_put("snmp", SNMP);
	proc_put("snmp6", SNMP6);
	proc_put("netstat", NETSTAT);
	proc_put(file, text);
	assert_true(mib_read(&m, &err) < 0);
	if (!strstr(err.text, file) || !strstr(err.text, proc_root))
		fail_msg("%s", err.text);
	mib_free(&m);
}

static void test_other_files_are_refused_r82(void **state)
{
	(void)state;
	refuse("snmp6", SNMP);
	refuse("snmp6", "Ip6InReceives 5 6\n");
	refuse("snmp6", "Ip6InReceives five\n");
	refuse("snmp", SNMP6);
	refuse("snmp", "Udp: InDatagrams\nTcp: 5\n");
	refuse("snmp", "Udp: InDatagrams\nUdp: x\n");
	refuse("snmp", NULL);
	refuse("netstat", "nonsense\n");
}

/* More titles than values, or more values: what there is of both. An odd line at the end is a title without values. */
static void test_uneven_lines(void **state)
{
	struct mib m = { 0 };
	uint64_t value;

	(void)state;
	proc_put("snmp", "Udp: InDatagrams NoPorts InErrors\nUdp: 1 2\nIp: InReceives\nIp: 3 4 5\n");
	proc_put("snmp6", "");
	proc_put("netstat", "");
	assert_int_equal(mib_read(&m, NULL), 0);
	assert_int_equal(m.n, 3);
	assert_true(get(&m, "UdpNoPorts") == 2 && get(&m, "IpInReceives") == 3);
	assert_false(mib_get(&m, "UdpInErrors", &value));
	mib_free(&m);
}

/* A header line of more than 64 KiB. */
static void test_long_lines_r85(void **state)
{
	enum { N = 9000 };
	char *text = malloc(2 * N * 12 + 64), *p = text, name[32];
	struct mib m = { 0 };

	(void)state;
	assert_non_null(text);
	p += sprintf(p, "TcpExt:");
	for (unsigned i = 0; i < N; i++)
		p += sprintf(p, " Column%u", i);
	p += sprintf(p, "\nTcpExt:");
	for (unsigned i = 0; i < N; i++)
		p += sprintf(p, " %u", i * 7);
	sprintf(p, "\n");
	proc_put("snmp", SNMP);
	proc_put("netstat", text);
	assert_int_equal(mib_read(&m, NULL), 0);
	for (unsigned i = 0; i < N; i += 97) {
		sprintf(name, "TcpExtColumn%u", i);
		assert_int_equal(get(&m, name), i * 7);
	}
	mib_free(&m);
	free(text);
}

static void test_paths(void **state)
{
	char buf[128], path[64];
	struct mib m = { 0 };

	(void)state;
	assert_string_equal(strrchr(proc_path("stat/nf_conntrack", buf, sizeof(buf)), '/'), "/nf_conntrack");
	proc_put("snmp", "Udp: InDatagrams\nUdp: 1\n");
	proc_put("other", "Udp: InDatagrams\nUdp: 2\n");
	snprintf(path, sizeof(path), "%s/net/other", proc_root);
	setenv("PROC_NET_SNMP", path, 1);
	assert_int_equal(mib_read(&m, NULL), 0);
	assert_int_equal(get(&m, "UdpInDatagrams"), 2);
	unsetenv("PROC_NET_SNMP");
	proc_put("other", NULL);
	unsetenv("PROC_ROOT");
	assert_string_equal(proc_path("snmp", buf, sizeof(buf)), "/proc/thread-self/net/snmp");
	assert_int_equal(mib_read(&m, NULL), 0); /* those of this host */
	assert_true(get(&m, "UdpInDatagrams") < UINT64_MAX);
	setenv("PROC_ROOT", proc_root, 1);
	mib_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_order_values), cmocka_unit_test(test_no_ipv6_r82), cmocka_unit_test(test_other_files_are_refused_r82),
		cmocka_unit_test(test_uneven_lines),	   cmocka_unit_test(test_long_lines_r85), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_sctp),
	};

	return cmocka_run_group_tests(tests, proc_set_up, tear_down);
}
