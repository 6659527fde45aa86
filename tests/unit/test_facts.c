/* SPDX-License-Identifier: MIT */
/* What the kernel counted between two readings of its files: families, missing and backward counters, reassembly, softnet, UDP-Lite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "counters/facts.h"

static char root[] = "facts-XXXXXX";
static const char *const files[] = { "snmp", "snmp6", "netstat", "softnet_stat", "sockstat", "sockstat6" };

static void put(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/%s", root, name);
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(root))
		return 1;
	snprintf(path, sizeof(path), "%s/net", root);
	return mkdir(path, 0700) || setenv("PROC_ROOT", root, 1);
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		put(files[i], NULL);
	snprintf(path, sizeof(path), "%s/net", root);
	return rmdir(path) || rmdir(root);
}

/* A host that has counted n more of everything. */
static void host(unsigned n)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "Ip: InReceives InHdrErrors InAddrErrors InUnknownProtos InDiscards ReasmTimeout ReasmReqds ReasmOKs ReasmFails\n"
		 "Ip: %u 10 20 30 40 50 60 70 80\nIcmp: InMsgs\nIcmp: 5\nTcp: InSegs\nTcp: 6\n"
		 "Udp: InDatagrams NoPorts InErrors RcvbufErrors InCsumErrors MemErrors\nUdp: %u 1 2 3 4 5\n"
		 "UdpLite: InDatagrams NoPorts InErrors RcvbufErrors InCsumErrors MemErrors\nUdpLite: %u 1 2 3 4 5\n", 1000 + n, 2000 + n, 9000 + 2 * n);
	put("snmp", text);
	snprintf(text, sizeof(text), "Ip6InReceives %u\nIp6InNoECTPkts %u\nIp6InECT0Pkts 0\nIp6InECT1Pkts 0\nIp6InCEPkts 0\nUdp6InDatagrams %u\nIcmp6InMsgs 0\n",
		 100 + n, 100 + 3 * n, 70 + n);
	put("snmp6", text);
	snprintf(text, sizeof(text), "TcpExt: IPReversePathFilter\nTcpExt: %u\nIpExt: InNoRoutes InTruncatedPkts InNoECTPkts InECT0Pkts InECT1Pkts InCEPkts\n"
		 "IpExt: %u 0 %u 1 2 %u\n", 7 + n, n, 500 + n, 8 + n);
	put("netstat", text);
	snprintf(text, sizeof(text), "00000010 %08x 0 0 0 0 0 0 0 0 0 0 0\n00000010 %08x 0 0 0 0 0 0 0 0 0 0 3\n", n, 2 * n);
	put("softnet_stat", text);
	snprintf(text, sizeof(text), "sockets: used 5\nUDP: inuse 3 mem 1\nFRAG: inuse %u memory 0\n", n);
	put("sockstat", text);
	put("sockstat6", "UDP6: inuse 1\nFRAG6: inuse 2 memory 4\n");
}

struct pair {
	struct facts_reading before, now;
};

static struct ledger_facts since(struct pair *p, unsigned families, bool lite)
{
	struct ledger_facts f;

	ledger_facts_init(&f);
	facts_since(&p->now, &p->before, families, lite, &f);
	return f;
}

static void drop(struct pair *p)
{
	facts_free(&p->before);
	facts_free(&p->now);
}

static void test_increments(void **state)
{
	struct pair p = { 0 };
	struct ledger_facts f;

	(void)state;
	host(0);
	assert_int_equal(facts_read(&p.before, NULL), 0);
	host(11);
	assert_int_equal(facts_read(&p.now, NULL), 0);
	f = since(&p, FACTS_V4, false);
	assert_true(f.mib.in_receives == 11 && f.mib.arrived == 22 && f.mib.ip_errors == 11 && f.mib.in_datagrams == 11 && f.mib.rcvbuf_errors == 0);
	assert_true(f.tcp == 0 && f.rp_filter == 11 && f.reassembling == 11 && f.softnet_dropped == 33 && f.mib.icmp == 0);
	f = since(&p, FACTS_V4, true);
	assert_int_equal(f.mib.in_datagrams, 22);
	f = since(&p, FACTS_V6, false);
	assert_true(f.mib.in_receives == 11 && f.mib.arrived == 33 && f.mib.in_datagrams == 11 && f.reassembling == 0 && f.rp_filter == 0);
	f = since(&p, FACTS_V4 | FACTS_V6, false);
	assert_true(f.mib.in_receives == 22 && f.mib.arrived == 55 && f.mib.in_datagrams == 22);
	/* Udp6NoPorts is not in this fixture: then the sum is not known either. */
	assert_true(f.mib.no_ports == LEDGER_UNKNOWN && f.mib.reasm_fails == LEDGER_UNKNOWN);
	drop(&p);
}

static void test_backward_is_unknown_r88(void **state)
{
	struct pair p = { 0 };
	struct ledger_facts f;

	(void)state;
	host(11);
	assert_int_equal(facts_read(&p.before, NULL), 0);
	host(4);
	assert_int_equal(facts_read(&p.now, NULL), 0);
	f = since(&p, FACTS_V4, false);
	if (sizeof(long) == 8)
		assert_true(f.mib.in_datagrams == LEDGER_UNKNOWN && f.mib.arrived == LEDGER_UNKNOWN);
	assert_int_equal(f.reassembling, 0); /* a level */
	assert_int_equal(f.mib.no_ports, 0);
	drop(&p);
}

static void test_missing_files_r82(void **state)
{
	struct pair p = { 0 };
	struct ledger_facts f;

	(void)state;
	host(0);
	for (unsigned i = 1; i < ARRAY_SIZE(files); i++)
		put(files[i], NULL);
	assert_int_equal(facts_read(&p.before, NULL), 0);
	assert_int_equal(facts_read(&p.now, NULL), 0);
	f = since(&p, FACTS_V4, false);
	assert_true(f.mib.in_datagrams == 0 && f.mib.in_receives == 0);
	assert_true(f.mib.arrived == LEDGER_UNKNOWN && f.softnet_dropped == LEDGER_UNKNOWN && f.reassembling == LEDGER_UNKNOWN && f.rp_filter == LEDGER_UNKNOWN);
	f = since(&p, FACTS_V4 | FACTS_V6, false);
	assert_int_equal(f.mib.in_datagrams, LEDGER_UNKNOWN);
	put("snmp", NULL);
	assert_true(facts_read(&p.now, NULL) < 0);
	drop(&p);
}

/* 32 bits that pass their end, CPU by CPU. */
static void test_softnet_wraps_r80(void **state)
{
	struct pair p = { 0 };

	(void)state;
	host(0);
	put("softnet_stat", "00000010 fffffff0 0 0 0 0 0 0 0 0 0 0 0\n00000010 00000005 0 0 0 0 0 0 0 0 0 0 2\n");
	assert_int_equal(facts_read(&p.before, NULL), 0);
	put("softnet_stat", "00000010 00000004 0 0 0 0 0 0 0 0 0 0 0\n00000010 00000006 0 0 0 0 0 0 0 0 0 0 2\n");
	assert_int_equal(facts_read(&p.now, NULL), 0);
	assert_int_equal(since(&p, FACTS_V4, false).softnet_dropped, 21);
	drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R78 increments by family, UDP-Lite, sums of families", test_increments, NULL, NULL, NULL },
		{ "R88 a counter that went backwards is unknown", test_backward_is_unknown_r88, NULL, NULL, NULL },
		{ "R82 files that are not there: unknown, but snmp is needed", test_missing_files_r82, NULL, NULL, NULL },
		{ "R80 R88 softnet counters wrap at 32 bits, each by itself", test_softnet_wraps_r80, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
