/* SPDX-License-Identifier: MIT */
#include "base/opt_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct owned {
	struct owned *next;
	max_align_t data[];
};

void *opt_memory(struct opt_set *set, size_t size)
{
	struct owned *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->next = set->owned;
	set->owned = block;
	return block->data;
}

char *opt_copy(struct opt_set *set, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = opt_memory(set, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* The array doubles; the smaller ones before it stay owned until the end. */
int opt_append(struct opt_set *set, struct opt_list *list, const char *text)
{
	if ((list->n & (list->n - 1)) == 0) {
		const char **more =
			opt_memory(set, (list->n ? 2 * (size_t)list->n : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		if (list->n)
			memcpy(more, list->text, list->n * sizeof(*more));
		list->text = more;
	}
	list->text[list->n++] = text;
	return 0;
}

void opt_free(struct opt_set *set)
{
	struct owned *block = set->owned;

	while (block) {
		struct owned *next = block->next;

		free(block);
		block = next;
	}
	set->owned = NULL;
	set->given = NULL;
	set->operands = (struct opt_list){ 0 };
}

const struct opt *opt_find(const struct opt_set *set, const char *name)
{
	for (const struct opt *o = set->table; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

const struct opt *opt_find_any(const struct opt_set *set, const char *name, bool *negated)
{
	const struct opt *option = opt_find(set, name);

	*negated = false;
	if (option || strncmp(name, "no-", 3) != 0)
		return option;
	*negated = true;
	option = opt_find(set, name + 3);
	return option && option->type == OPT_FLAG ? option : NULL;
}

const struct opt *opt_resolve(const struct opt_set *set, const struct opt *option)
{
	return option->type == OPT_ALIAS ? opt_find(set, option->choices) : option;
}

const struct opt *opt_owner(const struct opt_set *set, const struct opt *option)
{
	if (option->type != OPT_SET && option->type != OPT_ADD)
		return option;
	for (const struct opt *o = set->table; o->name; o++) {
		bool is_int = o->type == OPT_INT || o->type == OPT_CHOICE || o->type == OPT_LEVEL;

		if (o->offset == option->offset &&
		    (option->type == OPT_SET ? is_int : o->type == OPT_LIST))
			return o;
	}
	return option;
}

enum opt_arity opt_arity(const struct opt *resolved)
{
	switch (resolved->type) {
	case OPT_ADD:
	case OPT_HELP:
		return OPT_ARG_NONE;
	case OPT_FLAG:
	case OPT_SET:
	case OPT_LEVEL:
		return OPT_ARG_OPTIONAL;
	default:
		return resolved->optional ? OPT_ARG_OPTIONAL : OPT_ARG_REQUIRED;
	}
}

size_t opt_choice(const char *choices, int index, const char **start)
{
	for (; index > 0; index--) {
		choices = strchr(choices, '|');
		if (!choices)
			return 0;
		choices++;
	}
	*start = choices;
	return strcspn(choices, "|");
}

bool opt_given(const struct opt_set *set, const char *name)
{
	const struct opt *option = opt_find(set, name);

	option = option ? opt_resolve(set, option) : NULL;
	return option && set->given && set->given[option - set->table] != OPT_FROM_DEFAULT;
}
