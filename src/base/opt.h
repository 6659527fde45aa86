/* SPDX-License-Identifier: MIT */
/*
 * opt - one table per program for command line, configuration file, help, completion, and manual page check.
 *
 * A program describes its options once, as an array of struct opt ended by a zero entry. Values land in the program's
 * configuration struct at `offset`. Order of precedence: command line over --config FILE over the default of the table.
 * Not thread safe; used by main before threads exist. Strings point into argv or into memory that opt_free releases.
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum opt_type {
	OPT_FLAG,     /* bool: `--NAME`, `--NAME=yes` set it, `--no-NAME`, `--NAME=no` clear it */
	OPT_INT,      /* int, range min..max, as num_count, with a '-' for negative values */
	OPT_COUNT,    /* uint64_t, as num_count */
	OPT_BYTES,    /* uint64_t, as num_bytes */
	OPT_DURATION, /* uint64_t nanoseconds, as num_duration */
	OPT_STRING,   /* const char *, NULL when not given and no default */
	OPT_LIST,     /* struct opt_list: every occurrence is appended */
	OPT_CHOICE,   /* int: index into choices */
	OPT_SET,      /* int: `value` is stored into the int at offset (short cuts such as --spin = --wait spin) */
	OPT_ADD,      /* struct opt_list: `choices` is appended (short cuts such as --recvmmsg = --engine recvmmsg) */
	OPT_LEVEL,    /* int: raised by one at each occurrence, up to max; `--verbose=3` sets it (upstream's form) */
	OPT_ALIAS,    /* another spelling of the option named in `choices` */
	OPT_HELP,     /* prints help and ends */
	OPT_CONFIG,   /* reads an options file; given twice, the later file wins */
};

struct opt_list {
	unsigned n;
	const char **text;
};

struct opt {
	const char *name;     /* long name without dashes */
	char letter;          /* short name, 0 = none */
	enum opt_type type;
	bool optional;        /* the argument may be missing (`--connect`, `--connect=ADDR`); the letter takes none */
	const char *missing;  /* the value when it is */
	const char *argument; /* name of the argument in help: "BYTES" */
	size_t offset;        /* offsetof(struct conf, field) */
	long long min, max;   /* range of numbers; max 0 = no upper bound. OPT_SET: min is the value stored */
	const char *choices;  /* OPT_CHOICE: "block|poll|spin"; OPT_ALIAS: name; OPT_ADD: text */
	const char *def;      /* default as the user would write it; NULL = none (0, false, NULL, empty) */
	const char *group;    /* heading in help; options of a group stand together */
	const char *help;     /* one line, no full stop */
	bool hidden;          /* test-only: not in --help, but in the manual page's section for testers */
};

/* What opt_parse left for the program to do. */
enum opt_next { OPT_RUN, OPT_EXIT_OK };

struct opt_set {
	const struct opt *table;
	const char *program;   /* "udp_sink" */
	const char *usage;     /* "[options] ADDR[:PORT]" */
	const char *about;     /* one or two sentences over the option list */
	void *conf;            /* the struct that offsets refer to */
	/* filled by opt_parse: */
	struct opt_list operands;  /* arguments that are no options */
	unsigned char *given;      /* per table entry: 0 default, 1 file, 2 command line (owned) */
	void *owned;               /* memory of lists and file lines; released by opt_free */
};

/* Writes defaults, reads argv (and --config FILE with `option = value` lines, `#` comments, the same long names)
 * into conf. Uses getopt_long, so options and operands may be mixed and unique prefixes work. *next tells whether
 * to go on: `--help` prints to stdout and returns OPT_EXIT_OK. Errors: -EINVAL with a sentence that names the
 * option (with file and line), the value and what is allowed, or another -errno for a file that cannot be read.
 * argv is not changed. Precedence is per field, so an alias or a shortcut on the command line overrides its target
 * in the file; a list or a level given on the command line replaces the file's. May be called again after opt_free
 * (which a failed call has done already). */
int opt_parse(struct opt_set *set, int argc, char **argv, enum opt_next *next, struct err *err);

/* Was this option given (not defaulted)? name: long name of the table; an alias or shortcut counts for its target. */
bool opt_given(const struct opt_set *set, const char *name);

/* The value in force, as text that the option would accept: for records ("how was this run"). Lists are joined by
 * ',', flags are yes or no, OPT_SET is yes when its value is the one in force, an alias is what its target is.
 * Returns buf; empty string when there is no value: also for a number without a default that was not given. */
char *opt_text(const struct opt_set *set, const struct opt *option, char *buf, size_t size);

/* Grouped, aligned to 80 columns; defaults in parentheses. */
void opt_print_help(const struct opt_set *set, FILE *out);

/* One line per option, tab separated: name, letter, type, argument ("[X]" when it may be missing), default, hidden
 * (0 or 1), alias-of, help, values, min, max, group. alias-of: what an alias stands for or a shortcut writes to.
 * values: the choices, or what a shortcut stores. Argument, default and numbers of an alias are those of its
 * target. The manual page test and the completion read it (`udp_sink --dump-options`, itself an option of the
 * table: hidden flag handled by the program). */
void opt_print_table(const struct opt_set *set, FILE *out);

void opt_free(struct opt_set *set);

#endif
