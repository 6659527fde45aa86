/* SPDX-License-Identifier: MIT */
#include "source/bad.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/num.h"

static const struct {
	const char *name;
	bool delivered4, delivered6;
} kinds[] = {
#define X(id, name, v4, v6) { name, v4, v6 },
	BAD_LIST(X)
#undef X
};

/* Longest entry, and NUL: "zero-checksum:4294967295". */
#define ENTRY 32

const char *bad_name(enum bad_kind kind)
{
	return kinds[kind].name;
}

static enum bad_kind kind_of(const char *name)
{
	unsigned i = 0;

	while (i < BAD_KINDS && strcmp(kinds[i].name, name))
		i++;
	return i;
}

bool bad_has(const struct bad_plan *plan, enum bad_kind kind)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->entry[i].kind == kind)
			return true;
	return false;
}

/* A kind whose turn always falls to one before it would never be sent. */
static int add(struct bad_plan *plan, enum bad_kind kind, uint64_t every, struct err *err)
{
	if (bad_has(plan, kind))
		return err_say(err, EINVAL, "--bad: %s is given twice", kinds[kind].name);
	for (unsigned i = 0; i < plan->n; i++)
		if (every % plan->entry[i].every == 0)
			return err_say(err, EINVAL, "--bad: %s:%llu would never come, each of them is %s:%u already; put it first", kinds[kind].name,
				       (unsigned long long)every, kinds[plan->entry[i].kind].name, plan->entry[i].every);
	plan->entry[plan->n].kind = kind;
	plan->entry[plan->n++].every = (uint32_t)every;
	return 0;
}

static int parse_entry(const char *text, size_t length, struct bad_plan *plan, struct err *err)
{
	char entry[ENTRY], *colon;
	uint64_t every = 1;
	enum bad_kind kind = BAD_NONE;

	if (length < sizeof(entry)) {
		memcpy(entry, text, length);
		entry[length] = '\0';
		colon = strchr(entry, ':');
		if (colon)
			*colon = '\0';
		if (colon && num_count(colon + 1, &every))
			every = 0;
		kind = kind_of(entry);
	}
	if (kind == BAD_NONE || every < 1 || every > UINT32_MAX)
		return err_say(err, EINVAL,
			       "--bad %.*s: expected KIND or KIND:N, every Nth datagram of a flow; KIND is checksum, zero-checksum, length-short, "
			       "length-long, truncated, port-zero or closed-port", (int)length, text);
	return add(plan, kind, every, err);
}

int bad_parse(const char *text, struct bad_plan *out, struct err *err)
{
	int rc;

	*out = (struct bad_plan){ 0 };
	do {
		size_t length = strcspn(text, ",");

		rc = parse_entry(text, length, out, err);
		text += length;
	} while (!rc && *text++);
	return rc;
}

bool bad_is_delivered(enum bad_kind kind, int family)
{
	return family == AF_INET ? kinds[kind].delivered4 : kinds[kind].delivered6;
}
