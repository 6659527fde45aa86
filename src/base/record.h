/* SPDX-License-Identifier: MIT */
/*
 * record - JSON lines for people who parse them: a thin layer over jansson that cannot write NaN, lose a record to
 * a stray byte, or print a comma for a decimal point.
 *
 * A record is a json_t object made with json_object(); members stay in the order they were added. Main/control
 * thread. The record_add functions return 0 or -ENOMEM. `object` may be NULL (its json_object() failed): -ENOMEM
 * too, so that only the last step, record_line, needs checking where a missing member is acceptable.
 */
#ifndef BASE_RECORD_H
#define BASE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Exact up to INT64_MAX, which is jansson's largest integer; above that a floating point number near it (no
 * counter gets there: 2^63 ns are 292 years). Readers that use doubles (JavaScript, jq) lose digits above 2^53. */
int record_add_uint(json_t *object, const char *name, uint64_t value);
int record_add_int(json_t *object, const char *name, int64_t value);
int record_add_bool(json_t *object, const char *name, bool value);

/* 15 significant digits. NaN and infinity (no packet, so no ns per packet) become null. */
int record_add_number(json_t *object, const char *name, double value);

/* NULL becomes null; each byte that is not UTF-8 becomes U+FFFD. */
int record_add_text(json_t *object, const char *name, const char *value);

int record_add_array_uint(json_t *object, const char *name, const uint64_t *value, unsigned n);
int record_add_array_text(json_t *object, const char *name, const char *const *value, unsigned n);

/* Adds an object or array and takes the reference, also on failure. */
int record_add(json_t *object, const char *name, json_t *value);

/* Prints the object as one line, without blanks, and flushes. 0 or -errno (-ENOMEM for NULL). Keeps the reference. */
int record_line(FILE *out, const json_t *object);

#endif
