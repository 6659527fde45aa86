/* SPDX-License-Identifier: MIT */
#include "sink/dropped.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"

/* In the order of enum reasons_scope: in records, and behind the lines for people. */
static const struct {
	const char *name, *text;
} scopes[] = {
	{ "ours", "" },
	{ "namespace_unknown", " (to our port; in which network namespace is not known)" },
	{ "unparsed", " (without a port that can be read: whose is not known)" },
};

int dropped_open(struct dropped *d, const struct setup *setup, struct err *err)
{
	const struct sock_set *set = &setup->set;
	struct reasons_conf conf = { .n = set->n, .protocol = setup->conf->lite ? IPPROTO_UDPLITE : IPPROTO_UDP };
	uint16_t *ports;
	int ret;

	if (!setup->conf->drop_reasons)
		return 0;
	if (!set->n)
		return err_say(err, EINVAL, "--drop-reasons looks for packets to the ports of the sockets, and this engine has none");
	ports = calloc(set->n, sizeof(*ports));
	if (!ports)
		return err_sys(err, ENOMEM, "list of ports");
	for (unsigned i = 0; i < set->n; i++)
		ports[i] = addr_port(&set->sock[i].local);
	conf.ports = ports;
	ret = reasons_open(&d->reasons, &conf, err);
	free(ports);
	return ret ? err_prefix(err, "--drop-reasons: ") : 0;
}

static int copy(struct reason_list *to, const struct reason_list *from)
{
	*to = *from;
	to->count = calloc(MAX(from->n, 1u), sizeof(*to->count));
	if (!to->count)
		return -ENOMEM;
	if (from->n)
		memcpy(to->count, from->count, from->n * sizeof(*to->count));
	return 0;
}

int dropped_take(struct dropped *d, struct err *err)
{
	struct reason_list now;
	int ret = d->reasons ? reasons_read(d->reasons, &now, err) : 0;

	if (ret || !d->reasons)
		return ret;
	reasons_list_free(&d->run);
	if (copy(&d->run, &now)) {
		reasons_list_free(&now);
		return err_sys(err, ENOMEM, "memory for drop reasons");
	}
	reasons_list_since(&d->run, &d->before);
	reasons_list_free(&d->before);
	d->before = now;
	return 0;
}

const struct reason_list *dropped_run(const struct dropped *d)
{
	return d->reasons ? &d->run : NULL;
}

void dropped_print(const struct reason_list *list, FILE *out)
{
	for (unsigned i = 0; list && i < list->n; i++) {
		const struct reason_count *c = &list->count[i];

		fprintf(out, "  dropped in the kernel: %s %" PRIu64 " packets", c->name, c->packets);
		if (c->scope != REASONS_UNPARSED)
			fprintf(out, ", %" PRIu64 " datagrams", c->datagrams);
		fprintf(out, "%s\n", scopes[c->scope].text);
	}
	if (list && list->missed)
		fprintf(out, "  dropped in the kernel, by anybody, and not looked at: %" PRIu64 " packets\n", list->missed);
}

static json_t *reason_record(const struct reason_count *c)
{
	json_t *o = json_object();

	record_add_text(o, "reason", c->name);
	record_add_text(o, "scope", scopes[c->scope].name);
	record_add_uint(o, "packets", c->packets);
	if (c->scope == REASONS_UNPARSED)
		record_add(o, "datagrams", json_null());
	else
		record_add_uint(o, "datagrams", c->datagrams);
	return o;
}

void dropped_record(const struct reason_list *list, json_t *record)
{
	json_t *all = list ? json_array() : json_null();

	for (unsigned i = 0; list && i < list->n; i++)
		json_array_append_new(all, reason_record(&list->count[i]));
	record_add(record, "drop_reasons", all);
	if (list)
		record_add_uint(record, "drop_reasons_missed", list->missed);
	else
		record_add(record, "drop_reasons_missed", json_null());
}

void dropped_close(struct dropped *d)
{
	reasons_close(d->reasons);
	reasons_list_free(&d->before);
	reasons_list_free(&d->run);
	*d = (struct dropped){ 0 };
}
