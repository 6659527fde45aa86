/* SPDX-License-Identifier: MIT */
#include "counters/ethtool_show.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/record.h"
#include "counters/counter.h"

struct change {
	const char *name;
	uint64_t increment;
	bool wrapped;
};

static int by_name(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Statistics of the same name count as one. */
static unsigned merge(struct change *list, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (kept && !strcmp(list[kept - 1].name, list[i].name)) {
			list[kept - 1].increment += list[i].increment;
			list[kept - 1].wrapped |= list[i].wrapped;
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

/* Sorted; *n of them. The caller frees them. NULL: no memory. */
static struct change *changes(const struct ethtool *from, const struct ethtool *to, unsigned *n)
{
	struct change *list = calloc(to->n + 1, sizeof(*list));
	unsigned hint = 0;

	*n = 0;
	for (unsigned i = 0; list && i < to->n; i++) {
		struct change *c = &list[*n];

		c->name = to->stat[i].name;
		if (ethtool_since(from, to, i, &hint, &c->increment, &c->wrapped) && (c->increment || c->wrapped))
			(*n)++;
	}
	if (list) {
		qsort(list, *n, sizeof(*list), by_name);
		*n = merge(list, *n);
	}
	return list;
}

int ethtool_show_text(FILE *out, const struct ethtool *from, const struct ethtool *to, uint64_t ns)
{
	unsigned n;
	struct change *list = changes(from, to, &n);
	char commas[32];

	if (!list)
		return -ENOMEM;
	fprintf(out, "\nShow adapter(s) (%s) statistics (ONLY that changed!)\n", to->device);
	for (unsigned i = 0; i < n; i++) {
		uint64_t rate = (uint64_t)(counter_rate(list[i].increment, ns) + 0.5);

		fprintf(out, "Ethtool(%-8s) stat: %12" PRIu64 " (%15s) <= %s /sec%s\n", to->device, rate, num_commas(rate, commas, sizeof(commas)), list[i].name,
			list[i].wrapped ? " (overflow)" : "");
	}
	if (!n)
		fprintf(out, " ***WARN***: No counters changed\n");
	free(list);
	return 0;
}

int ethtool_show_json(FILE *out, const struct ethtool *from, const struct ethtool *to, uint64_t ns)
{
	json_t *o = json_object(), *counters = json_object(), *rate = json_object(), *wrapped = json_array();
	unsigned n;
	struct change *list = changes(from, to, &n);
	int ret = list ? 0 : -ENOMEM;

	for (unsigned i = 0; i < n && !ret; i++) {
		ret = record_add_uint(counters, list[i].name, list[i].increment);
		if (!ret)
			ret = record_add_number(rate, list[i].name, list[i].wrapped ? (double)NAN : counter_rate(list[i].increment, ns));
		if (!ret && list[i].wrapped && json_array_append_new(wrapped, json_string(list[i].name)))
			ret = -ENOMEM;
	}
	free(list);
	record_add_text(o, "type", "ethtool");
	record_add_text(o, "device", to->device);
	record_add(o, "counters", counters);
	record_add(o, "rate", rate);
	record_add_uint(o, "interval_ns", ns);
	if (record_add(o, "wrapped", wrapped))
		ret = -ENOMEM;
	if (!ret)
		ret = record_line(out, o);
	json_decref(o);
	return ret;
}
