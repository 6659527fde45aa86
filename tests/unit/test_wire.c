/* SPDX-License-Identifier: MIT */
/* Headers byte for byte, checksums against figures from elsewhere and against a sum made the slow way, parts of a datagram. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/util.h"
#include "net/wire.h"

/* RFC 1071 as its section 1 says it: 16-bit words in network order, end-around carry. */
static uint32_t slow_sum(uint32_t sum, const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint16_t get16(const void *at)
{
	const unsigned char *b = at;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static struct wire_ip between(const char *src, const char *dst)
{
	struct wire_ip ip = { .tos = 0, .ttl = 64 };
	struct addr a, b;

	assert_int_equal(addr_parse(src, AF_UNSPEC, 0, &a, NULL), 0);
	assert_int_equal(addr_parse(dst, AF_UNSPEC, 0, &b, NULL), 0);
	wire_addresses(&ip, &a, &b);
	return ip;
}

static void test_sum_of_rfc_1071(void **state)
{
	/* The example of section 3: the sum is ddf2. */
	static const unsigned char data[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };
	uint16_t folded = wire_fold(wire_sum(0, data, sizeof(data)));

	(void)state;
	assert_int_equal(get16(&folded), 0xffff ^ 0xddf2);
}

static void test_sum_of_any_length(void **state)
{
	unsigned char data[2048];
	struct random r;

	(void)state;
	random_seed(&r, 1, 0);
	random_fill(&r, data, sizeof(data));
	for (size_t size = 0; size < 300; size++) {
		uint16_t whole = wire_fold(wire_sum(0, data, size));

		assert_int_equal(get16(&whole), 0xffff ^ slow_sum(0, data, size));
		for (size_t cut = 0; cut <= size; cut += 2) { /* in two pieces */
			uint16_t parts = wire_fold(wire_sum(wire_sum(0, data, cut), data + cut, size - cut));

			assert_int_equal(parts, whole);
		}
	}
	memset(data, 0xff, sizeof(data));
	for (size_t size = 1; size < sizeof(data); size++) { /* every carry there can be */
		uint16_t whole = wire_fold(wire_sum(0, data, size));

		assert_int_equal(get16(&whole), 0xffff ^ slow_sum(0, data, size));
	}
}

static void test_ipv4_header(void **state)
{
	/* A well-known example: 4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7. */
	static const unsigned char expected[] = { 0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
						  0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7 };
	static const struct wire_part whole = { .len = 0x73 - 20 };
	struct wire_ip ip = between("192.168.0.1", "192.168.0.199");
	unsigned char to[WIRE_IP_MOST];

	(void)state;
	ip.df = true;
	assert_int_equal(wire_ip_size(AF_INET, &whole), 20);
	assert_int_equal(wire_put_ip(to, &ip, &whole), 20);
	assert_memory_equal(to, expected, 20);
}

static void test_ipv4_fragments(void **state)
{
	static const struct {
		struct wire_part part;
		unsigned word; /* flags and offset */
	} rows[] = {
		{ { 0, 1480, true }, 0x2000 },
		{ { 1480, 1480, true }, 0x2000 | 185 },
		{ { 2960, 100, false }, 370 },
		{ { 65528, 7, false }, 8191 },
	};
	struct wire_ip ip = between("198.18.0.1", "198.18.0.2");
	unsigned char to[WIRE_IP_MOST];

	(void)state;
	ip.id = 0xabcd1234;
	ip.tos = 0xb8;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t check;

		assert_true(wire_is_fragment(&rows[i].part));
		assert_int_equal(wire_put_ip(to, &ip, &rows[i].part), 20);
		assert_int_equal(get16(to + 2), (uint16_t)(20 + rows[i].part.len));
		assert_int_equal(get16(to + 4), 0x1234);
		assert_int_equal(get16(to + 6), rows[i].word);
		assert_int_equal(to[1], 0xb8);
		check = wire_fold(wire_sum(0, to, 20)); /* over a header with its checksum: 0 */
		assert_int_equal(check, 0);
	}
}

static void test_ipv6_header(void **state)
{
	static const struct wire_part whole = { .len = 26 }, middle = { .offset = 1448, .len = 1448, .more = true },
				      last = { .offset = 2896, .len = 12 };
	static const unsigned char fixed[] = { 0x6b, 0x80, 0x00, 0x00, 0x00, 0x1a, 0x11, 0x07, 0x20, 0x01, 0x0d, 0xb8, 0, 0,
					       0,    0,	   0,	 0,    0,    0,	   0,	 0,    0,    1,	   0x20, 0x01, 0x0d, 0xb8,
					       0,    0,	   0,	 0,    0,    0,	   0,	 0,    0,    0,	   0,	 2 };
	struct wire_ip ip = between("2001:db8::1", "2001:db8::2");
	unsigned char to[WIRE_IP_MOST];

	(void)state;
	ip.ttl = 7;
	ip.tos = 0xb8;
	ip.id = 0xabcd1234;
	assert_false(wire_is_fragment(&whole));
	assert_int_equal(wire_put_ip(to, &ip, &whole), 40);
	assert_memory_equal(to, fixed, 40);

	assert_int_equal(wire_put_ip(to, &ip, &middle), 48);
	assert_int_equal(wire_ip_size(AF_INET6, &middle), 48);
	assert_int_equal(get16(to + 4), 1448 + 8); /* RFC 8200: extension headers belong to the payload */
	assert_int_equal(to[6], 44);
	assert_int_equal(to[40], 17);
	assert_int_equal(to[41], 0);
	assert_int_equal(get16(to + 42), 1448 | 1);
	assert_int_equal(get16(to + 44), 0xabcd);
	assert_int_equal(get16(to + 46), 0x1234);

	assert_int_equal(wire_put_ip(to, &ip, &last), 48);
	assert_int_equal(get16(to + 42), 2896);
}

/* Pseudo-header, header and payload of a whole datagram, laid out as the RFCs draw them. */
static uint32_t slow_udp_sum(const struct wire_ip *ip, const unsigned char *udp, const unsigned char *payload, size_t size)
{
	unsigned char pseudo[40] = { 0 };
	size_t n = ip->family == AF_INET ? 4 : 16, total = size + 8;
	uint32_t sum;

	memcpy(pseudo, ip->src, n);
	memcpy(pseudo + n, ip->dst, n);
	if (ip->family == AF_INET) { /* RFC 768: zero, protocol, length */
		pseudo[9] = 17;
		pseudo[10] = (unsigned char)(total >> 8);
		pseudo[11] = (unsigned char)total;
		sum = slow_sum(0, pseudo, 12);
	} else { /* RFC 8200, 8.1: 32-bit length, zeros, next header */
		pseudo[34] = (unsigned char)(total >> 8);
		pseudo[35] = (unsigned char)total;
		pseudo[39] = 17;
		sum = slow_sum(0, pseudo, 40);
	}
	return slow_sum(slow_sum(sum, udp, 8), payload, size);
}

static void check_udp(const struct wire_ip *ip, const unsigned char *payload, size_t size)
{
	unsigned char udp[8];
	uint16_t check = wire_udp_check(ip, 49152, 6666, payload, size);

	assert_int_not_equal(check, 0);
	wire_put_udp(udp, 49152, 6666, (uint16_t)(size + 8), check);
	assert_int_equal(get16(udp), 49152);
	assert_int_equal(get16(udp + 2), 6666);
	assert_int_equal(get16(udp + 4), size + 8);
	assert_int_equal(slow_udp_sum(ip, udp, payload, size), 0xffff);
}

static void test_udp_checksum(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 17, 18, 19, 1472, 65507 };
	struct wire_ip ip[] = { between("127.0.0.1", "198.18.200.9"), between("2001:db8:ffff::1", "fe80::9%lo") };
	unsigned char *data = malloc(65507);
	struct random r;

	(void)state;
	assert_non_null(data);
	random_seed(&r, 2, 0);
	random_fill(&r, data, 65507);
	for (unsigned f = 0; f < ARRAY_SIZE(ip); f++)
		for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
			check_udp(&ip[f], data, sizes[i]);
	free(data);
}

/* RFC 768: a sum that comes out as zero is sent as all ones. Some two bytes make it so. */
static void test_udp_checksum_is_never_zero(void **state)
{
	struct wire_ip ip = between("127.0.0.1", "127.0.0.1");
	unsigned ones = 0;

	(void)state;
	for (unsigned x = 0; x < 65536; x++) {
		const unsigned char payload[2] = { (unsigned char)(x >> 8), (unsigned char)x };
		uint16_t check = wire_udp_check(&ip, 1, 1, payload, 2);

		assert_int_not_equal(check, 0);
		ones += check == 0xffff;
	}
	assert_int_equal(ones, 1);
}

static void test_parts(void **state)
{
	static const size_t totals[] = { 8, 9, 15, 16, 17, 26, 1480, 1481, 2960, 65515 };
	static const unsigned sizes[] = { 8, 16, 24, 1480, 65528 };

	(void)state;
	for (unsigned t = 0; t < ARRAY_SIZE(totals); t++)
		for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++) {
			unsigned n = wire_parts(totals[t], sizes[s]);
			size_t at = 0;

			for (unsigned i = 0; i < n; i++) {
				struct wire_part part = wire_part(totals[t], sizes[s], i);

				assert_int_equal(part.offset, at);
				assert_int_equal(part.offset % 8, 0);
				assert_int_equal(part.more, i + 1 < n);
				assert_true(part.len >= 1 && part.len <= sizes[s]);
				if (part.more)
					assert_int_equal(part.len, sizes[s]);
				assert_int_equal(wire_payload(&part), part.len - (i ? 0 : 8));
				at += part.len;
			}
			assert_int_equal(at, totals[t]);
			assert_int_equal(n > 1, totals[t] > sizes[s]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_of_rfc_1071),
		cmocka_unit_test(test_sum_of_any_length),
		cmocka_unit_test(test_ipv4_header),
		cmocka_unit_test(test_ipv4_fragments),
		cmocka_unit_test(test_ipv6_header),
		cmocka_unit_test(test_udp_checksum),
		cmocka_unit_test(test_udp_checksum_is_never_zero),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
