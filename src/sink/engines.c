/* SPDX-License-Identifier: MIT */
#include "sink/engines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/handler.h"

static enum engine_wait wait_of(const struct setup *s, const struct engine_ops *ops)
{
	if (s->conf->dontwait)
		return ENGINE_WAIT_SPIN;
	if (s->conf->wait)
		return (enum engine_wait)(s->conf->wait - 1);
	return s->per_slot == 1 && !s->conf->connect_each && !(ops->caps & ENGINE_MULTI) ? ENGINE_WAIT_BLOCK :
											     ENGINE_WAIT_POLL;
}

/* Control buffer for what any of our sockets delivers; without sockets (--list-engines), for the largest there could be. */
static unsigned control_of(const struct setup *s)
{
	size_t most = s->set.n ? 0 : cmsg_space(s->want, AF_INET6, true);

	for (unsigned i = 0; i < s->set.n; i++)
		most = MAX(most, cmsg_space(s->set.sock[i].want, s->set.sock[i].family, s->set.sock[i].dual));
	return (unsigned)most;
}

static void configure(const struct setup *s, const struct engine_ops *ops, struct engine_conf *out)
{
	const struct sink_conf *c = s->conf;
	unsigned bits = handler_bits(c, ops, s->dual, s->workers);

	*out = (struct engine_conf){
		.batch = (unsigned)c->batch, .buffer_size = c->gro ? 65535 : c->buffer_size, .nr_iovec = (unsigned)c->nr_iovec,
		.wait = wait_of(s, ops), .sk_timeout_ns = c->sk_timeout, .waitforone = c->waitforone,
		.mmsg_timeout_ns = c->timeout ? (int64_t)c->timeout : -1, .no_copy = c->no_copy,
		.need_src = bits & (HANDLER_FAMILY | HANDLER_FLOWS | HANDLER_SENDER | HANDLER_EACH),
		.control_size = control_of(s), .bad_ptr = (unsigned)c->bad_ptr, .gro = c->gro,
		.work_payload = (unsigned)c->null_payload,
	};
	out->parse |= bits & (HANDLER_DEST | HANDLER_EACH) ? CMSG_WANT_PKTINFO : 0;
	out->parse |= bits & HANDLER_FIELDS ? s->want & (CMSG_WANT_TOS | CMSG_WANT_TTL | CMSG_WANT_DROPS) : 0;
	out->parse |= c->gro ? CMSG_WANT_GRO : 0;
}

static void add(struct setup *s, const struct engine_ops *ops)
{
	struct setup_engine *e = &s->engine[s->engines++];

	e->ops = ops;
	configure(s, ops, &e->conf);
	e->skipped = engine_check(ops, &e->conf, s->per_slot, &e->why) != 0;
}

static unsigned table_length(void)
{
	unsigned n = 0;

	while (engine_table[n])
		n++;
	return n;
}

static int add_auto(struct setup *s, struct err *err)
{
	struct engine_conf conf;
	const struct engine_ops *ops;

	configure(s, engine_find("recvmmsg"), &conf);
	ops = engine_auto(&conf, s->per_slot, s->choice, sizeof(s->choice));
	if (!ops)
		return err_say(err, ENOTSUP, "--engine auto: no engine can do this: %.300s", s->choice);
	add(s, ops);
	return 0;
}

/* One comma separated piece of --engine. data: struct setup. */
static int add_named(void *data, const char *name, struct err *err)
{
	struct setup *s = data;

	if (strcmp(name, "auto") == 0)
		return add_auto(s, err);
	if (strcmp(name, "all") == 0) {
		for (unsigned i = 0; engine_table[i]; i++)
			if (!(engine_table[i]->caps & ENGINE_NO_SOCKET))
				add(s, engine_table[i]);
		return 0;
	}
	add(s, engine_find(name));
	if (s->engine[s->engines - 1].skipped) {
		*err = s->engine[s->engines - 1].why;
		return -err->code;
	}
	return 0;
}

/* "recv, epoll" in an options file. Changes text. */
static char *trimmed(char *text)
{
	text += strspn(text, " \t");
	text[strcspn(text, " \t")] = '\0';
	return text;
}

/* Calls `call` for each name of --engine, until one fails. */
static int for_names(const struct sink_conf *conf, int (*call)(void *data, const char *name, struct err *err), void *data,
		     struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < conf->engines.n; i++) {
		char *copy = strdup(conf->engines.text[i]), *rest = copy, *name;

		if (!copy)
			return err_sys(err, ENOMEM, "--engine %s", conf->engines.text[i]);
		while (!rc && (name = strsep(&rest, ",")))
			rc = call(data, trimmed(name), err);
		free(copy);
	}
	return rc;
}

/* data: the capabilities of all named engines together. */
static int check_name(void *data, const char *name, struct err *err)
{
	const struct engine_ops *ops = engine_find(name);
	unsigned *caps = data;

	if (!ops && strcmp(name, "all") && strcmp(name, "auto"))
		return err_say(err, EINVAL, "--engine '%s': no such engine; --list-engines shows them", name);
	*caps |= ops ? ops->caps : ~0u;
	return 0;
}

int engines_check(const struct sink_conf *conf, struct err *err)
{
	unsigned caps = conf->engines.n ? 0 : ~0u;
	int rc = for_names(conf, check_name, &caps, err);

	if (!rc && !(caps & ENGINE_BATCH) && (conf->timeout || conf->waitforone))
		rc = err_say(err, EINVAL, "--%s is an argument of recvmmsg(2), and no engine that was named calls it",
			     conf->timeout ? "timeout" : "waitforone");
	return rc;
}

/* Upper bound of entries: every comma may bring the whole table. */
static unsigned most_entries(const struct sink_conf *conf)
{
	unsigned pieces = conf->engines.n + 1;

	for (unsigned i = 0; i < conf->engines.n; i++)
		for (const char *c = conf->engines.text[i]; *c; c++)
			pieces += *c == ',';
	return pieces * table_length();
}

static int need_one(const struct setup *s, struct err *err)
{
	for (unsigned i = 0; i < s->engines; i++)
		if (!s->engine[i].skipped)
			return 0;
	*err = s->engine[0].why;
	return -err->code;
}

int engines_open(struct setup *s, struct err *err)
{
	const struct sink_conf *conf = s->conf;
	int rc;

	s->engine = calloc(most_entries(conf), sizeof(*s->engine));
	if (!s->engine)
		return err_sys(err, ENOMEM, "list of engines");
	rc = for_names(conf, add_named, s, err);
	for (unsigned i = 0; !rc && !conf->engines.n && engine_table[i]; i++)
		if (engine_table[i]->caps & ENGINE_CLASSIC)
			add(s, engine_table[i]);
	return rc ? rc : need_one(s, err);
}

void engines_close(struct setup *s)
{
	free(s->engine);
	s->engine = NULL;
	s->engines = 0;
}

int engines_list(const struct sink_conf *conf, FILE *out, struct err *err)
{
	struct setup s = { .conf = conf, .per_slot = conf->listen.n ? conf->listen.n : 1, .workers = 1,
			   .want = setup_want(conf) };

	s.engine = calloc(table_length(), sizeof(*s.engine));
	if (!s.engine)
		return err_sys(err, ENOMEM, "list of engines");
	for (unsigned i = 0; engine_table[i]; i++) {
		add(&s, engine_table[i]);
		fprintf(out, "%-10s %-4s %s\n", engine_table[i]->name, s.engine[i].skipped ? "no" : "yes",
			s.engine[i].skipped ? s.engine[i].why.text : engine_table[i]->summary);
	}
	engines_close(&s);
	return 0;
}
