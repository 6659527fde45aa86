/* SPDX-License-Identifier: MIT */
#include "source/questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/util.h"

/* Appends one. Returns -EINVAL without a sentence when the name does not fit with the prefix. */
static int add(const char *name, uint16_t type, const struct questions_conf *conf, struct messages *out, struct err *err)
{
	unsigned char message[DNS_QUERY_MOST];
	struct dns_query q = conf->query;
	size_t prefix = conf->random ? 1 + QUESTIONS_PREFIX : 0;
	struct dns_name parsed;

	if (dns_name_parse(name, &parsed) || parsed.size + prefix > DNS_NAME_MOST)
		return -EINVAL;
	memset(q.name.data, '0', prefix);
	if (prefix)
		q.name.data[0] = QUESTIONS_PREFIX;
	memcpy(q.name.data + prefix, parsed.data, parsed.size);
	q.name.size = prefix + parsed.size;
	q.type = type;
	return messages_add(out, message, dns_query_write(message, &q), err);
}

struct mix {
	unsigned n, sum;
	struct mix_entry {
		uint16_t type;
		int weight, credit;
	} entry[QUESTIONS_TYPES];
};

/* "A:8" or "A", which weighs 1. */
static bool read_entry(struct mix *mix, char *text)
{
	char *colon = strchr(text, ':');
	uint64_t weight = 1;
	struct mix_entry *e = &mix->entry[mix->n];

	if (mix->n == QUESTIONS_TYPES)
		return false;
	if (colon)
		*colon = '\0';
	if (colon && (num_count(colon + 1, &weight) || !weight || weight > QUESTIONS_ROUND))
		return false;
	*e = (struct mix_entry){ .weight = (int)weight };
	mix->sum += (unsigned)weight;
	mix->n++;
	return !dns_type_parse(text, &e->type) && mix->sum <= QUESTIONS_ROUND;
}

static int read_types(const char *text, struct mix *mix, struct err *err)
{
	char *copy = strdup(text), *rest = copy, *piece;
	bool good = true;

	if (!copy)
		return err_sys(err, ENOMEM, "--dns-type %s", text);
	while (good && (piece = strsep(&rest, ",")))
		good = read_entry(mix, piece);
	free(copy);
	return good ? 0 : err_say(err, EINVAL, "--dns-type '%s': expected up to %d of TYPE or TYPE:WEIGHT, such as A:8,AAAA:2, with whole weights up to %d in all", text,
				  QUESTIONS_TYPES, QUESTIONS_ROUND);
}

/* Smooth weighted round robin: each gains its weight, the richest is taken and pays the sum. */
static uint16_t next_type(struct mix *mix)
{
	struct mix_entry *best = mix->entry;

	for (unsigned i = 0; i < mix->n; i++) {
		mix->entry[i].credit += mix->entry[i].weight;
		if (mix->entry[i].credit > best->credit)
			best = &mix->entry[i];
	}
	best->credit -= (int)mix->sum;
	return best->type;
}

int questions_of_name(const char *name, const char *types, const struct questions_conf *conf, struct messages *out, struct err *err)
{
	struct mix mix = { .n = 0 };
	int ret = read_types(types, &mix, err);

	for (unsigned i = 0; i < mix.sum && !ret; i++) {
		ret = add(name, next_type(&mix), conf, out, err);
		if (ret == -EINVAL)
			return err_say(err, EINVAL, "--dns '%s': not a name: labels have 1 to %d bytes, a name %d at most%s", name, DNS_LABEL_MOST,
				       DNS_NAME_MOST, conf->random ? ", the random label among them" : "");
	}
	return ret;
}

static int add_line(char *line, const struct questions_conf *conf, struct messages *out, struct err *err)
{
	static const char blank[] = " \t\r\n";
	char *rest, *name = strtok_r(line, blank, &rest), *type_text = name ? strtok_r(NULL, blank, &rest) : NULL;
	uint16_t type = 1;

	if (!name || *name == '#' || *name == ';')
		return 0;
	if (type_text && dns_type_parse(type_text, &type))
		return -EINVAL;
	return add(name, type, conf, out, err);
}

int questions_of_file(const char *path, const struct questions_conf *conf, struct messages *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!f)
		return err_sys(err, errno, "--dns-file %s", path);
	while (!ret && getline(&line, &room, f) >= 0) {
		number++;
		ret = add_line(line, conf, out, err);
		if (ret == -EINVAL)
			ret = err_say(err, EINVAL, "--dns-file %s, line %u: expected a name and a type, such as: www.example.net AAAA", path, number);
	}
	if (!ret && ferror(f))
		ret = err_sys(err, EIO, "--dns-file %s", path);
	if (!ret && !out->n)
		ret = err_say(err, EINVAL, "--dns-file %s: no question in it", path);
	free(line);
	fclose(f);
	return ret;
}
