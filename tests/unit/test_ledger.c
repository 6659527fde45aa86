/* SPDX-License-Identifier: MIT */
/* The ledger from invented counters: each loss in its place, overlaps taken out, units, verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "counters/ledger.h"

/* A run of plain datagrams in a namespace of its own: all of them sent, arrived and read. */
static struct ledger_facts plain(uint64_t sent)
{
	struct ledger_facts f;

	ledger_facts_init(&f);
	memset(&f.mib, 0, sizeof(f.mib));
	f.tcp = f.rp_filter = f.reassembling = f.link_errors = f.link_dropped = f.softnet_dropped = 0;
	f.sent = f.received = f.buffers = f.mib.in_datagrams = f.mib.arrived = f.mib.in_receives = sent;
	f.segments = 1;
	f.end = true;
	return f;
}

/* n of them are not read. */
static struct ledger_facts unread(uint64_t sent, uint64_t n)
{
	struct ledger_facts f = plain(sent);

	f.received -= n;
	f.buffers -= n;
	f.mib.in_datagrams -= n;
	return f;
}

static struct ledger balance(struct ledger_facts f)
{
	struct ledger l;

	ledger_balance(&l, &f);
	return l;
}

static void check(const struct ledger *l, enum ledger_place place, uint64_t packets, uint64_t low, uint64_t high, enum ledger_quality quality)
{
	const struct ledger_term *t = &l->term[place];

	if (t->packets != packets || t->low != low || t->high != high || t->quality != quality)
		fail_msg("%s: %llu packets, %llu to %llu datagrams, %s", ledger_place[place].name, (unsigned long long)t->packets, (unsigned long long)t->low,
			 (unsigned long long)t->high, ledger_quality[t->quality]);
}

/* Every place but this one is 0. */
static void only(const struct ledger *l, enum ledger_place place)
{
	for (unsigned p = 0; p < LEDGER_N; p++)
		if (p != place && (l->term[p].low || (l->term[p].high && l->term[p].quality != LEDGER_NOTHING)))
			fail_msg("%s is not 0", ledger_place[p].name);
}

static void says(const struct ledger *l, const char *sentence)
{
	char text[300];

	assert_string_equal(ledger_sentence(l, text, sizeof(text)), sentence);
}

static void test_nothing_lost(void **state)
{
	struct ledger l = balance(plain(1000));

	(void)state;
	only(&l, LEDGER_N);
	says(&l, "balanced");
	assert_true(l.alone && l.arrived == 1000 && l.others == 0 && l.lost_low == 0 && l.lost_high == 0);
	assert_true(ledger_residual(&l) == 0 && ledger_surplus(&l) == 0);
}

/* InErrors holds the parts, sk_drops too: each counts once. */
static void test_overlaps_r78(void **state)
{
	struct ledger_facts f = unread(1000, 100);
	struct ledger l;

	(void)state;
	f.mib.rcvbuf_errors = 60;
	f.mib.mem_errors = 25;
	f.mib.in_errors = 100;
	f.socket_drops = 100;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 60, 60, 60, LEDGER_EXACT);
	check(&l, LEDGER_mem, 25, 25, 25, LEDGER_EXACT);
	check(&l, LEDGER_filter, 15, 15, 15, LEDGER_EXACT);
	check(&l, LEDGER_header, 0, 0, 0, LEDGER_EXACT);
	says(&l, "balanced");
}

/* Linux 6.18: the socket's drops have them, InErrors has not, MemErrors may have. */
static void test_memory_apart_r78(void **state)
{
	struct ledger_facts f = unread(1000, 100);
	struct ledger l;

	(void)state;
	f.mib.mem_errors = f.socket_drops = 100;
	l = balance(f);
	only(&l, LEDGER_mem);
	check(&l, LEDGER_mem, 100, 100, 100, LEDGER_EXACT);
	says(&l, "balanced");
	f.mib.mem_errors = 0;
	l = balance(f);
	only(&l, LEDGER_mem);
	check(&l, LEDGER_mem, 100, 100, 100, LEDGER_EXACT);
	says(&l, "balanced");
	f.mib.mem_errors = 60;
	f.mib.rcvbuf_errors = 25;
	f.mib.in_errors = 40; /* with 15 of a filter */
	l = balance(f);
	check(&l, LEDGER_mem, 60, 60, 60, LEDGER_EXACT);
	check(&l, LEDGER_rcvbuf, 25, 25, 25, LEDGER_EXACT);
	check(&l, LEDGER_filter, 15, 15, 15, LEDGER_EXACT);
	check(&l, LEDGER_header, 0, 0, 0, LEDGER_EXACT);
	says(&l, "balanced");
}

/* Wrong checksums found before the socket are in no socket's drops; those found later are. */
static void test_checksums(void **state)
{
	struct ledger_facts f = unread(1000, 30);
	struct ledger l;

	(void)state;
	f.mib.csum_errors = f.mib.in_errors = 30;
	l = balance(f);
	only(&l, LEDGER_csum);
	says(&l, "balanced");
	f.socket_drops = 30;
	l = balance(f);
	only(&l, LEDGER_csum);
	check(&l, LEDGER_csum, 30, 30, 30, LEDGER_EXACT);
	says(&l, "balanced");
	/* A filter besides: which of the two the socket has dropped, nothing tells, but there were so many in all. */
	f.mib.in_errors = 40;
	f.socket_drops = 20;
	f.received = f.buffers = f.mib.in_datagrams = 960;
	l = balance(f);
	check(&l, LEDGER_filter, LEDGER_UNKNOWN, 0, 10, LEDGER_BOUNDED);
	check(&l, LEDGER_header, LEDGER_UNKNOWN, 0, 10, LEDGER_BOUNDED);
	assert_int_equal(l.verdict, LEDGER_NOT_DETERMINABLE);
}

static void test_places_one_by_one(void **state)
{
	static const struct {
		size_t offset;
		enum ledger_place place;
		bool arrived; /* they came up to IP */
	} cases[] = {
		{ offsetof(struct ledger_facts, qdisc_drops), LEDGER_qdisc, false },
		{ offsetof(struct ledger_facts, link_errors), LEDGER_link, false },
		{ offsetof(struct ledger_facts, link_dropped), LEDGER_link, false },
		{ offsetof(struct ledger_facts, tx_dropped), LEDGER_link, false },
		{ offsetof(struct ledger_facts, rp_filter), LEDGER_rp_filter, true },
		{ offsetof(struct ledger_facts, mib.ip_errors), LEDGER_ip, true },
		{ offsetof(struct ledger_facts, mib.no_ports), LEDGER_no_port, true },
		{ offsetof(struct ledger_facts, ring_drops), LEDGER_ring, true },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ledger_facts f = unread(1000, 7);
		struct ledger l;

		*(uint64_t *)((char *)&f + cases[i].offset) = 7;
		if (!cases[i].arrived)
			f.mib.arrived = f.mib.in_receives = 993;
		l = balance(f);
		only(&l, cases[i].place);
		check(&l, cases[i].place, 7, 7, 7, LEDGER_EXACT);
		says(&l, "balanced");
	}
}

/* One drop at the backlog is in four counters. */
static void test_backlog_counts_once(void **state)
{
	struct ledger_facts f = unread(1000, 5);
	struct ledger l;

	(void)state;
	f.mib.arrived = f.mib.in_receives = 995;
	f.softnet_dropped = 50; /* of the whole host */
	f.link_dropped = 5;
	f.tx_dropped = 5;
	l = balance(f);
	only(&l, LEDGER_backlog);
	check(&l, LEDGER_backlog, 5, 5, 5, LEDGER_EXACT);
	says(&l, "balanced");
	f.link_dropped = 0; /* the host's, not ours */
	f.tx_dropped = LEDGER_UNKNOWN;
	l = balance(f);
	check(&l, LEDGER_backlog, 0, 0, 0, LEDGER_EXACT);
	says(&l, "unbalanced by 5: what the sending host dropped itself is not known (--sent-from tells)");
	assert_int_equal(ledger_residual(&l), 5);
}

static void test_reassembly_r65(void **state)
{
	struct ledger_facts f = unread(1000, 10);
	struct ledger l;

	(void)state;
	f.fragmented = true;
	f.segments = 1;
	f.mib.in_receives = f.mib.arrived = f.mib.reasm_reqds = 2990;
	f.mib.reasm_oks = 990;
	f.mib.reasm_fails = f.mib.reasm_timeout = 6;
	f.reassembling = 4;
	l = balance(f);
	check(&l, LEDGER_reassembly, 6, 6, 6, LEDGER_EXACT);
	check(&l, LEDGER_reassembling, 4, 4, 4, LEDGER_EXACT);
	assert_true(l.arrived == 990 && l.lost_low == 6);
	says(&l, "balanced");
	/* Memory ran out: fails counts fragments. */
	f.mib.reasm_fails = 12;
	f.reassembling = 0;
	l = balance(f);
	check(&l, LEDGER_reassembly, LEDGER_UNKNOWN, 6, 12, LEDGER_BOUNDED);
	says(&l, "not determinable: reassembly of fragments: 6 to 12 datagrams");
	/* Fragments lost before reassembly: one or all of a datagram's. */
	f.mib.reasm_fails = 6;
	f.qdisc_drops = 9;
	l = balance(f);
	check(&l, LEDGER_qdisc, 9, 1, 9, LEDGER_BOUNDED);
}

/* GSO: packets of 32, taken apart at the socket. */
static void test_gso(void **state)
{
	struct ledger_facts f = unread(3200, 320);
	struct ledger l;

	(void)state;
	f.segments = 32;
	f.mib.in_receives = 100;
	f.mib.rcvbuf_errors = f.mib.in_errors = f.socket_drops = 320;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 320, 320, 320, LEDGER_EXACT);
	says(&l, "balanced");
	/* No socket: packets. What arrived tells how many datagrams, the last packet was a short one. */
	f = unread(3200, 630);
	f.segments = 32;
	f.mib.in_receives = 100;
	f.mib.no_ports = 20;
	f.mib.icmp = 20; /* the errors sent back over lo arrive as well */
	f.mib.arrived += 20;
	f.mib.in_receives += 20;
	l = balance(f);
	check(&l, LEDGER_no_port, 20, 630, 630, LEDGER_DERIVED);
	says(&l, "balanced");
	/* Before IP nothing tells but the source: packets times segments. */
	f = unread(3200, 64);
	f.segments = 32;
	f.mib.arrived = 3136;
	f.mib.in_receives = 98;
	f.softnet_dropped = f.link_dropped = 2;
	l = balance(f);
	check(&l, LEDGER_backlog, 2, 64, 64, LEDGER_INFERRED);
	says(&l, "balanced");
	/* BPF has looked at each. */
	f.seen[LEDGER_backlog] = (struct ledger_seen){ 2, 63 };
	f.sent = 3199;
	l = balance(f);
	check(&l, LEDGER_backlog, 2, 63, 63, LEDGER_EXACT);
	says(&l, "balanced");
	/* And without a word of the source. */
	f.seen[LEDGER_backlog] = (struct ledger_seen){ LEDGER_UNKNOWN, LEDGER_UNKNOWN };
	f.segments = f.sent = LEDGER_UNKNOWN;
	l = balance(f);
	check(&l, LEDGER_backlog, 2, 2, 256, LEDGER_BOUNDED);
	assert_true(l.lost_low == 2 && l.lost_high == 256 && ledger_residual(&l) == LEDGER_UNKNOWN);
	says(&l, "not determinable: nobody told how many were sent (udp_source --trailer, or --sent-from)");
}

/* UDP_GRO: the socket drops buffers. A derived term is held against sent. */
static void test_gro_is_derived(void **state)
{
	struct ledger_facts f = plain(3200);
	struct ledger l;

	(void)state;
	f.gro = true;
	f.segments = 32;
	f.mib.in_receives = 100;
	f.received = 2880;
	f.buffers = f.mib.in_datagrams = 90;
	f.mib.rcvbuf_errors = f.mib.in_errors = f.socket_drops = 10;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 10, 320, 320, LEDGER_DERIVED);
	says(&l, "balanced");
	f.sent = 3205;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 10, 320, 320, LEDGER_DERIVED);
	assert_int_equal(l.verdict, LEDGER_UNBALANCED);
	assert_int_equal(ledger_residual(&l), 5);
	/* Two places that count buffers: neither can be derived. */
	f.sent = 3200;
	f.mib.mem_errors = 1;
	f.mib.in_errors = f.socket_drops = 11;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 10, 320, 320, LEDGER_INFERRED);
	/* Somebody else reads here too. */
	f.mib.mem_errors = 0;
	f.mib.in_errors = f.socket_drops = 10;
	f.mib.in_datagrams += 3;
	f.segments = LEDGER_UNKNOWN;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, 10, 10, 1280, LEDGER_BOUNDED);
	assert_int_equal(l.others, 3);
	says(&l, "foreign traffic seen: 3 datagrams of others read by other sockets");
}

/* In a shared namespace our sockets tell what they dropped. */
static void test_shared_namespace(void **state)
{
	struct ledger_facts f = unread(1000, 100);
	struct ledger l;

	(void)state;
	f.mib.in_datagrams += 5000;
	f.mib.arrived += 5400;
	f.mib.in_receives += 5400;
	f.mib.rcvbuf_errors = f.mib.in_errors = 500;
	f.mib.no_ports = 3;
	f.socket_drops = 100;
	l = balance(f);
	assert_false(l.alone);
	check(&l, LEDGER_rcvbuf, 100, 100, 100, LEDGER_EXACT);
	check(&l, LEDGER_no_port, LEDGER_UNKNOWN, 0, 3, LEDGER_BOUNDED);
	says(&l, "balanced");
	f.received -= 2;
	f.buffers -= 2;
	l = balance(f);
	assert_int_equal(l.verdict, LEDGER_FOREIGN);
	/* Errors of other kinds: some of the socket's drops may be these. */
	f.mib.in_errors = 530;
	l = balance(f);
	check(&l, LEDGER_rcvbuf, LEDGER_UNKNOWN, 70, 100, LEDGER_BOUNDED);
}

/* A kernel without InCsumErrors and MemErrors, or without a file. */
static void test_unknown_is_not_zero(void **state)
{
	struct ledger_facts f = unread(1000, 10);
	struct ledger l;

	(void)state;
	f.mib.csum_errors = f.mib.mem_errors = LEDGER_UNKNOWN;
	f.mib.rcvbuf_errors = f.mib.in_errors = f.socket_drops = 10;
	l = balance(f);
	assert_false(l.alone);
	check(&l, LEDGER_csum, LEDGER_UNKNOWN, 0, LEDGER_UNKNOWN, LEDGER_NOTHING);
	check(&l, LEDGER_rcvbuf, 10, 10, 10, LEDGER_EXACT);
	says(&l, "balanced"); /* nothing is left for what is not known */
	f = plain(1000);
	ledger_facts_init(&f);
	f.end = true;
	l = balance(f);
	for (unsigned p = 0; p < LEDGER_N; p++)
		if (p != LEDGER_queued && p != LEDGER_rcvbuf && p != LEDGER_mem && p != LEDGER_filter && p != LEDGER_ring && p != LEDGER_xdp)
			check(&l, p, LEDGER_UNKNOWN, 0, LEDGER_UNKNOWN, LEDGER_NOTHING);
	assert_true(l.lost_high == LEDGER_UNKNOWN && ledger_surplus(&l) == LEDGER_UNKNOWN);
}

static void test_trailers_are_apart(void **state)
{
	struct ledger_facts f = plain(1000);
	struct ledger l;

	(void)state;
	f.trailers_sent = 3;
	f.control = 2;
	f.buffers = f.mib.in_datagrams = 1002;
	f.mib.arrived = f.mib.in_receives = 1003;
	f.mib.rcvbuf_errors = f.mib.in_errors = f.socket_drops = 1; /* the third */
	l = balance(f);
	says(&l, "balanced");
	f.trailers_sent = 2;
	f.trailers_after = 4;
	l = balance(f);
	says(&l, "not determinable: the last 4 trailers were not heard");
}

static void test_verdicts(void **state)
{
	struct ledger_facts f = plain(1000);
	struct ledger l;

	(void)state;
	f.end = false;
	l = balance(f);
	says(&l, "not judged");
	f.end = true;
	f.queued_bytes = 768;
	l = balance(f);
	says(&l, "not judged: stopped with 768 bytes in the receive buffers");
	f = plain(1000);
	f.sent = 1012;
	f.qdisc_drops = 0;
	f.seen[LEDGER_netfilter] = (struct ledger_seen){ 0, 0 };
	l = balance(f);
	says(&l, "unbalanced by 12");
	f.xdp = true;
	l = balance(f);
	says(&l, "unbalanced by 12: what the XDP program of an interface dropped is not known");
	f.sent = 990; /* more came than was sent */
	l = balance(f);
	says(&l, "unbalanced by 10 too many");
	assert_true(ledger_residual(&l) == 0 && ledger_surplus(&l) == 10);
	f.foreign = 4;
	l = balance(f);
	says(&l, "foreign traffic seen: 4 datagrams of others read by us");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "nothing lost: balanced", test_nothing_lost, NULL, NULL, NULL },
		{ "R78 InErrors, its parts and the socket's drops count once", test_overlaps_r78, NULL, NULL, NULL },
		{ "R78 memory errors that are not among InErrors", test_memory_apart_r78, NULL, NULL, NULL },
		{ "checksums found before and after the socket lookup", test_checksums, NULL, NULL, NULL },
		{ "R87 each loss in its place and nowhere else", test_places_one_by_one, NULL, NULL, NULL },
		{ "R58 R87 a drop at the backlog counts once, and the host's are not ours", test_backlog_counts_once, NULL, NULL, NULL },
		{ "R65 reassembly: lost, still there, memory", test_reassembly_r65, NULL, NULL, NULL },
		{ "GSO: datagrams at the socket, packets before it", test_gso, NULL, NULL, NULL },
		{ "GRO: derived of what arrived, held against sent", test_gro_is_derived, NULL, NULL, NULL },
		{ "R84 a shared namespace: our sockets' own drops", test_shared_namespace, NULL, NULL, NULL },
		{ "R78 what a kernel does not count is unknown, not 0", test_unknown_is_not_zero, NULL, NULL, NULL },
		{ "R69 trailers are no datagrams, lost ones do not matter", test_trailers_are_apart, NULL, NULL, NULL },
		{ "R72 verdicts", test_verdicts, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
