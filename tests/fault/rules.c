/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "errname.h"

#define RULES_MAX 64
#define FILTERS_MAX 4

/* A bound of WHEN: a call number, or nanoseconds since the start. */
struct range {
	uint64_t from, to;
	bool time;
};

struct rule {
	enum fault_call call;
	struct fault_action action;
	struct range when;
	uint64_t every;
	struct fault_arg filter[FILTERS_MAX + 1];
	char *text, *parts; /* as given; cut into the strings that the fields above point to */
	atomic_uint_least64_t calls, faults;
};

bool rules_for[FAULT_CALL_COUNT];

static struct rule rules[RULES_MAX];
static unsigned count;
static uint64_t start;

#define FAULT_NAME(name) #name,
static const char *const call_names[] = { FAULT_CALLS(FAULT_NAME) };

/* Not through the C library: clock_gettime is one of our own calls. */
static uint64_t now(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static _Noreturn void refuse(const char *rule, const char *why)
{
	fprintf(stderr, "libfault: rule '%s': %s\n", rule, why);
	_exit(99);
}

/* ------------------------------------------------------------------ reading */

static enum fault_call read_call(const char *name, const char *rule)
{
	for (unsigned i = 0; i < FAULT_CALL_COUNT; i++)
		if (strcmp(name, call_names[i]) == 0)
			return (enum fault_call)i;
	refuse(rule, "no such call");
}

/* One bound; leaves *text behind it. */
static uint64_t read_bound(char **text, bool *time, const char *rule)
{
	char *end;
	uint64_t value = strtoull(*text, &end, 10);

	if (end == *text)
		refuse(rule, "a number is missing behind @ or -");
	*time = *end == 's' || *end == 'm';
	if (strncmp(end, "ms", 2) == 0)
		value *= UINT64_C(1000000), end += 2;
	else if (*end == 's')
		value *= UINT64_C(1000000000), end += 1;
	*text = end;
	return value;
}

static void read_when(char *text, struct range *when, const char *rule)
{
	bool time;

	when->from = read_bound(&text, &when->time, rule);
	when->to = when->time ? UINT64_MAX : when->from;
	if (*text == '-') {
		text++;
		when->to = UINT64_MAX;
		if (*text) {
			when->to = read_bound(&text, &time, rule);
			if (time != when->time)
				refuse(rule, "one bound is a time and the other a number of calls");
		}
	}
	if (*text || when->to < when->from)
		refuse(rule, "what is behind @ is not N, N- or N-M");
}

static void read_filters(char *text, struct rule *r)
{
	char *rest = text, *one;
	unsigned n = 0;

	while ((one = strsep(&rest, "&"))) {
		char *value = strchr(one, '='), *end;

		if (!value || value == one || n == FILTERS_MAX)
			refuse(r->text, "what is behind ? is not KEY=VALUE[&KEY=VALUE], at most four");
		*value++ = '\0';
		r->filter[n].key = one;
		r->filter[n].value = strtol(value, &end, 0);
		if (strcmp(one, "path") == 0 || strcmp(one, "thread") == 0)
			r->filter[n].text = value;
		else if (end == value || *end)
			refuse(r->text, "the value of a filter is not a number");
		n++;
	}
}

/* NAME=VALUE actions, and the calls that know them. */
static const struct {
	const char *name;
	int kind;
	enum fault_call calls[4];
	unsigned ncalls;
} actions[] = {
	{ "short=", FAULT_SHORT, { FAULT_sendmmsg, FAULT_recvmmsg }, 2 },
	{ "jump=", FAULT_JUMP, { FAULT_clock_gettime, FAULT_gettimeofday }, 2 },
	{ "file=", FAULT_FILE, { FAULT_open, FAULT_openat, FAULT_fopen, FAULT_opendir }, 4 },
};

static void read_action(const char *text, struct rule *r)
{
	char *end = NULL;

	r->action.value = errname_parse(text, strlen(text));
	if (r->action.value)
		return;
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		size_t len = strlen(actions[i].name);

		if (strncmp(text, actions[i].name, len))
			continue;
		for (unsigned c = 0; c < actions[i].ncalls; c++)
			if (actions[i].calls[c] == r->call)
				end = (char *)text + len;
		if (!end)
			refuse(r->text, "this call does not know that action");
		r->action.kind = actions[i].kind;
		r->action.file = text + len;
		if (actions[i].kind != FAULT_FILE)
			r->action.value = strtol(text + len, &end, 10);
		if (!text[len] || (actions[i].kind != FAULT_FILE && *end))
			refuse(r->text, "the value of the action cannot be read");
		return;
	}
	refuse(r->text, "the action is neither an errno nor short=, jump= or file=");
}

/* Cuts text at the last `mark` and returns what is behind it, or NULL. */
static char *cut(char *text, char mark)
{
	char *at = strrchr(text, mark);

	if (at)
		*at++ = '\0';
	return at;
}

static void read_rule(const char *text, struct rule *r)
{
	char *filters, *every, *when, *action, *end;

	r->text = strdup(text);
	r->parts = strdup(text);
	if (!r->text || !r->parts)
		refuse(text, "no memory");
	filters = cut(r->parts, '?');
	every = cut(r->parts, '%');
	when = cut(r->parts, '@');
	action = strchr(r->parts, ':');
	if (!action)
		refuse(text, "not CALL:ACTION");
	*action++ = '\0';
	r->call = read_call(r->parts, text);
	read_action(action, r);
	r->when = (struct range){ 1, UINT64_MAX, false };
	if (when)
		read_when(when, &r->when, text);
	r->every = every ? strtoull(every, &end, 10) : 1;
	if (!r->every || (every && *end))
		refuse(text, "what is behind % is not a number above 0");
	if (filters)
		read_filters(filters, r);
}

__attribute__((constructor)) static void load(void)
{
	const char *env = getenv("FAULT");
	char *copy, *rest, *one;

	start = now();
	if (!env || !*env)
		return;
	rest = copy = strdup(env);
	while (rest && (one = strsep(&rest, ","))) {
		if (count == RULES_MAX)
			refuse(one, "too many rules");
		read_rule(one, &rules[count++]);
	}
	free(copy);
	for (unsigned i = 0; i < count; i++)
		rules_for[rules[i].call] = true;
}

/* ------------------------------------------------------------------ matching */

static bool filter_passes(const struct fault_arg *filter, const struct fault_arg *args)
{
	char name[16];

	if (strcmp(filter->key, "thread") == 0)
		return prctl(PR_GET_NAME, name) == 0 && strcmp(name, filter->text) == 0;
	for (; args->key; args++)
		if (strcmp(args->key, filter->key) == 0)
			return filter->text ? args->text && strcmp(args->text, filter->text) == 0 :
					      args->value == filter->value;
	refuse(filter->key, "the call has no argument of this name");
}

static bool applies(struct rule *r, const struct fault_arg *args)
{
	uint64_t call, at;

	for (const struct fault_arg *f = r->filter; f->key; f++)
		if (!filter_passes(f, args))
			return false;
	call = atomic_fetch_add(&r->calls, 1) + 1;
	at = r->when.time ? now() - start : call;
	if (at < r->when.from || at > r->when.to)
		return false;
	return (r->when.time ? call : call - r->when.from + 1) % r->every == 0;
}

const struct fault_action *rules_match(enum fault_call call, const struct fault_arg *args)
{
	const struct fault_action *found = NULL;

	for (unsigned i = 0; i < count; i++)
		if (rules[i].call == call && applies(&rules[i], args) && !found) {
			atomic_fetch_add(&rules[i].faults, 1);
			found = &rules[i].action;
		}
	return found;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("FAULT_REPORT");
	FILE *out;

	memset(rules_for, 0, sizeof(rules_for)); /* no faults in what follows */
	out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%llu\t%llu\t%s\n", (unsigned long long)rules[i].calls,
			(unsigned long long)rules[i].faults, rules[i].text);
	fclose(out);
}
