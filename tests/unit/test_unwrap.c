/* SPDX-License-Identifier: MIT */
/* From a frame to the UDP payload, for each link type and each way a packet can be no whole UDP datagram; no byte behind the capture is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "net/unwrap.h"
#include "net/wire.h"

enum { PAYLOAD = 21 };

struct frame {
	unsigned char data[300];
	size_t size;
};

static void add(struct frame *f, const void *data, size_t size)
{
	memcpy(f->data + f->size, data, size);
	f->size += size;
}

static void put16(struct frame *f, size_t at, unsigned value)
{
	f->data[at] = (unsigned char)(value >> 8);
	f->data[at + 1] = (unsigned char)value;
}

static void add_udp(struct frame *f)
{
	const unsigned char udp[WIRE_UDP] = { 0x13, 0x88, 0, 53, 0, WIRE_UDP + PAYLOAD };

	add(f, udp, sizeof(udp));
	for (unsigned i = 0; i < PAYLOAD; i++)
		add(f, &(unsigned char){ (unsigned char)(100 + i) }, 1);
}

static void add_ipv4(struct frame *f)
{
	const unsigned char ip[WIRE_IPV4] = { 0x45, 0, 0, WIRE_IPV4 + WIRE_UDP + PAYLOAD, 0, 1, 0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2 };

	add(f, ip, sizeof(ip));
	add_udp(f);
}

/* n extension headers of `each` bytes, of this kind. */
static void add_ipv6(struct frame *f, unsigned char kind, unsigned n, unsigned each)
{
	unsigned char ip[WIRE_IPV6] = { 0x60, 0, 0, 0, 0, (unsigned char)(n * each + WIRE_UDP + PAYLOAD), n ? kind : 17, 64, 0x20, 0x01, 0x0d, 0xb8 };

	add(f, ip, sizeof(ip));
	for (unsigned i = 0; i < n; i++) {
		unsigned char extension[64] = { i + 1 < n ? kind : 17, (unsigned char)(kind == 51 ? each / 4 - 2 : kind == 44 ? 0 : each / 8 - 1) };

		add(f, extension, each);
	}
	add_udp(f);
}

/* In a heap buffer of just the captured size, so that a sanitizer or valgrind sees a byte too many. */
static enum unwrap look(enum unwrap_link link, const struct frame *f, size_t captured, bool *whole)
{
	unsigned char *copy = malloc(MAX(captured, 1));
	struct unwrap_payload p = { NULL, 0 };
	enum unwrap result;

	assert_non_null(copy);
	memcpy(copy, f->data, captured);
	result = unwrap_udp(link, copy, captured, f->size, &p);
	*whole = result == UNWRAP_UDP && p.size == PAYLOAD;
	for (unsigned i = 0; *whole && i < PAYLOAD; i++)
		*whole = p.data[i] == 100 + i;
	free(copy);
	return result;
}

/* Whole, it is found; cut anywhere, it is said to be cut and nothing else. */
static void check(enum unwrap_link link, const struct frame *f)
{
	bool whole;

	assert_int_equal(look(link, f, f->size, &whole), UNWRAP_UDP);
	assert_true(whole);
	for (size_t n = 0; n < f->size; n++)
		assert_int_equal(look(link, f, n, &whole), UNWRAP_CUT);
}

static enum unwrap found(const struct frame *f)
{
	bool whole;

	return look(UNWRAP_IP, f, f->size, &whole);
}

static void add_link(struct frame *f, enum unwrap_link link, unsigned type)
{
	static const size_t sizes[] = { [UNWRAP_ETHERNET] = 14, [UNWRAP_IP] = 0, [UNWRAP_SLL] = 16, [UNWRAP_SLL2] = 20, [UNWRAP_NULL] = 4 };
	static const unsigned char zero[20];

	add(f, zero, sizes[link]);
	if (link == UNWRAP_ETHERNET)
		put16(f, 12, type);
	else if (link == UNWRAP_SLL)
		put16(f, 14, type);
	else if (link == UNWRAP_SLL2)
		put16(f, 0, type);
}

static void test_links(void **state)
{
	(void)state;
	for (enum unwrap_link link = UNWRAP_ETHERNET; link <= UNWRAP_NULL; link++) {
		struct frame four = { .size = 0 }, six = { .size = 0 };

		add_link(&four, link, 0x0800);
		add_ipv4(&four);
		check(link, &four);
		add_link(&six, link, 0x86dd);
		add_ipv6(&six, 0, 0, 0);
		check(link, &six);
	}
}

static void test_vlan_tags(void **state)
{
	static const unsigned char tags[] = { 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00 };
	struct frame f = { .size = 0 };
	bool whole;

	(void)state;
	add_link(&f, UNWRAP_ETHERNET, 0x88a8);
	add(&f, tags, sizeof(tags));
	add_ipv4(&f);
	check(UNWRAP_ETHERNET, &f);
	put16(&f, 20, 0x0806); /* ARP in it */
	assert_int_equal(look(UNWRAP_ETHERNET, &f, f.size, &whole), UNWRAP_OTHER);
}

static void test_ipv4(void **state)
{
	struct frame f = { .size = 0 }, options = { .size = 0 };
	static const unsigned char padding[4];

	(void)state;
	add_ipv4(&f);
	/* An Ethernet frame is padded: what is behind the total length is nobody's. */
	add(&f, padding, sizeof(padding));
	assert_int_equal(found(&f), UNWRAP_UDP);
	put16(&f, 2, 0); /* total length of a packet that is still to be segmented: all that is there */
	f.size -= sizeof(padding);
	assert_int_equal(found(&f), UNWRAP_UDP);
	put16(&f, 2, (unsigned)f.size + 1);
	assert_int_equal(found(&f), UNWRAP_BAD);
	put16(&f, 2, WIRE_IPV4 + 3);
	assert_int_equal(found(&f), UNWRAP_BAD);
	put16(&f, 2, (unsigned)f.size);
	put16(&f, 6, 0x2000);
	assert_int_equal(found(&f), UNWRAP_FRAGMENT);
	put16(&f, 6, 0x0001);
	assert_int_equal(found(&f), UNWRAP_FRAGMENT);
	put16(&f, 6, 0x4000);
	f.data[9] = 6;
	assert_int_equal(found(&f), UNWRAP_OTHER);
	f.data[9] = 17;
	f.data[0] = 0x44;
	assert_int_equal(found(&f), UNWRAP_BAD);
	f.data[0] = 0x55;
	assert_int_equal(found(&f), UNWRAP_OTHER);

	add_ipv4(&options);
	memmove(options.data + 32, options.data + 20, options.size - 20);
	options.size += 12;
	options.data[0] = 0x48;
	put16(&options, 2, (unsigned)options.size);
	check(UNWRAP_IP, &options);
}

static void test_ipv6_extensions(void **state)
{
	static const struct {
		unsigned char kind;
		unsigned n, each;
	} cases[] = { { 0, 1, 8 }, { 43, 1, 24 }, { 60, 3, 16 }, { 51, 1, 24 }, { 44, 1, 8 } };
	struct frame f = { .size = 0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame e = { .size = 0 };

		add_ipv6(&e, cases[i].kind, cases[i].n, cases[i].each);
		check(UNWRAP_IP, &e);
	}
	add_ipv6(&f, 44, 1, 8);
	put16(&f, WIRE_IPV6 + 2, 1); /* more fragments */
	assert_int_equal(found(&f), UNWRAP_FRAGMENT);
	put16(&f, WIRE_IPV6 + 2, 8);
	assert_int_equal(found(&f), UNWRAP_FRAGMENT);
	f.data[WIRE_IPV6] = 6;
	assert_int_equal(found(&f), UNWRAP_OTHER);
	f.data[6] = 58; /* ICMPv6 */
	assert_int_equal(found(&f), UNWRAP_OTHER);
	f.data[6] = 17;
	put16(&f, 4, 200);
	assert_int_equal(found(&f), UNWRAP_BAD);
}

static void test_udp_length(void **state)
{
	struct frame f = { .size = 0 };

	(void)state;
	add_ipv4(&f);
	put16(&f, WIRE_IPV4 + 4, 7);
	assert_int_equal(found(&f), UNWRAP_BAD);
	put16(&f, WIRE_IPV4 + 4, WIRE_UDP + PAYLOAD + 1);
	assert_int_equal(found(&f), UNWRAP_BAD);
	put16(&f, WIRE_IPV4 + 4, 0);
	assert_int_equal(found(&f), UNWRAP_UDP);
	put16(&f, 2, WIRE_IPV4 + 7);
	assert_int_equal(found(&f), UNWRAP_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),	       cmocka_unit_test(test_vlan_tags),  cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6_extensions), cmocka_unit_test(test_udp_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
