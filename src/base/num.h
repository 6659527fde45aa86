/* SPDX-License-Identifier: MIT */
/*
 * num - numbers as people write them: "64k", "1.2M", "250ms"; and back.
 *
 * Decimal points are '.' whatever the locale, with a digit on both sides; no blanks, no sign. The result must be
 * whole ("0.5k" is 500, "0.0001k" is EINVAL) and is exact: nothing goes through floating point. All num_X(text,
 * out) return 0 or -errno (EINVAL syntax, ERANGE) and write no sentence: the caller knows the option's name.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/* Count or rate: "100", "500k", "1.2M", "2G", "1T" (decimal, case of the suffix ignored). */
int num_count(const char *text, uint64_t *out);

/* Decimal number with up to six digits behind the point: "1.1". */
int num_decimal(const char *text, double *out);

/* Bytes: "4096", "64k"/"64K"/"64KiB" = 65536, "1M", "1G": powers of 1024; "kB", "MB", "GB" are powers of 1000. */
int num_bytes(const char *text, uint64_t *out);

/* Duration in ns: "10" and "10s" seconds, "250ms", "50us", "100ns", "2m" minutes, "1h"; fractions allowed. */
int num_duration(const char *text, uint64_t *out_ns);

/* The shortest text that num_duration reads back as ns: 100000000 -> "100ms". Returns buf. */
char *num_duration_text(uint64_t ns, char *buf, size_t size);

/* Thousands commas: 1234567 -> "1,234,567". Returns buf. */
char *num_commas(uint64_t value, char *buf, size_t size);

/* Three significant digits with k/M/G/T: 1762923 -> "1.76M", 5 -> "5", 0.5 -> "0.500"; "-" for NaN and infinity.
 * Returns buf. */
char *num_si(double value, char *buf, size_t size);

#endif
