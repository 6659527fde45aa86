/* SPDX-License-Identifier: MIT */
#include "counters/nstat.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/record.h"
#include "counters/counter.h"

/* The counters of a window, one after the other. */
struct walk {
	const struct mib *from, *to;
	const struct nstat_view *view;
	unsigned next, hint;
	const char *name;
	uint64_t increment;
	bool wrapped;
};

static bool matches(const struct nstat_view *v, const char *name)
{
	for (unsigned i = 0; i < v->patterns; i++)
		if (!fnmatch(v->pattern[i], name, FNM_CASEFOLD))
			return true;
	return !v->patterns;
}

/* Both readings have the same order, but for counters that came in between: looks behind the one found last first. */
static uint64_t value_before(struct walk *w, const char *name)
{
	for (unsigned tried = 0; tried < w->from->n; tried++) {
		unsigned at = (w->hint + tried) % w->from->n;

		if (strcmp(w->from->entry[at].name, name))
			continue;
		w->hint = at + 1;
		return w->from->entry[at].value;
	}
	return 0;
}

/* The next one to show; false: that was all. */
static bool step(struct walk *w)
{
	while (w->next < w->to->n) {
		const struct mib_entry *e = &w->to->entry[w->next++];

		w->name = e->name;
		w->increment = counter_increment(value_before(w, e->name), e->value, 64, &w->wrapped);
		if ((w->increment || w->wrapped || w->view->zeros) && matches(w->view, e->name))
			return true;
	}
	return false;
}

void nstat_text(FILE *out, const struct mib *from, const struct mib *to, uint64_t ns, const struct nstat_view *view)
{
	struct walk w = { .from = from, .to = to, .view = view };

	fprintf(out, "#kernel\n");
	while (step(&w))
		fprintf(out, "%-32s%-16" PRIu64 "%6.1f%s\n", w.name, w.increment, counter_rate(w.increment, ns), w.wrapped ? " (overflow)" : "");
}

int nstat_json(FILE *out, const struct mib *from, const struct mib *to, uint64_t ns, const struct nstat_view *view)
{
	struct walk w = { .from = from, .to = to, .view = view };
	json_t *o = json_object(), *kernel = json_object(), *rate = json_object(), *wrapped = json_array();
	int ret = 0;

	while (!ret && step(&w)) {
		ret = record_add_uint(kernel, w.name, w.increment);
		if (!ret)
			ret = record_add_number(rate, w.name, w.wrapped ? (double)NAN : counter_rate(w.increment, ns));
		if (!ret && w.wrapped && json_array_append_new(wrapped, json_string(w.name)))
			ret = -ENOMEM;
	}
	record_add_text(o, "type", "nstat");
	record_add(o, "kernel", kernel);
	record_add(o, "rate", rate);
	record_add_uint(o, "interval_ns", ns);
	if (record_add(o, "wrapped", wrapped))
		ret = -ENOMEM;
	if (!ret)
		ret = record_line(out, o);
	json_decref(o);
	return ret;
}
