/* SPDX-License-Identifier: MIT */
/* What a datagram must look like after it came through an engine: every engine, family, wait mode, batch, with and without pktinfo. */
#include "rig.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

static const size_t sizes[] = { 0, 1, 18, 512, 513, 1472, 9000, 65507 };

enum { TTL = 33, TOS = 0xb8 };

/* Families: where the socket is bound, and where the senders sit. */
static const struct family {
	const char *bind;
	const char *from[2];
} families[] = {
	{ "127.0.0.1", { "127.0.0.1", NULL } },
	{ "::1", { "::1", NULL } },
	{ "*", { "::1", "127.0.0.1" } }, /* in this order: the second has more control data, and needs a header armed again */
};

static const char *const family_names[] = { "v4", "v6", "dual", NULL };

/* Everything about packet p, which must be the datagram of sizes[key] that `from` sent to `host`. */
static void check_packet(struct rig *rig, const struct packet *p, unsigned key, const struct addr *from, const char *host)
{
	const size_t size = sizes[key], stored = rig->conf.no_copy ? 0 : MIN(size, rig->conf.buffer_size);
	const bool wire_known = stored == size || rig->ops->caps & ENGINE_WIRE_LEN;

	CHECK_EQUAL(rig, p->len, stored);
	CHECK_EQUAL(rig, p->wire_len, wire_known ? size : stored);
	CHECK_EQUAL(rig, p->flags, stored < size ? PACKET_TRUNC : 0);
	CHECK_EQUAL(rig, p->sock, 0);
	CHECK_EQUAL(rig, p->segment, 0);
	CHECK(rig, rig->conf.no_copy ? !p->data : rig_payload(p->data, p->len, key, 0));
	CHECK_EQUAL(rig, !!p->src, !!(rig->ops->caps & ENGINE_SRC));
	if (p->src)
		CHECK(rig, addr_equal(p->src, from));
	CHECK_EQUAL(rig, !!p->info, rig->conf.parse != 0);
	if (!p->info)
		return;

	struct addr dst, want;

	CHECK_EQUAL(rig, addr_parse(host, AF_UNSPEC, 0, &want, NULL), 0);
	addr_from_in6(&dst, &p->info->dst, 0, 0);
	CHECK_EQUAL(rig, p->info->valid & rig->conf.parse, rig->conf.parse);
	CHECK_EQUAL(rig, p->info->malformed, 0);
	CHECK(rig, addr_equal_host(&dst, &want));
	CHECK_EQUAL(rig, p->info->family, addr_packet_family(&want));
	CHECK_EQUAL(rig, p->info->ttl, TTL);
	CHECK_EQUAL(rig, p->info->tos, TOS);
}

/* Sends one datagram of each size, and receives them all. Each size comes once: it is its own key. */
static void exchange(struct rig *rig, const char *host, unsigned limit)
{
	int fd = rig_sender(rig, host, &rig->sock[0], TTL, TOS);
	struct addr from = rig_name(fd);
	unsigned received = 0;

	for (unsigned key = 0; key < ARRAY_SIZE(sizes); key++)
		rig_send(rig, fd, sizes[key], key);
	while (received < ARRAY_SIZE(sizes) && rig_waiting(rig)) {
		int n = rig_recv(rig, limit);

		CHECK(rig, n >= 0 && !rig->batch.event);
		for (int i = 0; i < n; i++)
			check_packet(rig, &rig->batch.packets[i], received++, &from, host);
		if (rig->ops->release)
			rig->ops->release(rig->engine, &rig->batch);
	}
	CHECK_EQUAL(rig, received, ARRAY_SIZE(sizes));
	util_close(&fd);
}

/* One cell: a socket, an engine, and both senders. */
static void cell(const struct rig_case *c, unsigned batch, size_t buffer, unsigned want, void (*tune)(struct engine_conf *))
{
	const struct family *family = &families[c->variant];
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, batch, buffer);
	rig_cell(&rig, "%s %s %s batch %u buffer %zu pktinfo %d", c->ops->name, rig_wait_name(c->wait), family_names[c->variant],
		 batch, buffer, want != 0);
	rig_socket(&rig, family->bind, want);
	if (tune)
		tune(&rig.conf);
	rig_start(&rig, 1);
	exchange(&rig, family->from[0], batch);
	if (family->from[1])
		exchange(&rig, family->from[1], batch);
	rig_stop(&rig);
}

#define ALL_INFO (CMSG_WANT_PKTINFO | CMSG_WANT_TTL | CMSG_WANT_TOS)

static void test_matrix(void **state)
{
	static const struct {
		unsigned batch;
		size_t buffer;
	} shapes[] = {
		{ 1, 65535 }, { 2, 65535 }, { 32, 65535 },
		{ 1024, 1472 }, /* small: touching 64 MiB for each cell would be most of the test's time */
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		cell(*state, shapes[i].batch, shapes[i].buffer, 0, NULL);
		cell(*state, shapes[i].batch, shapes[i].buffer, ALL_INFO, NULL);
	}
}

/* The largest slot there is; one family and one wait mode will do for it. */
static void test_largest(void **state)
{
	cell(*state, 1024, 65535, ALL_INFO, NULL);
}

static void wait_for_one(struct engine_conf *conf)
{
	conf->waitforone = true;
}

static void test_waitforone(void **state)
{
	cell(*state, 32, 65535, ALL_INFO, wait_for_one);
}

static void timed(struct engine_conf *conf)
{
	conf->mmsg_timeout_ns = 1000000;
}

static void test_mmsg_timeout(void **state)
{
	cell(*state, 32, 65535, 0, timed);
}

static void test_truncation(void **state)
{
	cell(*state, 32, 512, 0, NULL);
	cell(*state, 1, 512, ALL_INFO, NULL);
}

/* 513 bytes in three pieces of 171: no multiple of anything, and what fits exactly is not cut. */
static void three_pieces(struct engine_conf *conf)
{
	conf->nr_iovec = 3;
}

static void test_iovec(void **state)
{
	cell(*state, 32, 513, 0, three_pieces);
	cell(*state, 8, 65535, ALL_INFO, three_pieces);
}

static void no_copy(struct engine_conf *conf)
{
	conf->no_copy = true;
}

static void test_no_copy(void **state)
{
	cell(*state, 32, 2048, 0, no_copy);
	cell(*state, 32, 2048, ALL_INFO, no_copy);
}

/* A control buffer that holds less than what the socket delivers. */
static void test_ctrunc(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 8, 2048);
	rig_socket(&rig, "127.0.0.1", ALL_INFO);
	rig.conf.control_size = sizeof(struct cmsghdr) + 4;
	rig_start(&rig, 1);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	/* Twice: the second batch shows that the header was armed again. */
	for (int k = 0; k < 2; k++) {
		rig_send(&rig, fd, 100, 1);
		while (!rig_recv(&rig, 8) && rig_waiting(&rig))
			;
		CHECK_EQUAL(&rig, rig.batch.n, 1);
		CHECK_EQUAL(&rig, rig.batch.packets[0].flags, PACKET_CTRUNC);
		CHECK_EQUAL(&rig, rig.batch.packets[0].len, 100);
		CHECK(&rig, rig.batch.packets[0].info->valid != ALL_INFO);
	}
	util_close(&fd);
	rig_stop(&rig);
}

/* Ten segments of 1200 bytes and a short one, as one send. */
enum { SEGMENT = 1200, SEGMENTS = 10, TAIL = 100, BURST = SEGMENT * SEGMENTS + TAIL };

static void send_burst(struct rig *rig, int fd)
{
	const int segment = SEGMENT;

	CHECK_EQUAL(rig, setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	rig_send(rig, fd, BURST, 7);
}

/* Receives one burst; returns the number of datagrams, and of buffers. */
static unsigned take_burst(struct rig *rig, unsigned *buffers)
{
	size_t bytes = 0;
	unsigned datagrams = 0;

	*buffers = 0;
	while (bytes < BURST && rig_waiting(rig)) {
		int n = rig_recv(rig, 16);

		CHECK(rig, n >= 0);
		for (int i = 0; i < n; i++) {
			const struct packet *p = &rig->batch.packets[i];
			unsigned counted = 0;
			struct segment s;

			CHECK_EQUAL(rig, p->flags, 0);
			for (segment_start(&s, p); segment_next(&s); counted++) {
				CHECK_EQUAL(rig, s.len, bytes + SEGMENT <= BURST ? SEGMENT : TAIL);
				CHECK(rig, rig_payload(s.data, s.len, 7, bytes));
				bytes += s.len;
			}
			CHECK_EQUAL(rig, counted, packet_datagrams(p));
			datagrams += counted;
		}
		*buffers += (unsigned)n;
	}
	CHECK_EQUAL(rig, bytes, BURST);
	return datagrams;
}

static void gro(const struct rig_case *c, bool on)
{
	const struct family *family = &families[c->variant];
	unsigned want = on ? ALL_INFO | CMSG_WANT_GRO : 0, buffers;
	struct rig rig;
	int value = -1;
	socklen_t len = sizeof(value);

	rig_init(&rig, c->ops, c->wait, 16, 65535);
	rig_cell(&rig, "%s %s %s gro %d", c->ops->name, rig_wait_name(c->wait), family_names[c->variant], on);
	rig_socket(&rig, family->bind, want);
	rig_start(&rig, 1);
	CHECK_EQUAL(&rig, getsockopt(rig.sock[0].fd, SOL_UDP, UDP_GRO, &value, &len), 0);
	CHECK_EQUAL(&rig, value, on);

	int fd = rig_sender(&rig, family->from[0], &rig.sock[0], TTL, TOS);

	for (int k = 0; k < 2; k++) {
		send_burst(&rig, fd);
		CHECK_EQUAL(&rig, take_burst(&rig, &buffers), SEGMENTS + 1);
		CHECK_EQUAL(&rig, buffers, on ? 1 : SEGMENTS + 1);
	}
	util_close(&fd);
	rig_stop(&rig);
}

static void test_gro_on(void **state)
{
	gro(*state, true);
}

static void test_gro_off(void **state)
{
	gro(*state, false);
}

int main(int argc, char **argv)
{
	static struct rig_suite suite;

	rig_add(&suite, "R25 R21 all sizes", test_matrix, 0, family_names);
	rig_add_waits(&suite, "R25 largest slot", test_largest, 0, NULL, ENGINE_WAIT_POLL, ENGINE_WAIT_POLL);
	rig_add(&suite, "R26 truncation", test_truncation, ENGINE_TRUNC, family_names);
	rig_add(&suite, "waitforone", test_waitforone, ENGINE_BATCH, NULL);
	rig_add(&suite, "R23 time-out argument", test_mmsg_timeout, ENGINE_BATCH, NULL);
	rig_add(&suite, "iovec", test_iovec, ENGINE_IOVEC, NULL);
	rig_add(&suite, "no copy", test_no_copy, ENGINE_WIRE_LEN, NULL);
	rig_add(&suite, "R09 control data cut", test_ctrunc, ENGINE_CMSG, NULL);
	rig_add(&suite, "R18 R49 R50 GRO", test_gro_on, ENGINE_GRO, family_names);
	rig_add(&suite, "R55 no GRO unasked", test_gro_off, 0, family_names);
	return rig_run(&suite, "contract/receive", argc, argv);
}
