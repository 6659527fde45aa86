/* SPDX-License-Identifier: MIT */
#include "counters/softnet.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "counters/counter.h"

/* Columns of the file, counted from 0. */
enum { COLUMN_CPU = 12, COLUMNS = 13 };
static const unsigned column[SOFTNET_FIGURES] = { 0, 1, 2, 8, 9, 10, 11 };

const char *const softnet_name[SOFTNET_FIGURES] = { "total", "dropped", "squeezed", "collision", "rx_rps", "flow_limit", "backlog" };

static int add(struct softnet *s, const struct softnet_cpu *cpu)
{
	if (s->n == s->room) {
		unsigned room = s->room ? 2 * s->room : 64;
		struct softnet_cpu *more = realloc(s->cpu, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->cpu = more;
		s->room = room;
	}
	s->cpu[s->n++] = *cpu;
	return 0;
}

/* One line into words[]; *count: how many there were. *p moves behind it. Every word is a hexadecimal number of at most 32 bits. */
static int parse_row(const char **p, uint64_t *words, unsigned *count)
{
	for (*count = 0; **p && **p != '\n';) {
		char *end;
		unsigned long long value;

		if (**p == ' ' || **p == '\t') {
			(*p)++;
			continue;
		}
		if (!isxdigit((unsigned char)**p))
			return -EINVAL;
		errno = 0;
		value = strtoull(*p, &end, 16);
		if (errno || value > UINT32_MAX || (*end && !isspace((unsigned char)*end)))
			return -EINVAL;
		if (*count < COLUMNS)
			words[*count] = value;
		(*count)++;
		*p = end;
	}
	*p += **p == '\n';
	return 0;
}

static int parse(struct softnet *s, const char *p)
{
	s->n = 0;
	s->numbered = true;
	while (*p) {
		uint64_t words[COLUMNS];
		unsigned count;
		struct softnet_cpu row = { .cpu = s->n };
		int ret = parse_row(&p, words, &count);

		if (!ret && !count)
			continue;
		if (ret)
			return ret;
		if (count > COLUMN_CPU)
			row.cpu = (unsigned)words[COLUMN_CPU];
		else
			s->numbered = false;
		for (unsigned i = 0; i < SOFTNET_FIGURES; i++)
			row.value[i] = column[i] < count ? words[column[i]] : SOFTNET_UNKNOWN;
		ret = add(s, &row);
		if (ret)
			return ret;
	}
	return s->n ? 0 : -EINVAL;
}

int softnet_read(struct softnet *s, struct err *err)
{
	char path[512];
	int ret = proc_read("softnet_stat", &s->text, err);

	if (ret)
		return ret;
	ret = parse(s, s->text.data);
	if (ret == -EINVAL)
		return err_say(err, EINVAL, "%s: is no file like /proc/net/softnet_stat", proc_path("softnet_stat", path, sizeof(path)));
	return ret ? err_sys(err, ret, "memory for the counters of the CPUs") : 0;
}

static const struct softnet_cpu *find(const struct softnet *s, unsigned cpu)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->cpu[i].cpu == cpu)
			return &s->cpu[i];
	return NULL;
}

/* from, to: NULL where it was not online, or cannot be told from another. */
static struct softnet_cpu difference(unsigned cpu, const struct softnet_cpu *from, const struct softnet_cpu *to)
{
	struct softnet_cpu d = { .cpu = cpu };
	bool wrapped;

	for (unsigned i = 0; i < SOFTNET_FIGURES; i++) {
		d.value[i] = SOFTNET_UNKNOWN;
		if (i == SOFTNET_BACKLOG && to)
			d.value[i] = to->value[i];
		else if (from && to && from->value[i] != SOFTNET_UNKNOWN && to->value[i] != SOFTNET_UNKNOWN)
			d.value[i] = counter_increment(from->value[i], to->value[i], 32, &wrapped);
	}
	return d;
}

int softnet_since(const struct softnet *from, const struct softnet *to, struct softnet *out)
{
	bool same_rows = from->numbered == to->numbered && (to->numbered || from->n == to->n);
	int ret = 0;

	out->n = 0;
	out->numbered = to->numbered;
	for (unsigned i = 0; i < to->n && !ret; i++) {
		const struct softnet_cpu *c = &to->cpu[i];
		struct softnet_cpu d = difference(c->cpu, same_rows ? find(from, c->cpu) : NULL, c);

		ret = add(out, &d);
	}
	for (unsigned i = 0; i < from->n && !ret; i++)
		if (!find(to, from->cpu[i].cpu)) {
			struct softnet_cpu d = difference(from->cpu[i].cpu, NULL, NULL);

			ret = add(out, &d);
		}
	return ret;
}

uint64_t softnet_sum(const struct softnet *s, enum softnet_figure figure)
{
	uint64_t sum = SOFTNET_UNKNOWN;

	for (unsigned i = 0; i < s->n; i++)
		if (s->cpu[i].value[figure] != SOFTNET_UNKNOWN)
			sum = (sum == SOFTNET_UNKNOWN ? 0 : sum) + s->cpu[i].value[figure];
	return sum;
}

void softnet_free(struct softnet *s)
{
	free(s->cpu);
	proc_free(&s->text);
	*s = (struct softnet){ 0 };
}
