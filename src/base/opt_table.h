/* SPDX-License-Identifier: MIT */
/*
 * opt_table - what the parts of opt share: looking things up in the table, memory, and one option's value as text.
 * Not for programs.
 */
#ifndef BASE_OPT_TABLE_H
#define BASE_OPT_TABLE_H

#include "base/opt.h"

/* Where a value comes from; the higher wins. As stored in opt_set.given. */
enum opt_source { OPT_FROM_DEFAULT, OPT_FROM_FILE, OPT_FROM_COMMAND };

/* One option as it was written. */
struct opt_use {
	const struct opt *option;
	const char *value; /* NULL: none */
	bool negated;      /* --no-NAME */
	enum opt_source source;
	char who[288]; /* how a sentence names it: "--batch", "-b", "sink.conf:12: batch" */
};

/* The entry of a name, NULL when there is none. NULL also for a negated name: see opt_find_any. */
const struct opt *opt_find(const struct opt_set *set, const char *name);

/* The same, with no-NAME for flags (unless an entry is called so itself): *negated tells. */
const struct opt *opt_find_any(const struct opt_set *set, const char *name, bool *negated);

/* The entry that an alias stands for; the entry itself when it is no alias. NULL: the alias points nowhere. */
const struct opt *opt_resolve(const struct opt_set *set, const struct opt *option);

/* The entry that a shortcut (OPT_SET, OPT_ADD) writes to: the one of fitting type with the same field. The entry
 * itself when there is none, or when it is no shortcut. */
const struct opt *opt_owner(const struct opt_set *set, const struct opt *option);

enum opt_arity { OPT_ARG_NONE, OPT_ARG_REQUIRED, OPT_ARG_OPTIONAL };

/* Does the long form take an argument? Letters take one only when it is required. */
enum opt_arity opt_arity(const struct opt *resolved);

/* "block|poll|spin": length of choice `index`, *start where it begins; 0 when there are fewer. */
size_t opt_choice(const char *choices, int index, const char **start);

/* Memory that lives until opt_free; NULL when there is none left. */
void *opt_memory(struct opt_set *set, size_t size);
char *opt_copy(struct opt_set *set, const char *text);
int opt_append(struct opt_set *set, struct opt_list *list, const char *text);

/* Writes the table's defaults. */
int opt_set_defaults(struct opt_set *set, struct err *err);

/* Writes one value into the program's struct, unless a higher source wrote it already. 0 or -errno with a sentence. */
int opt_apply(struct opt_set *set, const struct opt_use *use, struct err *err);

/* Reads an options file. */
int opt_read_file(struct opt_set *set, const char *path, struct err *err);

#endif
