/* SPDX-License-Identifier: MIT */
#include "counters/softnet_show.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/record.h"
#include "base/util.h"

/* What is worth naming the CPUs for. */
static const struct {
	enum softnet_figure figure;
	const char *member, *text, *hint;
} named[] = {
	{ SOFTNET_DROPPED, "dropped_on", "dropped", "packets: the backlog was full, see net.core.netdev_max_backlog" },
	{ SOFTNET_SQUEEZED, "squeezed_on", "squeezed", "times: work was left, see net.core.netdev_budget" },
};

static bool counts(uint64_t value)
{
	return value && value != SOFTNET_UNKNOWN;
}

static void print_value(FILE *out, uint64_t value)
{
	if (value == SOFTNET_UNKNOWN)
		fprintf(out, " %11s", "-");
	else
		fprintf(out, " %11" PRIu64, value);
}

static void print_named(FILE *out, const struct softnet *w, unsigned i)
{
	const char *comma = "";

	if (!counts(softnet_sum(w, named[i].figure)))
		return;
	fprintf(out, "  %s on", named[i].text);
	for (unsigned c = 0; c < w->n; c++)
		if (counts(w->cpu[c].value[named[i].figure])) {
			fprintf(out, "%s CPU %u: %" PRIu64, comma, w->cpu[c].cpu, w->cpu[c].value[named[i].figure]);
			comma = ",";
		}
	fprintf(out, " (%s)\n", named[i].hint);
}

void softnet_show_text(FILE *out, const struct softnet *w, uint64_t ns)
{
	fprintf(out, "softnet of the host, %.3f s%s\n%-7s", (double)ns / (double)NSEC_PER_SEC,
		w->numbered ? "" : "; CPUs by row: wrong where one is offline", "CPU");
	for (unsigned i = 0; i < SOFTNET_BACKLOG; i++)
		fprintf(out, " %11s", softnet_name[i]);
	fprintf(out, "\n");
	for (unsigned c = 0; c < w->n; c++) {
		fprintf(out, "CPU:%02u%*s", w->cpu[c].cpu, w->cpu[c].cpu < 100 ? 1 : 0, "");
		for (unsigned i = 0; i < SOFTNET_BACKLOG; i++)
			print_value(out, w->cpu[c].value[i]);
		fprintf(out, "\n");
	}
	fprintf(out, "Summed:");
	for (unsigned i = 0; i < SOFTNET_BACKLOG; i++)
		print_value(out, softnet_sum(w, i));
	fprintf(out, "\n");
	for (unsigned i = 0; i < ARRAY_SIZE(named); i++)
		print_named(out, w, i);
}

static void add_value(json_t *o, enum softnet_figure i, uint64_t value)
{
	if (value == SOFTNET_UNKNOWN)
		record_add(o, softnet_name[i], json_null());
	else
		record_add_uint(o, softnet_name[i], value);
}

static json_t *cpu_record(const struct softnet_cpu *c)
{
	json_t *o = json_object();

	record_add_uint(o, "cpu", c->cpu);
	for (unsigned i = 0; i < SOFTNET_FIGURES; i++)
		add_value(o, i, c->value[i]);
	return o;
}

int softnet_show_json(FILE *out, const struct softnet *w, uint64_t ns)
{
	json_t *o = json_object(), *cpus = json_array(), *total = json_object();
	int ret;

	record_add_text(o, "type", "softnet");
	record_add_uint(o, "interval_ns", ns);
	record_add_bool(o, "numbered", w->numbered);
	for (unsigned c = 0; c < w->n; c++)
		json_array_append_new(cpus, cpu_record(&w->cpu[c]));
	record_add(o, "cpus", cpus);
	for (unsigned i = 0; i < SOFTNET_FIGURES; i++)
		add_value(total, i, softnet_sum(w, i));
	record_add(o, "total", total);
	for (unsigned i = 0; i < ARRAY_SIZE(named); i++) {
		json_t *list = json_array();

		for (unsigned c = 0; c < w->n; c++)
			if (counts(w->cpu[c].value[named[i].figure]))
				json_array_append_new(list, json_integer(w->cpu[c].cpu));
		record_add(o, named[i].member, list);
	}
	ret = o ? record_line(out, o) : -ENOMEM;
	json_decref(o);
	return ret;
}
