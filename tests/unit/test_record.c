/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/record.h"
#include "comma_locale.h"
#include "tap.h"

/* Prints the record, compares, and gives it back. */
static void expect(json_t *object, const char *line)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(record_line(out, object), 0);
	assert_string_equal(text, line); /* before fclose: record_line flushed */
	fclose(out);
	free(text);
	json_decref(object);
}

static void members_keep_their_order(void **state)
{
	json_t *object = json_object(), *inner = json_object();

	(void)state;
	assert_int_equal(record_add_text(object, "type", "sum"), 0);
	assert_int_equal(record_add_uint(object, "z", 1), 0);
	assert_int_equal(record_add_int(object, "a", -2), 0);
	assert_int_equal(record_add_bool(object, "yes", true), 0);
	assert_int_equal(record_add_bool(object, "no", false), 0);
	assert_int_equal(record_add_uint(inner, "m", 3), 0);
	assert_int_equal(record_add(object, "inner", inner), 0);
	expect(object,
	       "{\"type\":\"sum\",\"z\":1,\"a\":-2,\"yes\":true,\"no\":false,\"inner\":{\"m\":3}}\n");
}

static void R115_nan_and_infinity_are_null(void **state)
{
	json_t *object = json_object();

	(void)state;
	assert_int_equal(record_add_number(object, "a", NAN), 0);
	assert_int_equal(record_add_number(object, "b", INFINITY), 0);
	assert_int_equal(record_add_number(object, "c", -INFINITY), 0);
	assert_int_equal(record_add_number(object, "d", 0.0), 0);
	expect(object, "{\"a\":null,\"b\":null,\"c\":null,\"d\":0.0}\n");
}

static void numbers(void **state)
{
	json_t *object = json_object();

	(void)state;
	record_add_number(object, "tenth", 0.1);
	record_add_number(object, "pps", 1762923.125);
	record_add_number(object, "tiny", 1e-9);
	record_add_uint(object, "max", INT64_MAX);
	record_add_uint(object, "beyond", UINT64_MAX);
	expect(object,
	       "{\"tenth\":0.1,\"pps\":1762923.125,\"tiny\":1e-9,\"max\":9223372036854775807,"
	       "\"beyond\":1.84467440737096e19}\n");
}

static void R115_decimal_comma_changes_nothing(void **state)
{
	json_t *object;

	(void)state;
	comma_locale();
	object = json_object();
	record_add_number(object, "half", 0.5);
	record_add_number(object, "big", 1234567.5);
	record_add_uint(object, "count", 1234567);
	expect(object, "{\"half\":0.5,\"big\":1234567.5,\"count\":1234567}\n");
	setlocale(LC_ALL, "C");
}

static void arrays(void **state)
{
	static const uint64_t value[] = { 3, 0, UINT64_C(1) << 40 };
	static const char *const text[] = { "a", NULL, "\xff" };
	json_t *object = json_object();

	(void)state;
	assert_int_equal(record_add_array_uint(object, "n", value, 3), 0);
	assert_int_equal(record_add_array_uint(object, "none", NULL, 0), 0);
	assert_int_equal(record_add_array_text(object, "t", text, 3), 0);
	expect(object,
	       "{\"n\":[3,0,1099511627776],\"none\":[],\"t\":[\"a\",null,\"\xef\xbf\xbd\"]}\n");
}

/* An interface name or an argument with any bytes must not cost the whole record. */
static void text_that_is_not_utf8_is_repaired(void **state)
{
	json_t *object = json_object();

	(void)state;
	assert_int_equal(record_add_text(object, "null", NULL), 0);
	assert_int_equal(record_add_text(object, "empty", ""), 0);
	assert_int_equal(
		record_add_text(object, "good", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
		0);
	assert_int_equal(record_add_text(object, "latin1", "gr\xfc\xdf"), 0);
	assert_int_equal(record_add_text(object, "cut", "x\xe2\x82"), 0);
	assert_int_equal(
		record_add_text(object, "mixed", "\xff\xe2\x82\xac\xc0\xaf\xf0\x9f\x98\x80\x80"),
		0);
	assert_int_equal(record_add_text(object, "surrogate", "\xed\xa0\x80"), 0);
	assert_int_equal(record_add_text(object, "quote", "a\"b\\c\nd\x01"), 0);
#define BAD "\xef\xbf\xbd"
	expect(object,
	       "{\"null\":null,\"empty\":\"\",\"good\":\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\","
	       "\"latin1\":\"gr" BAD BAD "\",\"cut\":\"x" BAD BAD "\","
	       "\"mixed\":\"" BAD "\xe2\x82\xac" BAD BAD "\xf0\x9f\x98\x80" BAD "\","
	       "\"surrogate\":\"" BAD BAD BAD "\",\"quote\":\"a\\\"b\\\\c\\nd\\u0001\"}\n");
}

static void no_object_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(record_add_uint(NULL, "x", 1), -ENOMEM);
	json_t *object = json_object();

	assert_int_equal(record_add(object, "x", NULL), -ENOMEM);
	json_decref(object);
	assert_int_equal(record_line(stdout, NULL), -ENOMEM);
}

static void write_errors_are_reported(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	json_t *object = json_object();

	(void)state;
	if (!out)
		TAP_SKIP("no /dev/full");
	assert_int_equal(record_line(out, object), -ENOSPC);
	fclose(out);
	json_decref(object);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_keep_their_order),
		cmocka_unit_test(R115_nan_and_infinity_are_null),
		cmocka_unit_test(numbers),
		cmocka_unit_test(R115_decimal_comma_changes_nothing),
		cmocka_unit_test(arrays),
		cmocka_unit_test(text_that_is_not_utf8_is_repaired),
		cmocka_unit_test(no_object_is_an_error),
		cmocka_unit_test(write_errors_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
