/* SPDX-License-Identifier: MIT */
/* DNS messages on the wire: names in and out of presentation form, limits, queries byte for byte, answers that are whole and that are not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/util.h"
#include "net/dns.h"

static void test_names(void **state)
{
	static const struct {
		const char *text, *wire;
		size_t size;
	} rows[] = {
		{ ".", "", 1 },
		{ "net", "\3net", 5 },
		{ "net.", "\3net", 5 },
		{ "www.Example.NET", "\3www\7Example\3NET", 17 },
		{ "www.example.net.", "\3www\7example\3net", 17 },
		{ "a\\.b.c", "\3a.b\1c", 7 },
		{ "a\\\\b", "\3a\\b", 5 },
		{ "\\000", "\1\0", 3 },
		{ "\\255\\046x", "\3\xff.x", 5 },
		{ "\\0469", "\2.9", 4 },
		{ "\\x\\@", "\2x@", 4 },
		{ "*._tcp", "\1*\4_tcp", 8 },
		{ "\xc3\xa4", "\2\xc3\xa4", 4 },
		{ "a\\.", "\2a.", 4 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dns_name name;

		if (dns_name_parse(rows[i].text, &name))
			fail_msg("%s", rows[i].text);
		assert_int_equal(name.size, rows[i].size);
		assert_memory_equal(name.data, rows[i].wire, rows[i].size);
	}
}

static void test_bad_names(void **state)
{
	static const char *const rows[] = { "", "..", ".a", "a..b", "a..", "a.b..c", "\\", "a\\", "\\1", "\\12", "\\256", "\\999", "\\1a2", "\\25x" };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dns_name name;

		if (dns_name_parse(rows[i], &name) != -EINVAL)
			fail_msg("'%s' was taken", rows[i]);
	}
}

/* labels of so many bytes each, the last one shorter; "last" behind the last one. */
static const char *long_name(const unsigned *labels, const char *last)
{
	static char text[600];
	char *p = text;

	for (; *labels; labels++) {
		memset(p, 'x', *labels);
		p += *labels;
		if (labels[1])
			*p++ = '.';
	}
	strcpy(p, last);
	return text;
}

static void test_limits(void **state)
{
	static const struct {
		unsigned labels[6];
		const char *last;
		size_t size; /* 0: too long */
	} rows[] = {
		{ { 63 }, "", 65 },
		{ { 64 }, "", 0 },
		{ { 62 }, "\\120", 65 },
		{ { 63 }, "\\120", 0 },
		{ { 63, 63, 63, 61 }, "", 255 },
		{ { 63, 63, 63, 61 }, ".", 255 },
		{ { 63, 63, 63, 62 }, "", 0 },
		{ { 63, 63, 63, 59 }, ".x", 255 },
		{ { 63, 63, 63, 60 }, ".x", 0 },
		{ { 63, 63, 63, 61 }, ".x", 0 },
		{ { 63, 63, 63, 63 }, "", 0 },
		{ { 63, 63, 63, 63, 63 }, "", 0 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = long_name(rows[i].labels, rows[i].last);
		struct dns_name name;

		if (dns_name_parse(text, &name) != (rows[i].size ? 0 : -EINVAL))
			fail_msg("row %u: %s", i, text);
		if (rows[i].size)
			assert_int_equal(name.size, rows[i].size);
	}
}

static void test_types(void **state)
{
	static const struct {
		const char *text;
		int type; /* -1: refused */
	} rows[] = {
		/* IANA, Domain Name System (DNS) Parameters */
		{ "A", 1 },	{ "a", 1 },	   { "NS", 2 },	     { "CNAME", 5 }, { "SOA", 6 },     { "PTR", 12 },	 { "MX", 15 },	{ "TXT", 16 },
		{ "AAAA", 28 }, { "SRV", 33 },	   { "NAPTR", 35 },  { "DS", 43 },   { "DNSKEY", 48 }, { "SVCB", 64 },	 { "HTTPS", 65 },
		{ "IXFR", 251 }, { "AXFR", 252 },  { "ANY", 255 },   { "CAA", 257 }, { "https", 65 },  { "TYPE65", 65 }, { "type0", 0 }, { "TYPE65535", 65535 },
		{ "", -1 },	{ "AA", -1 },	   { "TYPE", -1 },   { "TYPE65536", -1 }, { "TYPE-1", -1 }, { "TYPE1k", -1 }, { "TYPE1.0", -1 },
		{ "TYPE 1", -1 }, { "1", -1 },	   { "A ", -1 },     { "TYPE99999999999999999999", -1 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t type = 0;
		int ret = dns_type_parse(rows[i].text, &type);

		if (ret != (rows[i].type < 0 ? -EINVAL : 0) || (!ret && type != rows[i].type))
			fail_msg("'%s': %d, type %u", rows[i].text, ret, type);
	}
}

static void test_rcodes(void **state)
{
	(void)state;
	assert_string_equal(dns_rcode_name(0), "NOERROR");
	assert_string_equal(dns_rcode_name(2), "SERVFAIL");
	assert_string_equal(dns_rcode_name(3), "NXDOMAIN");
	assert_string_equal(dns_rcode_name(5), "REFUSED");
	assert_string_equal(dns_rcode_name(11), "RCODE11");
	assert_string_equal(dns_rcode_name(16), "BADVERS");
	assert_string_equal(dns_rcode_name(23), "BADCOOKIE");
	assert_string_equal(dns_rcode_name(24), "OTHER");
	assert_string_equal(dns_rcode_name(4095), "OTHER");
}

static struct dns_query query(const char *name, uint16_t type)
{
	struct dns_query q = { .type = type };

	assert_int_equal(dns_name_parse(name, &q.name), 0);
	return q;
}

/* Byte for byte, from RFC 1035 4.1, RFC 6891 6.1 and RFC 7873 4. */
static void test_queries(void **state)
{
	static const unsigned char plain[] = { 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 'x', 3, 'n', 'e', 't', 0, 0, 28, 0, 1 };
	static const unsigned char full[] = {
		0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 'x', 3, 'n', 'e', 't', 0, 1, 1, 0, 1, /* type 257 */
		0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 12, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	static const unsigned char cookie[DNS_COOKIE] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	unsigned char message[DNS_QUERY_MOST];
	struct dns_query q = query("x.net", 28);

	(void)state;
	memset(message, 0xee, sizeof(message));
	assert_int_equal(dns_query_write(message, &q), sizeof(plain));
	assert_memory_equal(message, plain, sizeof(plain));

	q = query("x.net", 257);
	q.recurse = q.dnssec = true;
	q.edns = 1232;
	q.cookie = cookie;
	assert_int_equal(dns_query_write(message, &q), sizeof(full));
	dns_id_put(message, 0xabcd);
	assert_memory_equal(message, full, sizeof(full));

	q.dnssec = false;
	q.cookie = NULL;
	assert_int_equal(dns_query_write(message, &q), sizeof(full) - 12);
	assert_int_equal(message[sizeof(plain) + 7], 0);  /* DO */
	assert_int_equal(message[sizeof(full) - 13], 0);  /* no options */
}

static void test_longest_query_fits(void **state)
{
	static const unsigned labels[] = { 63, 63, 63, 61, 0 };
	static const unsigned char cookie[DNS_COOKIE];
	unsigned char *message = malloc(DNS_QUERY_MOST); /* so that a sanitizer sees its end */
	struct dns_query q = query(long_name(labels, ""), 1);

	(void)state;
	assert_non_null(message);
	q.edns = 65535;
	q.cookie = cookie;
	assert_int_equal(dns_query_write(message, &q), DNS_QUERY_MOST);
	free(message);
}

static const unsigned char answer[] = {
	0x12, 0x34, 0x85, 0x83, 0, 1, 0, 1, 0, 0, 0, 0, /* QR AA RD RA, NXDOMAIN */
	3, 'w', 'w', 'w', 1, 'x', 0, 0, 1, 0, 1, /* 11 bytes of question */
	0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 198, 18, 0, 1,
};

static void test_answer(void **state)
{
	unsigned char message[sizeof(answer)];
	struct dns_answer a;

	(void)state;
	memcpy(message, answer, sizeof(answer));
	assert_true(dns_answer_read(message, sizeof(message), &a));
	assert_int_equal(a.id, 0x1234);
	assert_int_equal(a.rcode, 3);
	assert_false(a.truncated);
	assert_int_equal(a.question_size, 11);
	assert_ptr_equal(a.question, message + DNS_HEADER);
	message[2] |= 2;
	message[3] = 0;
	assert_true(dns_answer_read(message, sizeof(message), &a));
	assert_true(a.truncated);
	assert_int_equal(a.rcode, 0);
}

/* The upper bits of the RCODE, RFC 6891 6.1.3: only from an OPT record that is whole and the first record. */
static void test_upper_rcode(void **state)
{
	static const unsigned char opt[DNS_OPT] = { 0, 0, 41, 0x04, 0xd0, 1, 0, 0, 0, 0, 0 };
	static const struct {
		unsigned at;
		unsigned char value;
		unsigned rcode;
	} rows[] = {
		{ 3, 7, 23 },	     { 3, 0, 16 },	   { 7, 1, 7 } /* an answer before it */, { 9, 1, 7 }, { 11, 0, 7 }, { 11, 2, 23 },
		{ 23 + 0, 1, 7 } /* a name */, { 23 + 2, 42, 7 }, { 23 + 5, 0, 7 },  { 23 + 5, 2, DNS_RCODES - 1 }, { 23 + 5, 255, DNS_RCODES - 1 },
	};
	struct dns_answer a;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned char *message = malloc(23 + DNS_OPT);

		assert_non_null(message);
		memcpy(message, answer, 23);
		memcpy(message + 23, opt, DNS_OPT);
		message[3] = 7;
		message[7] = 0;
		message[11] = 1;
		message[rows[i].at] = rows[i].value;
		assert_true(dns_answer_read(message, 23 + DNS_OPT, &a));
		if (a.rcode != rows[i].rcode)
			fail_msg("row %u: %u", i, a.rcode);
		message = realloc(message, 23 + DNS_OPT - 1); /* cut: the lower bits only */
		assert_non_null(message);
		assert_true(dns_answer_read(message, 23 + DNS_OPT - 1, &a));
		assert_int_equal(a.rcode, message[3] & 15);
		free(message);
	}
}

/* Whole with the question, and not before; read from memory that ends there. */
static void test_cut_answers(void **state)
{
	struct dns_answer a;

	(void)state;
	for (size_t size = 0; size <= sizeof(answer); size++) {
		unsigned char *message = malloc(size + !size);

		assert_non_null(message);
		memcpy(message, answer, size);
		assert_int_equal(dns_answer_read(message, size, &a), size >= DNS_HEADER + 11);
		free(message);
	}
}

static void test_no_answers(void **state)
{
	static const struct {
		unsigned at;
		unsigned char value;
		const char *what;
	} rows[] = {
		{ 2, 0x05, "a query" },		   { 5, 0, "no question" },	  { 5, 2, "two questions" },	 { 4, 1, "257 questions" },
		{ 12, 0xc0, "a compressed name" }, { 12, 0x40, "a bad label" },	  { 16, 0x80, "a bad label" },	 { 12, 63, "a label beyond the end" },
	};
	struct dns_answer a;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned char message[sizeof(answer)];

		memcpy(message, answer, sizeof(answer));
		message[rows[i].at] = rows[i].value;
		if (dns_answer_read(message, sizeof(message), &a))
			fail_msg("%s was taken", rows[i].what);
	}
}

/* Of a name that is one byte too long for RFC 1035, in a message that has room for it. */
static void test_question_limits(void **state)
{
	unsigned char p[300] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		p[i * 64] = 63;
	p[192] = 61;
	assert_int_equal(dns_question_size(p, sizeof(p)), DNS_NAME_MOST + DNS_QUESTION_TAIL);
	assert_int_equal(dns_question_size(p, DNS_NAME_MOST + DNS_QUESTION_TAIL), DNS_NAME_MOST + DNS_QUESTION_TAIL);
	assert_int_equal(dns_question_size(p, DNS_NAME_MOST + DNS_QUESTION_TAIL - 1), 0);
	p[192] = 62;
	assert_int_equal(dns_question_size(p, sizeof(p)), 0);
	memset(p, 0, sizeof(p));
	assert_int_equal(dns_question_size(p, 5), 5);
	assert_int_equal(dns_question_size(p, 4), 0);
	assert_int_equal(dns_question_size(p, 0), 0);
}

/* Nothing is read beyond the end, and what is taken is within it: random bytes, most of them with lengths that are plausible. */
static void test_random_bytes(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 1, 0);
	for (unsigned round = 0; round < 200000; round++) {
		size_t size = random_below(&r, 80);
		unsigned char *message = malloc(size + !size);
		struct dns_answer a;

		assert_non_null(message);
		random_fill(&r, message, size);
		for (size_t i = DNS_HEADER; i < size; i++)
			message[i] &= round & 1 ? 0x0f : 0xff;
		if (size > 5) {
			message[4] = 0;
			message[5] = 1;
		}
		if (dns_answer_read(message, size, &a))
			assert_true(a.question == message + DNS_HEADER && a.question_size > DNS_QUESTION_TAIL &&
				    a.question_size <= size - DNS_HEADER);
		free(message);
	}
}

static void test_same_question(void **state)
{
	static const unsigned char a[] = "\3wWw\1x\0\0\1\0\1";
	static const struct {
		const char *other;
		bool same;
	} rows[] = {
		{ "\3WwW\1X\0\0\1\0\1", true },	 { "\3www\1x\0\0\1\0\1", true },  { "\3wwv\1x\0\0\1\0\1", false }, { "\3www\1x\0\0\2\0\1", false },
		{ "\3www\1x\0\0\1\0\3", false }, { "\2www\1x\0\0\1\0\1", false }, { "\3ww\x17\1x\0\0\1\0\1", false },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (dns_same_question(a, (const unsigned char *)rows[i].other, sizeof(a) - 1) != rows[i].same)
			fail_msg("row %u", i);
	/* Case is one of names only: type 0x4161 is not type 0x6161. */
	assert_false(dns_same_question((const unsigned char *)"\0Aa\0\1", (const unsigned char *)"\0aa\0\1", 5));
	/* Only ASCII letters have two cases: '[' is not '{', and bytes beyond 127 are themselves. */
	assert_false(dns_same_question((const unsigned char *)"\1[\0\0\1\0\1", (const unsigned char *)"\1{\0\0\1\0\1", 7));
	assert_false(dns_same_question((const unsigned char *)"\1\xc4\0\0\1\0\1", (const unsigned char *)"\1\xe4\0\0\1\0\1", 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_bad_names),	    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_types),	     cmocka_unit_test(test_rcodes),	    cmocka_unit_test(test_queries),
		cmocka_unit_test(test_longest_query_fits), cmocka_unit_test(test_answer),   cmocka_unit_test(test_cut_answers),
		cmocka_unit_test(test_no_answers),   cmocka_unit_test(test_question_limits), cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_same_question), cmocka_unit_test(test_upper_rcode),
	};

	return cmocka_run_group_tests_name("dns", tests, NULL, NULL);
}
