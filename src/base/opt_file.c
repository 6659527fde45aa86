/* SPDX-License-Identifier: MIT */
/* The options file: one `option = value` a line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/opt_table.h"

#define LINE_SIZE 4096

/* Where a sentence says the line is. */
struct place {
	const char *path;
	unsigned line;
};

static char *trim(char *text)
{
	static const char blank[] = " \t\r\n";
	size_t n;

	text += strspn(text, blank);
	n = strlen(text);
	while (n && strchr(blank, text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

/* A '#' begins a comment at the start of a word only: a value may contain one. */
static void cut_comment(char *line)
{
	for (char *p = line; (p = strchr(p, '#')); p++)
		if (p == line || p[-1] == ' ' || p[-1] == '\t') {
			*p = '\0';
			return;
		}
}

/* Is this option allowed with (or without) this value in a file? */
static int check_use(const struct opt_set *set, const struct opt_use *use, struct err *err)
{
	const struct opt *option = opt_resolve(set, use->option);

	if (option->type == OPT_HELP || option->type == OPT_CONFIG)
		return err_say(err, EINVAL, "%s: belongs on the command line", use->who);
	if (use->value && (use->negated || opt_arity(option) == OPT_ARG_NONE))
		return err_say(err, EINVAL, "%s takes no value", use->who);
	if (!use->value && opt_arity(option) == OPT_ARG_REQUIRED)
		return err_say(err, EINVAL, "%s needs a value: %s = %s", use->who,
			       use->option->name, option->argument);
	return 0;
}

static int read_line(struct opt_set *set, const struct place *place, char *line, struct err *err)
{
	struct opt_use use = { .source = OPT_FROM_FILE };
	char *value, *name;
	int rc;

	cut_comment(line);
	value = strchr(line, '=');
	if (value)
		*value++ = '\0';
	name = trim(line);
	if (!*name && !value)
		return 0;
	use.option = opt_find_any(set, name, &use.negated);
	if (!use.option)
		return err_say(err, EINVAL,
			       "%s:%u: unknown option '%s'; "
			       "lines are 'option = value', names as in %s --help without dashes",
			       place->path, place->line, name, set->program);
	snprintf(use.who, sizeof(use.who), "%.200s:%u: %s", place->path, place->line, name);
	if (value) {
		use.value = opt_copy(set, trim(value));
		if (!use.value)
			return err_sys(err, ENOMEM, "%s", place->path);
	}
	rc = check_use(set, &use, err);
	return rc ? rc : opt_apply(set, &use, err);
}

int opt_read_file(struct opt_set *set, const char *path, struct err *err)
{
	struct place place = { .path = path };
	char line[LINE_SIZE];
	FILE *file = fopen(path, "re");
	int rc = 0;

	if (!file)
		return err_sys(err, errno, "options file %s", path);
	while (!rc && fgets(line, sizeof(line), file)) {
		place.line++;
		if (!strchr(line, '\n') && !feof(file))
			rc = err_say(err, EINVAL, "%s:%u: is longer than %d bytes, or no text",
				     path, place.line, LINE_SIZE - 2);
		else
			rc = read_line(set, &place, line, err);
	}
	if (!rc && ferror(file))
		rc = err_sys(err, errno, "options file %s", path);
	fclose(file);
	return rc;
}
