/* SPDX-License-Identifier: MIT */
/* DNS queries from the command line and from a file: names, types in their proportions, places of errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "source/questions.h"

static const struct questions_conf plain = { .query = { .recurse = true } }, prefixed = { .random = true, .query = { .edns = 1232 } };

static unsigned type_of(const struct messages *m, unsigned k)
{
	const unsigned char *q = messages_data(m, k) + DNS_HEADER;
	size_t size = dns_question_size(q, messages_size(m, k) - DNS_HEADER);

	assert_true(size > 0);
	return q[size - 4] * 256u + q[size - 3];
}

static void test_types_in_proportion(void **state)
{
	struct messages m = { 0 };
	unsigned four = 0;

	(void)state;
	assert_int_equal(questions_of_name("example.net", "A:8,AAAA:2", &plain, &m, NULL), 0);
	assert_int_equal(m.n, 10);
	for (unsigned k = 0; k < 10; k++)
		four += type_of(&m, k) == 1;
	assert_int_equal(four, 8);
	/* Spread out: the two are not next to each other. */
	for (unsigned k = 0; k < 10; k++)
		assert_false(type_of(&m, k) == 28 && type_of(&m, (k + 1) % 10) == 28);
	messages_free(&m);
	assert_int_equal(questions_of_name("example.net", "TYPE257", &plain, &m, NULL), 0);
	assert_true(m.n == 1 && type_of(&m, 0) == 257);
	messages_free(&m);
}

static void test_prefix(void **state)
{
	struct messages m = { 0 };

	(void)state;
	assert_int_equal(questions_of_name("a.b", "A", &prefixed, &m, NULL), 0);
	assert_memory_equal(messages_data(&m, 0) + DNS_HEADER, "\014" "000000000000" "\1a\1b", 18);
	messages_free(&m);
}

static void refuse(const char *name, const char *types, const struct questions_conf *conf, const char *says)
{
	struct messages m = { 0 };
	struct err err = ERR_INIT;

	assert_int_equal(questions_of_name(name, types, conf, &m, &err), -EINVAL);
	assert_non_null(strstr(err.text, says));
	messages_free(&m);
}

static void test_refused(void **state)
{
	char longest[254];

	(void)state;
	refuse("a..b", "A", &plain, "--dns 'a..b'");
	refuse("a", "", &plain, "--dns-type");
	refuse("a", "A,", &plain, "--dns-type");
	refuse("a", "A:0", &plain, "--dns-type");
	refuse("a", "A:x", &plain, "--dns-type");
	refuse("a", "B", &plain, "--dns-type");
	refuse("a", "A:9999,AAAA:2", &plain, "--dns-type");
	refuse("a", "A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A", &plain, "--dns-type");
	memset(longest, 'x', sizeof(longest));
	longest[63] = longest[127] = longest[191] = '.';
	longest[253 - QUESTIONS_PREFIX] = '\0';
	refuse(longest, "A", &prefixed, "random label");
}

/* Writes a file, reads it. */
static int of_file(const char *text, struct messages *m, struct err *err)
{
	char path[] = "questions-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ret = questions_of_file(path, &plain, m, err);
	unlink(path);
	return ret;
}

static void test_files(void **state)
{
	struct messages m = { 0 };

	(void)state;
	assert_int_equal(of_file("# comment\n; another\n\n  \t\nwww.example.net A\r\n\texample.net\tMX  ignored\nx TYPE65", &m, NULL), 0);
	assert_int_equal(m.n, 3);
	assert_true(type_of(&m, 0) == 1 && type_of(&m, 1) == 15 && type_of(&m, 2) == 65);
	messages_free(&m);
	assert_int_equal(of_file("only.a.name\n", &m, NULL), 0);
	assert_true(m.n == 1 && type_of(&m, 0) == 1);
	messages_free(&m);
}

static void test_bad_files(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = { { "a A\nb B\n", "line 2" }, { "a..b A\n", "line 1" }, { "\n\n\\999 A\n", "line 3" }, { "", "no question" }, { "# nothing\n", "no question" } };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct messages m = { 0 };
		struct err err = ERR_INIT;

		assert_int_equal(of_file(cases[i].text, &m, &err), -EINVAL);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, "questions-"))
			fail_msg("%s", err.text);
		messages_free(&m);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct messages m = { 0 };
		struct err err = ERR_INIT;

		assert_true(questions_of_file(i ? "/nonexistent" : "/", &plain, &m, &err) < 0);
		assert_non_null(strstr(err.text, i ? "/nonexistent" : "--dns-file /"));
		messages_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_in_proportion), cmocka_unit_test(test_prefix),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_files),		    cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
