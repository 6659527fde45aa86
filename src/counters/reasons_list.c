/* SPDX-License-Identifier: MIT */
/* The list of reasons: order, differences. */
#include <stdlib.h>
#include <string.h>

#include "counters/reasons.h"

static int compare(const void *a, const void *b)
{
	const struct reason_count *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->packets != y->packets)
		return x->packets > y->packets ? -1 : 1;
	return strcmp(x->name, y->name);
}

void reasons_list_sort(struct reason_list *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		if (list->count[i].packets)
			list->count[n++] = list->count[i];
	list->n = n;
	if (n)
		qsort(list->count, n, sizeof(*list->count), compare);
}

void reasons_list_since(struct reason_list *now, const struct reason_list *before)
{
	for (unsigned i = 0; i < now->n; i++)
		for (unsigned k = 0; k < before->n; k++)
			if (before->count[k].reason == now->count[i].reason && before->count[k].scope == now->count[i].scope) {
				now->count[i].packets -= before->count[k].packets;
				now->count[i].datagrams -= before->count[k].datagrams;
			}
	now->missed -= before->missed;
	reasons_list_sort(now);
}

void reasons_list_free(struct reason_list *list)
{
	free(list->count);
	*list = (struct reason_list){ 0 };
}
