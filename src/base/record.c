/* SPDX-License-Identifier: MIT */
#include "base/record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int record_add(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) ? -ENOMEM : 0;
}

static json_t *from_uint(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

int record_add_uint(json_t *object, const char *name, uint64_t value)
{
	return record_add(object, name, from_uint(value));
}

int record_add_int(json_t *object, const char *name, int64_t value)
{
	return record_add(object, name, json_integer(value));
}

int record_add_bool(json_t *object, const char *name, bool value)
{
	return record_add(object, name, json_boolean(value));
}

int record_add_number(json_t *object, const char *name, double value)
{
	return record_add(object, name, isfinite(value) ? json_real(value) : json_null());
}

/* Length of the character at text, 0 when it is not UTF-8. jansson is the judge: what it accepts here it will also
 * print. */
static size_t utf8_length(const char *text)
{
	for (size_t n = 1; n <= strnlen(text, 4); n++) {
		json_t *one = json_stringn(text, n);

		json_decref(one);
		if (one)
			return n;
	}
	return 0;
}

static json_t *repaired(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	char *clean = malloc(strlen(text) * strlen(replacement) + 1), *end = clean;
	json_t *value;

	if (!clean)
		return NULL;
	while (*text) {
		size_t n = utf8_length(text);

		end = mempcpy(end, n ? text : replacement, n ? n : strlen(replacement));
		text += n ? n : 1;
	}
	value = json_stringn(clean, (size_t)(end - clean));
	free(clean);
	return value;
}

static json_t *from_text(const char *text)
{
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	return value ? value : repaired(text);
}

int record_add_text(json_t *object, const char *name, const char *value)
{
	return record_add(object, name, from_text(value));
}

int record_add_array_uint(json_t *object, const char *name, const uint64_t *value, unsigned n)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < n; i++)
		if (json_array_append_new(array, from_uint(value[i]))) {
			json_decref(array);
			return -ENOMEM;
		}
	return record_add(object, name, array);
}

int record_add_array_text(json_t *object, const char *name, const char *const *value, unsigned n)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < n; i++)
		if (json_array_append_new(array, from_text(value[i]))) {
			json_decref(array);
			return -ENOMEM;
		}
	return record_add(object, name, array);
}

int record_line(FILE *out, const json_t *object)
{
	/* 15 digits survive the way through a double: 0.1 stays 0.1. jansson (2.13 and later) writes '.' in every
	 * locale. */
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
	int rc = 0;

	if (!text)
		return -ENOMEM;
	errno = 0;
	if (fputs(text, out) < 0 || fputc('\n', out) < 0 || fflush(out))
		rc = errno ? -errno : -EIO;
	free(text);
	return rc;
}
