/* SPDX-License-Identifier: MIT */
/* One value of one option: from text into the program's struct, and back. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/num.h"
#include "base/opt_table.h"

static void *field(const struct opt_set *set, const struct opt *option)
{
	return (char *)set->conf + option->offset;
}

/* What an argument of this type looks like, for "not a number" sentences. */
static const char *example(enum opt_type type)
{
	switch (type) {
	case OPT_BYTES:
		return "a size such as 4096, 64k or 1M";
	case OPT_DURATION:
		return "a time such as 10s, 250ms or 50us";
	case OPT_COUNT:
		return "a number such as 1000, 500k or 1.2M";
	default:
		return "a number";
	}
}

/* A number as the option would take it. */
static char *number_text(enum opt_type type, long long value, char *buf, size_t size)
{
	if (type == OPT_DURATION)
		return num_duration_text((uint64_t)value, buf, size);
	if (type == OPT_COUNT || type == OPT_BYTES)
		snprintf(buf, size, "%llu", (unsigned long long)value);
	else
		snprintf(buf, size, "%lld", value);
	return buf;
}

static int bad_range(const struct opt_use *use, struct err *err)
{
	const struct opt *option = use->option;
	char low[32], high[32];

	number_text(option->type, option->min, low, sizeof(low));
	number_text(option->type, option->max, high, sizeof(high));
	if (option->max)
		return err_say(err, EINVAL, "%s '%s': must be %s to %s", use->who, use->value, low,
			       high);
	if (option->min)
		return err_say(err, EINVAL, "%s '%s': must be at least %s", use->who, use->value,
			       low);
	return err_say(err, EINVAL, "%s '%s': is too large", use->who, use->value);
}

static int apply_unsigned(const struct opt_use *use, uint64_t *out, struct err *err)
{
	const struct opt *option = use->option;
	uint64_t value = 0;
	int rc;

	if (option->type == OPT_BYTES)
		rc = num_bytes(use->value, &value);
	else if (option->type == OPT_DURATION)
		rc = num_duration(use->value, &value);
	else
		rc = num_count(use->value, &value);
	if (rc == -EINVAL)
		return err_say(err, EINVAL, "%s '%s': expected %s", use->who, use->value,
			       example(option->type));
	if (rc || (option->min > 0 && value < (uint64_t)option->min) ||
	    (option->max && value > (uint64_t)option->max))
		return bad_range(use, err);
	*out = value;
	return 0;
}

/* OPT_INT, and OPT_LEVEL with a value. */
static int apply_int(const struct opt_use *use, int *out, struct err *err)
{
	const struct opt *option = use->option;
	long long min = MAX(option->min, INT_MIN),
		  max = option->max ? MIN(option->max, INT_MAX) : INT_MAX, value;
	bool minus = use->value[0] == '-';
	uint64_t magnitude = 0;
	int rc = num_count(use->value + minus, &magnitude);

	if (rc == -EINVAL)
		return err_say(err, EINVAL, "%s '%s': expected %s", use->who, use->value,
			       example(option->type));
	if (rc || magnitude > (uint64_t)INT_MAX + 1)
		return bad_range(use, err);
	value = minus ? -(long long)magnitude : (long long)magnitude;
	if (value < min || value > max)
		return bad_range(use, err);
	*out = (int)value;
	return 0;
}

static int apply_choice(const struct opt_use *use, int *out, struct err *err)
{
	const char *start;
	size_t n;

	for (int i = 0; (n = opt_choice(use->option->choices, i, &start)); i++)
		if (strlen(use->value) == n && memcmp(use->value, start, n) == 0) {
			*out = i;
			return 0;
		}
	return err_say(err, EINVAL, "%s '%s': must be one of %s", use->who, use->value,
		       use->option->choices);
}

static int apply_flag(const struct opt_use *use, bool *out, struct err *err)
{
	bool yes = !use->value || strcmp(use->value, "yes") == 0;

	if (!yes && strcmp(use->value, "no") != 0)
		return err_say(err, EINVAL, "%s '%s': takes no value, or yes or no", use->who,
			       use->value);
	*out = yes != use->negated;
	return 0;
}

static int apply_level(const struct opt_use *use, int *out, struct err *err)
{
	if (use->value)
		return apply_int(use, out, err);
	if (!use->option->max || *out < use->option->max)
		(*out)++;
	return 0;
}

static int append(struct opt_set *set, struct opt_list *list, const char *text, struct err *err)
{
	return opt_append(set, list, text) ? err_sys(err, ENOMEM, "options") : 0;
}

/* Writes without asking who wrote before. use->option is no alias; use->value is there where the type needs one. */
static int write_value(struct opt_set *set, const struct opt_use *use, struct err *err)
{
	const struct opt *option = use->option;
	void *target = field(set, option);

	switch (option->type) {
	case OPT_FLAG:
		return apply_flag(use, target, err);
	case OPT_INT:
		return apply_int(use, target, err);
	case OPT_COUNT:
	case OPT_BYTES:
	case OPT_DURATION:
		return apply_unsigned(use, target, err);
	case OPT_STRING:
		*(const char **)target = use->value;
		return 0;
	case OPT_LIST:
		return append(set, target, use->value, err);
	case OPT_CHOICE:
		return apply_choice(use, target, err);
	case OPT_SET:
		if (use->value && strcmp(use->value, "yes") != 0)
			return err_say(err, EINVAL, "%s '%s': takes no value", use->who,
				       use->value);
		*(int *)target = (int)option->min;
		return 0;
	case OPT_ADD:
		return append(set, target, option->choices, err);
	case OPT_LEVEL:
		return apply_level(use, target, err);
	case OPT_ALIAS:
	case OPT_HELP:
	case OPT_CONFIG:
		break; /* have no field: dealt with by who read them */
	}
	return 0;
}

/* The field as if the option had never been written. */
static int write_default(struct opt_set *set, const struct opt *option, struct err *err)
{
	struct opt_use use = { .option = option, .value = option->def };

	switch (option->type) {
	case OPT_FLAG:
		*(bool *)field(set, option) = false;
		break;
	case OPT_INT:
	case OPT_CHOICE:
	case OPT_SET:
	case OPT_LEVEL:
		*(int *)field(set, option) = 0;
		break;
	case OPT_COUNT:
	case OPT_BYTES:
	case OPT_DURATION:
		*(uint64_t *)field(set, option) = 0;
		break;
	case OPT_STRING:
		*(const char **)field(set, option) = NULL;
		break;
	case OPT_LIST:
	case OPT_ADD:
		*(struct opt_list *)field(set, option) = (struct opt_list){ 0 };
		break;
	case OPT_ALIAS:
	case OPT_HELP:
	case OPT_CONFIG:
		return 0;
	}
	if (!option->def)
		return 0;
	snprintf(use.who, sizeof(use.who), "default of --%s", option->name);
	return write_value(set, &use, err);
}

int opt_set_defaults(struct opt_set *set, struct err *err)
{
	int rc = 0;

	for (const struct opt *o = set->table; o->name && !rc; o++)
		if (opt_owner(set, o) == o) /* a shortcut's field gets the default of its owner */
			rc = write_default(set, o, err);
	return rc;
}

int opt_apply(struct opt_set *set, const struct opt_use *use, struct err *err)
{
	const struct opt *option = opt_resolve(set, use->option), *owner = opt_owner(set, option);
	unsigned char *given = &set->given[owner - set->table];
	struct opt_use actual = *use;
	int rc = 0;

	if (*given > use->source)
		return 0;
	actual.option = option;
	if (!actual.value && option->optional && option->type != OPT_LEVEL)
		actual.value = option->missing;
	/* What accumulates begins anew when a higher source speaks: the command line's list replaces the file's. */
	if (*given < use->source && (owner->type == OPT_LIST || option->type == OPT_ADD))
		*(struct opt_list *)field(set, owner) = (struct opt_list){ 0 };
	if (*given < use->source && owner->type == OPT_LEVEL)
		rc = write_default(set, owner, err);
	if (!rc)
		rc = write_value(set, &actual, err);
	*given = use->source;
	set->given[option - set->table] = use->source;
	return rc;
}

static char *list_text(const struct opt_list *list, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < list->n && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", i ? "," : "", list->text[i]);
	return buf;
}

static bool is_number(enum opt_type type)
{
	return type == OPT_INT || type == OPT_COUNT || type == OPT_BYTES || type == OPT_DURATION;
}

char *opt_text(const struct opt_set *set, const struct opt *option, char *buf, size_t size)
{
	const void *target;
	const char *start;

	option = opt_resolve(set, option);
	target = field(set, option);
	buf[0] = '\0';
	/* Without a default, 0 may mean "not given" and be outside the range. */
	if (!option->def && !opt_given(set, option->name) && is_number(option->type))
		return buf;
	switch (option->type) {
	case OPT_FLAG:
		snprintf(buf, size, "%s", *(const bool *)target ? "yes" : "no");
		break;
	case OPT_INT:
	case OPT_LEVEL:
		number_text(option->type, *(const int *)target, buf, size);
		break;
	case OPT_COUNT:
	case OPT_BYTES:
	case OPT_DURATION:
		number_text(option->type, (long long)*(const uint64_t *)target, buf, size);
		break;
	case OPT_STRING:
		snprintf(buf, size, "%s",
			 *(const char *const *)target ? *(const char *const *)target : "");
		break;
	case OPT_LIST:
		return list_text(target, buf, size);
	case OPT_CHOICE: {
		int n = (int)opt_choice(option->choices, *(const int *)target, &start);

		snprintf(buf, size, "%.*s", n, n ? start : "");
		break;
	}
	case OPT_SET:
		snprintf(buf, size, "%s", *(const int *)target == option->min ? "yes" : "");
		break;
	case OPT_ADD: /* its text is in the list it adds to */
	case OPT_ALIAS:
	case OPT_HELP:
	case OPT_CONFIG:
		break;
	}
	return buf;
}
