/* SPDX-License-Identifier: MIT */
#include "counters/dev.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct dev_entry *add(struct dev *d)
{
	if (d->n == d->room) {
		unsigned room = d->room ? 2 * d->room : 16;
		struct dev_entry *entry = realloc(d->entry, room * sizeof(*entry));

		if (!entry)
			return NULL;
		d->entry = entry;
		d->room = room;
	}
	return &d->entry[d->n++];
}

/* "  eth0:12 3 0 ...": no blank is needed behind the colon. */
static int parse_line(struct dev *d, char *line)
{
	char *colon = strchr(line, ':'), *name = line + strspn(line, " ");
	struct dev_entry *e;

	if (!colon || colon == name || colon - name >= IF_NAMESIZE)
		return -EINVAL;
	*colon = '\0';
	e = add(d);
	if (!e)
		return -ENOMEM;
	*e = (struct dev_entry){ 0 };
	memcpy(e->name, name, (size_t)(colon - name));
	line = colon + 1;
	for (unsigned i = 0; i < DEV_COLUMNS; i++) {
		char *end;

		line += strspn(line, " \t");
		errno = 0;
		e->value[i] = strtoull(line, &end, 10);
		if (errno || !isdigit((unsigned char)*line) || (*end && !isspace((unsigned char)*end)))
			return -EINVAL;
		line = end;
	}
	return 0;
}

/* Two lines of titles. */
static int parse(struct dev *d, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);
	int ret;

	d->n = 0;
	ret = line && strchr(line, '|') && (line = strtok_r(NULL, "\n", &save)) && strchr(line, '|') ? 0 : -EINVAL;
	while (!ret && (line = strtok_r(NULL, "\n", &save)))
		ret = parse_line(d, line);
	return ret;
}

int dev_read(struct dev *d, struct err *err)
{
	char path[512];
	int ret = proc_read("dev", &d->text, err);

	if (ret)
		return ret;
	ret = parse(d, d->text.data);
	if (ret == -EINVAL)
		return err_say(err, EINVAL, "%s: is no file like /proc/net/dev", proc_path("dev", path, sizeof(path)));
	return ret ? err_sys(err, ret, "memory for the interfaces") : 0;
}

const struct dev_entry *dev_find(const struct dev *d, const char *name)
{
	for (unsigned i = 0; i < d->n; i++)
		if (!strcmp(d->entry[i].name, name))
			return &d->entry[i];
	return NULL;
}

void dev_free(struct dev *d)
{
	free(d->entry);
	proc_free(&d->text);
	*d = (struct dev){ 0 };
}
