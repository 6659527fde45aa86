/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

#define FRACTION_DIGITS 18 /* 10^18 fits in 64 bits */

struct suffix {
	const char *text;
	uint64_t unit;
};

/* clang-format off */
static const struct suffix count_suffixes[] = {
	{ "", 1 }, { "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	{ "T", UINT64_C(1000000000000) }, { 0 },
};

static const struct suffix decimal_suffixes[] = { { "", 1000000 }, { 0 } };

static const struct suffix byte_suffixes[] = {
	{ "", 1 },           { "B", 1 },
	{ "k", 1 << 10 },    { "K", 1 << 10 },    { "KiB", 1 << 10 },
	{ "m", 1 << 20 },    { "M", 1 << 20 },    { "MiB", 1 << 20 },
	{ "g", 1 << 30 },    { "G", 1 << 30 },    { "GiB", 1 << 30 },
	{ "kB", 1000 },      { "KB", 1000 },      { "MB", 1000000 },     { "GB", 1000000000 },
	{ 0 },
};

/* From the largest on: num_duration_text takes the first that divides. */
static const struct suffix duration_suffixes[] = {
	{ "h", UINT64_C(3600000000000) }, { "m", UINT64_C(60000000000) }, { "s", 1000000000 },
	{ "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { "", 1000000000 }, { 0 },
};
/* clang-format on */

/* strcmp or strcasecmp. */
typedef int compare_fn(const char *, const char *);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* ".25" of unit, exact. *text stands behind the point and ends behind the last digit. -EINVAL when the result is
 * not whole. */
static int fraction(const char **text, uint64_t unit, uint64_t *out)
{
	uint64_t digits = 0, scale = 1, common;
	const char *end = *text;
	unsigned n;

	while (is_digit(*end))
		end++;
	n = end - *text;
	while (n && (*text)[n - 1] == '0')
		n--;
	if (end == *text || n > FRACTION_DIGITS)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		digits = digits * 10 + ((*text)[i] - '0');
		scale *= 10;
	}
	*text = end;
	/* digits * unit / scale, reduced first so that nothing overflows: digits < scale, hence the result < unit. */
	common = gcd(unit, scale);
	scale /= common;
	if (digits % scale)
		return -EINVAL;
	*out = digits / scale * (unit / common);
	return 0;
}

static const struct suffix *find_suffix(const struct suffix *list, const char *text,
					compare_fn *compare)
{
	for (; list->text; list++)
		if (compare(list->text, text) == 0)
			return list;
	return NULL;
}

static int parse(const char *text, const struct suffix *list, compare_fn *compare, uint64_t *out)
{
	const struct suffix *suffix;
	uint64_t whole = 0, part = 0;
	bool overflow = false;
	const char *p = text;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		overflow |= __builtin_mul_overflow(whole, 10, &whole);
		overflow |= __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole);
	}
	/* The suffix decides what the digits behind the point are worth. */
	suffix = find_suffix(list, *p == '.' ? p + 1 + strspn(p + 1, "0123456789") : p, compare);
	if (!suffix)
		return -EINVAL;
	if (*p == '.') {
		p++;
		if (fraction(&p, suffix->unit, &part))
			return -EINVAL;
	}
	overflow |= __builtin_mul_overflow(whole, suffix->unit, &whole);
	overflow |= __builtin_add_overflow(whole, part, &whole);
	if (overflow)
		return -ERANGE;
	*out = whole;
	return 0;
}

int num_count(const char *text, uint64_t *out)
{
	return parse(text, count_suffixes, strcasecmp, out);
}

int num_decimal(const char *text, double *out)
{
	uint64_t millionths;
	int rc = parse(text, decimal_suffixes, strcmp, &millionths);

	if (!rc)
		*out = (double)millionths / 1e6;
	return rc;
}

int num_bytes(const char *text, uint64_t *out)
{
	return parse(text, byte_suffixes, strcmp, out);
}

int num_duration(const char *text, uint64_t *out_ns)
{
	return parse(text, duration_suffixes, strcmp, out_ns);
}

char *num_duration_text(uint64_t ns, char *buf, size_t size)
{
	const struct suffix *s = duration_suffixes;

	while (ns % s->unit)
		s++;
	if (ns)
		snprintf(buf, size, "%llu%s", (unsigned long long)(ns / s->unit), s->text);
	else
		snprintf(buf, size, "0");
	return buf;
}

char *num_commas(uint64_t value, char *buf, size_t size)
{
	char text[sizeof("18,446,744,073,709,551,615")];
	char *p = text + sizeof(text);
	unsigned digits = 0;

	*--p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	snprintf(buf, size, "%s", p);
	return buf;
}

/* Three digits of 0 < value < 1000 rounded half up: decimals = how many of them stand behind the point. */
static unsigned three_digits(double value, unsigned *decimals)
{
	double scaled = value;

	for (*decimals = 0; scaled < 99.95 && *decimals < 9; (*decimals)++)
		scaled *= 10;
	return (unsigned)(scaled + 0.5);
}

/* Integer digits and a '.' of our own: printf's point follows the locale. */
char *num_si(double value, char *buf, size_t size)
{
	static const char suffixes[] = { 0, 'k', 'M', 'G', 'T' };
	const char *sign = value < 0 ? "-" : "";
	double rest = value < 0 ? -value : value;
	unsigned decimals, digits, scale = 1, i = 0;
	char suffix[2] = "", point[16] = "";

	if (!(rest <= 1e300)) { /* NaN, infinity */
		snprintf(buf, size, "-");
		return buf;
	}
	while (rest >= 999.5 && i < ARRAY_SIZE(suffixes) - 1) {
		rest /= 1000;
		suffix[0] = suffixes[++i];
	}
	/* Beyond T, or a small whole number: as it is. */
	if (rest >= 999.5 || (i == 0 && rest == (unsigned)rest)) {
		snprintf(buf, size, "%s%.0f%s", sign, rest, suffix);
		return buf;
	}
	digits = three_digits(rest, &decimals);
	for (unsigned d = 0; d < decimals; d++)
		scale *= 10;
	if (decimals)
		snprintf(point, sizeof(point), ".%0*u", (int)decimals, digits % scale);
	snprintf(buf, size, "%s%u%s%s", sign, digits / scale, point, suffix);
	return buf;
}
