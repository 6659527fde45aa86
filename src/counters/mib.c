/* SPDX-License-Identifier: MIT */
#include "counters/mib.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Settings among the counters (iproute2, misc/nstat.c). */
static const char *const settings[] = { "IpForwarding", "IpDefaultTTL", "TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn", "TcpCurrEstab" };

/* Words of one line: *p moves behind the word; returns its length, 0 at the end of the line. */
static size_t next_word(const char **p, const char **word)
{
	while (**p == ' ' || **p == '\t')
		(*p)++;
	*word = *p;
	while (**p && !isspace((unsigned char)**p))
		(*p)++;
	return (size_t)(*p - *word);
}

static int make_room(struct mib *m, size_t name)
{
	if (m->n == m->room) {
		unsigned room = m->room ? 2 * m->room : 256;
		struct mib_entry *entry = realloc(m->entry, room * sizeof(*entry));

		if (!entry)
			return -ENOMEM;
		m->entry = entry;
		m->room = room;
	}
	if (m->names_size + name > m->names_room) {
		size_t room = MAX(2 * m->names_room, m->names_size + name + 8192);
		char *names = realloc(m->names, room), *old = m->names;

		if (!names)
			return -ENOMEM;
		for (unsigned i = 0; i < m->n; i++) /* they point into it */
			m->entry[i].name = names + (m->entry[i].name - old);
		m->names = names;
		m->names_room = room;
	}
	return 0;
}

static bool is_setting(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(settings); i++)
		if (!strcmp(settings[i], name))
			return true;
	return false;
}

/* Appends prefix + title. */
static int add(struct mib *m, const char *prefix, size_t prefix_size, const char *title, size_t title_size, uint64_t value)
{
	size_t size = prefix_size + title_size + 1;
	char *name;

	if (make_room(m, size))
		return -ENOMEM;
	name = m->names + m->names_size;
	memcpy(name, prefix, prefix_size);
	memcpy(name + prefix_size, title, title_size);
	name[size - 1] = '\0';
	if (is_setting(name))
		return 0;
	m->names_size += size;
	m->entry[m->n++] = (struct mib_entry){ .name = name, .value = value };
	return 0;
}

/* A decimal number up to the end of the word; -1 stands in a column that is none (TcpMaxConn). */
static bool number(const char *word, size_t size, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(word, &end, 10);
	return size && (isdigit((unsigned char)*word) || *word == '-') && end == word + size && !errno;
}

/* Moves to the next line; returns the one at *text, without its end. */
static char *cut_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

/* "Udp: InDatagrams NoPorts" and "Udp: 5 0". A column more in one of the two is passed over. */
static int parse_pair(struct mib *m, const char *titles, const char *values)
{
	const char *title, *value, *prefix = titles;
	size_t prefix_size = strcspn(titles, ":"), title_size, value_size;
	uint64_t n;
	int ret = 0;

	if (titles[prefix_size] != ':' || strncmp(titles, values, prefix_size + 1))
		return -EINVAL;
	titles += prefix_size + 1;
	values += prefix_size + 1;
	while (!ret && (title_size = next_word(&titles, &title)) && (value_size = next_word(&values, &value)))
		ret = number(value, value_size, &n) ? add(m, prefix, prefix_size, title, title_size, n) : -EINVAL;
	return ret;
}

static int parse_tables(struct mib *m, char *text)
{
	int ret = 0;

	while (!ret && *text) {
		char *titles = cut_line(&text);
		char *values = cut_line(&text);

		ret = *titles ? parse_pair(m, titles, values) : 0;
	}
	return ret;
}

/* "Ip6InReceives   5": anything else is another file. */
static int parse_list(struct mib *m, char *text)
{
	int ret = 0;

	while (!ret && *text) {
		const char *line = cut_line(&text), *name, *value, *more;
		size_t name_size = next_word(&line, &name), value_size = next_word(&line, &value);
		uint64_t n;

		if (!name_size)
			continue;
		if (memchr(name, ':', name_size) || !number(value, value_size, &n) || next_word(&line, &more))
			return -EINVAL;
		ret = add(m, "", 0, name, name_size, n);
	}
	return ret;
}

/* *present NULL: the file has to be there. */
static int read_file(struct mib *m, const char *name, int (*parse)(struct mib *, char *), bool *present, struct err *err)
{
	char path[512];
	int ret = proc_read(name, &m->text, present ? NULL : err);

	if (present)
		*present = !ret;
	if (ret == -ENOENT && present)
		return 0;
	if (ret)
		return present ? proc_read(name, &m->text, err) : ret;
	ret = parse(m, m->text.data);
	if (ret == -EINVAL)
		return err_say(err, EINVAL, "%s: is no file like /proc/net/%s", proc_path(name, path, sizeof(path)), name);
	return ret ? err_sys(err, ret, "memory for the counters of the kernel") : 0;
}

int mib_read(struct mib *m, struct err *err)
{
	bool has_sctp;
	int ret;

	m->n = 0;
	m->names_size = 0;
	ret = read_file(m, "sctp/snmp", parse_list, &has_sctp, err);
	if (!ret)
		ret = read_file(m, "snmp", parse_tables, NULL, err);
	if (!ret)
		ret = read_file(m, "snmp6", parse_list, &m->has_ipv6, err);
	if (!ret)
		ret = read_file(m, "netstat", parse_tables, &m->has_extended, err);
	return ret;
}

bool mib_get(const struct mib *m, const char *name, uint64_t *value)
{
	for (unsigned i = 0; i < m->n; i++) {
		if (!strcmp(m->entry[i].name, name)) {
			*value = m->entry[i].value;
			return true;
		}
	}
	return false;
}

void mib_free(struct mib *m)
{
	free(m->entry);
	free(m->names);
	proc_free(&m->text);
	*m = (struct mib){ 0 };
}
