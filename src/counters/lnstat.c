/* SPDX-License-Identifier: MIT */
#include "counters/lnstat.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counter.h"

static int add(struct lnstat *l, const char *name)
{
	if (l->n == l->room) {
		unsigned room = l->room ? 2 * l->room : 32;
		struct lnstat_field *field = realloc(l->field, room * sizeof(*field));

		if (!field)
			return -ENOMEM;
		l->field = field;
		l->room = room;
	}
	l->field[l->n++] = (struct lnstat_field){ .name = name };
	return 0;
}

/* Words, not lines of numbers: a file of hexadecimal numbers only is another one. */
static int parse_titles(struct lnstat *l, char *line)
{
	char *save;
	int ret = 0;

	for (char *word = strtok_r(line, " \t", &save); word && !ret; word = strtok_r(NULL, " \t", &save))
		ret = word[strspn(word, "0123456789abcdefABCDEF")] ? add(l, word) : -EINVAL;
	return ret ? ret : l->n ? 0 : -EINVAL;
}

/* Columns behind the titles are passed over, missing ones add nothing. */
static int parse_row(struct lnstat *l, char *line)
{
	unsigned i = 0;
	char *save;

	for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save), i++) {
		char *end;
		unsigned long long value;

		errno = 0;
		value = strtoull(word, &end, 16);
		if (errno || !isxdigit((unsigned char)*word) || *end)
			return -EINVAL;
		if (i < l->n)
			l->field[i].value = i ? l->field[i].value + value : value;
	}
	return 0;
}

static int parse(struct lnstat *l, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);
	int ret;

	l->n = 0;
	ret = line ? parse_titles(l, line) : -EINVAL;
	while (!ret && (line = strtok_r(NULL, "\n", &save)))
		ret = parse_row(l, line);
	return ret;
}

int lnstat_read(struct lnstat *l, const char *table, struct err *err)
{
	char name[64], path[512];
	int ret;

	snprintf(name, sizeof(name), "stat/%s", table);
	ret = proc_read(name, &l->text, err);
	if (ret)
		return ret;
	ret = parse(l, l->text.data);
	if (ret == -EINVAL)
		return err_say(err, EINVAL, "%s: is no file like those in /proc/net/stat", proc_path(name, path, sizeof(path)));
	return ret ? err_sys(err, ret, "memory for the columns of %s", name) : 0;
}

static const struct lnstat_field *find(const struct lnstat *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->field[i].name, name))
			return &l->field[i];
	return NULL;
}

bool lnstat_get(const struct lnstat *l, const char *name, uint64_t *value)
{
	const struct lnstat_field *f = find(l, name);

	if (f)
		*value = f->value;
	return f;
}

bool lnstat_since(const struct lnstat *from, const struct lnstat *to, const char *name, uint64_t *increment)
{
	const struct lnstat_field *a = find(from, name), *b = find(to, name);
	bool wrapped;

	if (a && b)
		*increment = b == to->field ? b->value : counter_increment(a->value, b->value, 32, &wrapped);
	return a && b;
}

void lnstat_free(struct lnstat *l)
{
	free(l->field);
	proc_free(&l->text);
	*l = (struct lnstat){ 0 };
}
