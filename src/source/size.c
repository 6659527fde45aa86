/* SPDX-License-Identifier: MIT */
#include "source/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/util.h"

#define IMIX "18:7,548:4,1472:1"

static int bad(const char *option, const char *text, struct err *err)
{
	return err_say(err, EINVAL,
		       "--%s %s: expected a size from 0 to %d, LOW..HIGH, NxSIZE, imix, or a list of up to %d SIZE:WEIGHT", option, text,
		       SIZE_MAX_PAYLOAD, SIZE_LIST);
}

/* "18", "3x1472" */
static bool one(const char *text, uint16_t *out)
{
	char left[24];
	const char *times = strchr(text, 'x');
	uint64_t n = 1, size;

	if (times) {
		if ((size_t)(times - text) >= sizeof(left))
			return false;
		memcpy(left, text, (size_t)(times - text));
		left[times - text] = '\0';
		if (num_count(left, &n) || n < 1 || n > SIZE_MAX_PAYLOAD)
			return false;
		text = times + 1;
	}
	if (num_bytes(text, &size) || size > SIZE_MAX_PAYLOAD || n * size > SIZE_MAX_PAYLOAD)
		return false;
	*out = (uint16_t)(n * size);
	return true;
}

/* "64:7" or "64", which weighs 1. */
static bool entry(char *text, uint16_t *size, double *weight)
{
	char *colon = strchr(text, ':');

	*weight = 1;
	if (colon)
		*colon = '\0';
	if (colon && (num_decimal(colon + 1, weight) || *weight <= 0))
		return false;
	return one(text, size);
}

static int parse_list(const char *option, const char *text, struct size_plan *out, struct err *err)
{
	char *copy = strdup(text), *rest = copy, *piece;
	double weight[SIZE_LIST], sum = 0;
	bool good = true;
	int rc;

	if (!copy)
		return err_sys(err, ENOMEM, "--%s %s", option, text);
	while (good && (piece = strsep(&rest, ","))) {
		good = out->n < SIZE_LIST && entry(piece, &out->size[out->n], &weight[out->n]);
		out->n += good;
	}
	free(copy);
	if (!good)
		return bad(option, text, err);
	rc = weights_init(&out->weights, weight, out->n);
	if (rc)
		return err_sys(err, rc, "--%s %s", option, text);
	out->low = out->high = out->size[0];
	for (unsigned i = 0; i < out->n; i++) {
		out->low = MIN(out->low, out->size[i]);
		out->high = MAX(out->high, out->size[i]);
		out->mean += weight[i] * out->size[i];
		sum += weight[i];
	}
	out->mean /= sum;
	return 0;
}

/* "18..1472" */
static int parse_range(const char *option, const char *text, const char *dots, struct size_plan *out, struct err *err)
{
	char left[24];
	size_t n = (size_t)(dots - text);

	if (n >= sizeof(left))
		return bad(option, text, err);
	memcpy(left, text, n);
	left[n] = '\0';
	if (!one(left, &out->low) || !one(dots + 2, &out->high) || out->low > out->high)
		return bad(option, text, err);
	out->mean = (out->low + out->high) / 2.;
	return 0;
}

int size_parse(const char *option, const char *text, struct size_plan *out, struct err *err)
{
	const char *dots = strstr(text, "..");

	*out = (struct size_plan){ 0 };
	if (!strcmp(text, "imix"))
		return parse_list(option, IMIX, out, err);
	if (dots)
		return parse_range(option, text, dots, out, err);
	if (strpbrk(text, ",:"))
		return parse_list(option, text, out, err);
	if (!one(text, &out->low))
		return bad(option, text, err);
	out->high = out->low;
	out->mean = out->low;
	return 0;
}

void size_free(struct size_plan *plan)
{
	weights_free(&plan->weights);
	*plan = (struct size_plan){ 0 };
}
