/* SPDX-License-Identifier: MIT */
/* --bad: what is refused, which datagram is what, and the packets themselves. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/flows.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		const char *wrong; /* part of the sentence; NULL: taken */
	} rows[] = {
		{ "checksum", NULL },
		{ "zero-checksum:4294967295", NULL },
		{ "length-short:10,length-long:7,truncated:6,port-zero:5,closed-port:4,checksum:3,zero-checksum:2", NULL },
		{ "truncated:4,checksum:2", NULL },
		{ "checksum:1k", NULL },
		{ "", "expected KIND" },
		{ "checksum,", "expected KIND" },
		{ ",checksum", "expected KIND" },
		{ "checksums", "--bad checksums" },
		{ "checksum:", "expected KIND" },
		{ "checksum:0", "expected KIND" },
		{ "checksum:-1", "expected KIND" },
		{ "checksum:4294967296", "expected KIND" },
		{ "checksum:x", "expected KIND" },
		{ "checksum:2:3", "expected KIND" },
		{ "zero-checksum-zero-checksum-zero-checksum", "expected KIND" },
		{ "checksum:2,checksum:3", "twice" },
		{ "checksum:2,truncated:4", "would never come" },
		{ "checksum,truncated:4", "would never come" },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = ERR_INIT;
		struct bad_plan plan;
		int rc = bad_parse(rows[i].text, &plan, &err);

		assert_int_equal(rc, rows[i].wrong ? -EINVAL : 0);
		if (rows[i].wrong)
			assert_non_null(strstr(err.text, rows[i].wrong));
	}
}

static void test_due(void **state)
{
	struct bad_plan plan;
	unsigned seen[BAD_KINDS + 1] = { 0 };

	(void)state;
	assert_int_equal(bad_parse("truncated:6,checksum:2,port-zero:3", &plan, NULL), 0);
	for (unsigned i = 0; i < 600; i++)
		seen[bad_due(&plan, i)]++;
	assert_int_equal(seen[BAD_TRUNCATED], 100);
	assert_int_equal(seen[BAD_CHECKSUM], 200);  /* of 300, 100 were the first's */
	assert_int_equal(seen[BAD_PORT_ZERO], 100); /* of 200 */
	assert_int_equal(seen[BAD_NONE], 200);
	assert_int_equal(bad_due(&plan, 5), BAD_TRUNCATED);
	assert_int_equal(bad_due(&plan, 0), BAD_NONE);
	assert_int_equal(bad_due(&plan, 1), BAD_CHECKSUM);
	assert_int_equal(bad_due(&plan, 2), BAD_PORT_ZERO);
}

struct made {
	struct raw raw;
	struct bad_plan bad;
	struct fragments_conf fragments;
	struct flow flow;
	struct addr to;
	struct raw_datagram d;
};

static void make(struct made *m, const char *from, const char *to, enum bad_kind bad)
{
	static const unsigned char payload[] = "payload of some length";

	*m = (struct made){ .bad.closed_port = 9 };
	m->raw = (struct raw){ .ip.ttl = 64, .bad = &m->bad, .fragments = &m->fragments, .sources = 1, .sharing = 1 };
	assert_int_equal(addr_parse(from, AF_UNSPEC, 0, &m->flow.sock.local, NULL), 0);
	assert_int_equal(addr_parse(to, AF_UNSPEC, 0, &m->to, NULL), 0);
	raw_make(&m->d, &m->raw, &m->flow, 0, &m->to, payload, sizeof(payload), bad);
	/* What the checksum would be for the ports as they are. */
	m->flow.sequence = wire_udp_check(&m->d.ip, m->d.src, m->d.dst, payload, sizeof(payload));
	m->flow.ids = sizeof(payload) + WIRE_UDP;
}

static void test_kinds(void **state)
{
	static const char *const pairs[][2] = { { "198.18.0.1:1000", "198.18.0.2:2000" }, { "[2001:db8::1]:1000", "[2001:db8::2]:2000" } };

	(void)state;
	for (unsigned f = 0; f < ARRAY_SIZE(pairs); f++)
		for (enum bad_kind kind = 0; kind <= BAD_NONE; kind++) {
			uint16_t good, length;
			struct made m;

			make(&m, pairs[f][0], pairs[f][1], kind);
			good = (uint16_t)m.flow.sequence;
			length = (uint16_t)m.flow.ids;
			assert_int_equal(m.d.src, kind == BAD_PORT_ZERO ? 0 : 1000);
			assert_int_equal(m.d.dst, kind == BAD_CLOSED_PORT ? 9 : 2000);
			if (kind == BAD_CHECKSUM)
				assert_true(m.d.check != good && m.d.check);
			else
				assert_int_equal(m.d.check, kind == BAD_ZERO_CHECKSUM ? 0 : good);
			if (kind == BAD_LENGTH_SHORT)
				length = 7;
			assert_int_equal(m.d.len, length + (kind == BAD_LENGTH_LONG));
		}
}

/* Every checksum that there is: the wrong one is another, and none stands for "no checksum". */
static void test_wrong_checksum_is_wrong(void **state)
{
	struct made m;

	(void)state;
	make(&m, "198.18.0.1:1", "198.18.0.2:2", BAD_NONE);
	for (unsigned x = 0; x < 65536; x++) {
		const unsigned char payload[2] = { (unsigned char)(x >> 8), (unsigned char)x };
		struct raw_datagram good, wrong;

		raw_make(&good, &m.raw, &m.flow, 0, &m.to, payload, 2, BAD_NONE);
		raw_make(&wrong, &m.raw, &m.flow, 0, &m.to, payload, 2, BAD_CHECKSUM);
		assert_true(wrong.check && wrong.check % 0xffff != good.check % 0xffff);
	}
}

/* One id per datagram, shared out among the flows of one source address; IPv4 never uses 0. */
static void test_ids(void **state)
{
	enum { IDS = 65535 };
	static const struct wire_part whole = { .len = 8 };
	unsigned char *seen = calloc(IDS + 1, 1), head[WIRE_IP_MOST + WIRE_UDP];
	struct made m;

	(void)state;
	assert_non_null(seen);
	make(&m, "198.18.0.1:1000", "198.18.0.2:2000", BAD_NONE);
	m.raw.seed = UINT64_C(0xfedcba9876543210);
	m.raw.sources = 2; /* flows 1, 3 and 5 have this address, number 0, 1, 2 among them */
	m.raw.sharing = 3;
	for (unsigned n = 0; n < IDS; n++) {
		unsigned id;

		m.flow.stream = (uint16_t)(1 + 2 * (n % 3));
		m.flow.ids = n / 3 > 7 ? n / 3 - 7 : 0;
		raw_make(&m.d, &m.raw, &m.flow, n / 3 - (unsigned)m.flow.ids, &m.to, "", 0, BAD_NONE);
		assert_int_equal(raw_head(head, &m.d, &whole), 28);
		id = (unsigned)head[4] << 8 | head[5];
		assert_in_range(id, 1, IDS);
		assert_int_equal(seen[id]++, 0);
	}
	free(seen);
}

static void test_head_of_parts(void **state)
{
	static const struct wire_part cut = { .len = BAD_TRUNCATED_TO }, first = { .len = 24, .more = true }, second = { .offset = 24, .len = 8 };
	unsigned char head[WIRE_IP_MOST + WIRE_UDP];
	struct made m;

	(void)state;
	make(&m, "[2001:db8::1]:1000", "[2001:db8::2]:2000", BAD_NONE);
	assert_int_equal(raw_head(head, &m.d, &cut), 40 + 4);
	assert_int_equal(raw_head(head, &m.d, &first), 48 + 8);
	assert_int_equal(head[48] << 8 | head[49], 1000);
	assert_int_equal(raw_head(head, &m.d, &second), 48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	 cmocka_unit_test(test_due), cmocka_unit_test(test_kinds), cmocka_unit_test(test_wrong_checksum_is_wrong),
		cmocka_unit_test(test_ids),	 cmocka_unit_test(test_head_of_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
