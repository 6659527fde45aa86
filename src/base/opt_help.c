/* SPDX-License-Identifier: MIT */
/* The option table for people (--help) and for programs (--dump-options). */
#include <string.h>

#include "base/opt_table.h"

#define WIDTH 79       /* of 80 columns; terminals wrap at the last */
#define HELP_COLUMN 30 /* where the help text begins */

/* Prints text from column `at` on, broken at blanks; each new line begins at column `indent`. */
static void print_wrapped(FILE *out, const char *text, unsigned at, unsigned indent)
{
	bool first = true;

	while (*text) {
		unsigned n = strcspn(text, " ");

		if (!first && at + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)n, text);
		at += n;
		first = false;
		text += n + strspn(text + n, " ");
	}
	fputc('\n', out);
}

/* "=BYTES", "[=ADDR]", "=block|poll|spin", or nothing. */
static void argument_text(const struct opt_set *set, const struct opt *option, char *buf,
			  size_t size)
{
	const struct opt *resolved = opt_resolve(set, option);
	const char *name = option->argument ? option->argument : resolved->argument;

	if (resolved->type == OPT_CHOICE)
		name = resolved->choices;
	if (resolved->type == OPT_LEVEL && !name)
		name = "LEVEL";
	buf[0] = '\0';
	if (name && opt_arity(resolved) == OPT_ARG_REQUIRED)
		snprintf(buf, size, "=%s", name);
	else if (name && opt_arity(resolved) == OPT_ARG_OPTIONAL)
		snprintf(buf, size, "[=%s]", name);
}

static void print_option(const struct opt_set *set, const struct opt *option, FILE *out)
{
	char argument[256], letter[] = "    ", help[1024];
	int at;

	if (option->letter)
		memcpy(letter, (char[]){ '-', option->letter, ',', ' ' }, 4);
	argument_text(set, option, argument, sizeof(argument));
	at = fprintf(out, "  %s--%s%s", letter, option->name, argument);
	if (at > HELP_COLUMN - 2) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - at, "");
	snprintf(help, sizeof(help), "%s%s%s%s", option->help ? option->help : "",
		 option->def ? " (default: " : "", option->def ? option->def : "",
		 option->def ? ")" : "");
	print_wrapped(out, help, HELP_COLUMN, HELP_COLUMN);
}

void opt_print_help(const struct opt_set *set, FILE *out)
{
	const char *group = NULL;

	fprintf(out, "Usage: %s %s\n", set->program, set->usage ? set->usage : "[options]");
	if (set->about)
		print_wrapped(out, set->about, 0, 0);
	for (const struct opt *o = set->table; o->name; o++) {
		if (o->hidden)
			continue;
		if (o->group && (!group || strcmp(group, o->group) != 0)) {
			group = o->group;
			fprintf(out, "\n%s:\n", group);
		}
		print_option(set, o, out);
	}
	fputs("\nNumbers take k, M, G; times ns, us, ms, s, m, h. --no-NAME undoes a switch.\n",
	      out);
}

static const char *const type_name[] = {
	[OPT_FLAG] = "flag",   [OPT_INT] = "int",	    [OPT_COUNT] = "count",
	[OPT_BYTES] = "bytes", [OPT_DURATION] = "duration", [OPT_STRING] = "string",
	[OPT_LIST] = "list",   [OPT_CHOICE] = "choice",	    [OPT_SET] = "set",
	[OPT_ADD] = "add",     [OPT_LEVEL] = "level",	    [OPT_ALIAS] = "alias",
	[OPT_HELP] = "help",   [OPT_CONFIG] = "config",
};

/* What the option stores or may store: the choices, the text of OPT_ADD, the value of OPT_SET by its name where it
 * has one. */
static void values_text(const struct opt_set *set, const struct opt *option, char *buf, size_t size)
{
	const struct opt *owner = opt_owner(set, option);
	const char *start;
	int n;

	if (option->type != OPT_SET) {
		snprintf(buf, size, "%s", option->choices ? option->choices : "");
		return;
	}
	n = owner->type == OPT_CHOICE ? (int)opt_choice(owner->choices, (int)option->min, &start)
				      : 0;
	if (n)
		snprintf(buf, size, "%.*s", n, start);
	else
		snprintf(buf, size, "%lld", option->min);
}

void opt_print_table(const struct opt_set *set, FILE *out)
{
	for (const struct opt *o = set->table; o->name; o++) {
		const struct opt *resolved = opt_resolve(set, o), *owner = opt_owner(set, o);
		const struct opt *target = o->type == OPT_ALIAS ? resolved : owner;
		const char *argument = o->argument ? o->argument : resolved->argument;
		bool optional = opt_arity(resolved) == OPT_ARG_OPTIONAL;
		char values[256];

		values_text(set, resolved, values, sizeof(values));
		if (resolved->type == OPT_LEVEL && !argument)
			argument = "LEVEL";
		fprintf(out, "%s\t%.1s\t%s\t", o->name, &o->letter, type_name[o->type]);
		fprintf(out, argument && optional ? "[%s]\t" : "%s\t", argument ? argument : "");
		fprintf(out, "%s\t%d\t%s\t%s\t%s\t%lld\t%lld\t%s\n",
			resolved->def ? resolved->def : "", o->hidden,
			target == o ? "" : target->name, o->help ? o->help : "", values,
			resolved->min, resolved->max, o->group ? o->group : "");
	}
}
