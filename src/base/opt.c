/* SPDX-License-Identifier: MIT */
/* The command line. */
#include "base/opt.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/opt_table.h"

/* getopt's value of a long option: the table's index twice, plus one for --no-NAME. Above every letter, and musl's
 * letters are wide characters (0xdfc3 for a stray byte). */
#define LONG_BASE 0x110000

/* One walk over argv. */
struct walk {
	struct opt_set *set;
	int argc;
	char **argv;
	struct option *longs;
	char *letters;
};

/* Fills longs and letters, getopt's form of the table. */
static int make_tables(struct walk *walk, struct err *err)
{
	static const int has_arg[] = {
		[OPT_ARG_NONE] = no_argument,
		[OPT_ARG_REQUIRED] = required_argument,
		[OPT_ARG_OPTIONAL] = optional_argument,
	};
	struct opt_set *set = walk->set;
	struct option *out;
	unsigned n = 0;
	char *letter;

	while (set->table[n].name)
		n++;
	set->given = opt_memory(set, n + 1);
	walk->longs = out = opt_memory(set, (2 * n + 1) * sizeof(*out));
	walk->letters = letter = opt_memory(set, 2 * n + 3);
	if (!set->given || !out || !letter)
		return err_sys(err, ENOMEM, "options");
	/* '-': operands come in turn, as option 1, whatever POSIXLY_CORRECT says, and argv stays as it is.
	 * ':': a missing argument is told apart from an unknown option. */
	letter = stpcpy(letter, "-:");
	for (unsigned i = 0; i < n; i++) {
		const struct opt *o = &set->table[i], *resolved = opt_resolve(set, o);
		bool negated;
		char *name;

		if (!resolved)
			return err_say(err, EINVAL, "option table: --%s is an alias of --%s, "
				       "which does not exist", o->name, o->choices);
		*out++ = (struct option){ o->name, has_arg[opt_arity(resolved)], NULL,
					  LONG_BASE + 2 * (int)i };
		if (o->letter) {
			*letter++ = o->letter;
			if (opt_arity(resolved) == OPT_ARG_REQUIRED)
				*letter++ = ':';
		}
		if (o->type != OPT_FLAG)
			continue;
		name = opt_memory(set, strlen(o->name) + sizeof("no-"));
		if (!name)
			return err_sys(err, ENOMEM, "options");
		stpcpy(stpcpy(name, "no-"), o->name);
		opt_find_any(set, name, &negated);
		if (negated)
			*out++ = (struct option){ name, no_argument, NULL,
						  LONG_BASE + 2 * (int)i + 1 };
	}
	return 0;
}

/* getopt reported value c (in optopt or as its result): which option is that? */
static void identify(const struct walk *walk, int c, struct opt_use *use)
{
	if (c >= LONG_BASE) {
		use->option = &walk->set->table[(c - LONG_BASE) / 2];
		use->negated = (c - LONG_BASE) % 2;
		snprintf(use->who, sizeof(use->who), "--%s%s", use->negated ? "no-" : "",
			 use->option->name);
		return;
	}
	for (use->option = walk->set->table; use->option->letter != c; use->option++)
		;
	snprintf(use->who, sizeof(use->who), "-%c", c);
}

/* argv has a long option that getopt did not take: unknown, or the beginning of several. */
static int bad_name(const struct walk *walk, const char *arg, struct err *err)
{
	size_t n = strcspn(arg + 2, "=");
	unsigned found = 0;

	for (const struct option *o = walk->longs; o->name; o++)
		found += strncmp(o->name, arg + 2, n) == 0;
	if (!found)
		return err_say(err, EINVAL, "unknown option '%.*s'; see %s --help", (int)n + 2, arg,
			       walk->set->program);
	err_say(err, EINVAL, "'%.*s' could be any of", (int)n + 2, arg);
	for (const struct option *o = walk->longs; o->name; o++)
		if (strncmp(o->name, arg + 2, n) == 0)
			err_hint(err, " --%s", o->name);
	return -EINVAL;
}

/* getopt said '?'. */
static int refuse(const struct walk *walk, struct err *err)
{
	struct opt_use use = { 0 };

	if (!optopt)
		return bad_name(walk, walk->argv[optind - 1], err);
	if (optopt >= LONG_BASE) {
		identify(walk, optopt, &use);
		return err_say(err, EINVAL, "%s takes no value", use.who);
	}
	if (optopt <= ' ' || optopt > '~')
		return err_say(err, EINVAL, "unknown option letter 0x%02x; see %s --help",
			       (unsigned char)optopt, walk->set->program);
	return err_say(err, EINVAL, "unknown option '-%c'; see %s --help", optopt,
		       walk->set->program);
}

/* The next option of the command line. 1: *use is filled; 0: the end; -errno. Operands are appended to `operands`. */
static int next_use(struct walk *walk, struct opt_list *operands, struct opt_use *use,
		    struct err *err)
{
	int c;

	while ((c = getopt_long(walk->argc, walk->argv, walk->letters, walk->longs, NULL)) == 1)
		if (opt_append(walk->set, operands, optarg))
			return err_sys(err, ENOMEM, "options");
	if (c == '?')
		return refuse(walk, err);
	*use = (struct opt_use){ .source = OPT_FROM_COMMAND };
	if (c == ':') {
		identify(walk, optopt, use);
		return err_say(err, EINVAL, "%s needs a value: %s", use->who,
			       use->option->argument
				       ? use->option->argument
				       : opt_resolve(walk->set, use->option)->argument);
	}
	if (c != -1) {
		identify(walk, c, use);
		use->value = optarg;
		return 1;
	}
	for (; optind < walk->argc; optind++) /* behind "--" */
		if (opt_append(walk->set, operands, walk->argv[optind]))
			return err_sys(err, ENOMEM, "options");
	return 0;
}

static void rewind_walk(void)
{
	optind = 0; /* glibc and musl: forget everything, also the place inside grouped letters */
	opterr = 0;
}

/* First walk: nothing is written, but --help and --config are obeyed, and mistakes found before a file is opened. */
static int walk_early(struct walk *walk, struct opt_list *files, bool *help, struct err *err)
{
	struct opt_list operands = { 0 };
	struct opt_use use;
	int rc;

	rewind_walk();
	while ((rc = next_use(walk, &operands, &use, err)) > 0) {
		enum opt_type type = opt_resolve(walk->set, use.option)->type;

		if (type == OPT_HELP) {
			*help = true;
			return 0;
		}
		if (type == OPT_CONFIG && opt_append(walk->set, files, use.value))
			return err_sys(err, ENOMEM, "options");
	}
	return rc;
}

static int walk_values(struct walk *walk, struct err *err)
{
	struct opt_use use;
	int rc;

	rewind_walk();
	while ((rc = next_use(walk, &walk->set->operands, &use, err)) > 0) {
		rc = opt_apply(walk->set, &use, err);
		if (rc)
			return rc;
	}
	return rc;
}

int opt_parse(struct opt_set *set, int argc, char **argv, enum opt_next *next, struct err *err)
{
	struct walk walk = { .set = set, .argc = argc, .argv = argv };
	struct opt_list files = { 0 };
	bool help = false;
	int rc;

	*next = OPT_RUN;
	set->operands = (struct opt_list){ 0 };
	set->given = NULL;
	set->owned = NULL;
	rc = make_tables(&walk, err);
	if (!rc)
		rc = opt_set_defaults(set, err);
	if (!rc)
		rc = walk_early(&walk, &files, &help, err);
	if (!rc && help) {
		opt_print_help(set, stdout);
		*next = OPT_EXIT_OK;
		return 0;
	}
	for (unsigned i = 0; i < files.n && !rc; i++)
		rc = opt_read_file(set, files.text[i], err);
	if (!rc)
		rc = walk_values(&walk, err);
	if (rc)
		opt_free(set);
	return rc;
}
