/* SPDX-License-Identifier: MIT */
/* udp_sink: order of start-up and tear-down; everything else is in the modules named here. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/version.h"
#include "sink/engines.h"
#include "sink/env.h"
#include "sink/run.h"
#include "sink/watch.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int fail(const struct err *err, int code)
{
	log_error("%s", err->text);
	return code;
}

/* --version, --dump-options, --dump-counters, --list-engines: print and be done. */
static bool prints_only(const struct sink_conf *conf)
{
	return conf->version || conf->dump_options || conf->dump_counters || conf->list_engines;
}

static int print(const struct opt_set *set, const struct sink_conf *conf)
{
	struct err err = ERR_INIT;

	if (conf->version)
		version_print(stdout, "udp_sink", conf->verbose > 0);
	else if (conf->dump_options)
		opt_print_table(set, stdout);
	else if (conf->dump_counters)
		for (unsigned i = 0; i < STATS_COUNTER_COUNT; i++)
			printf("%s\t%s\t%s\n", stats_info[i].name, stats_info[i].unit, stats_info[i].help);
	else if (engines_list(conf, stdout, &err))
		return fail(&err, EXIT_FAILED);
	return EXIT_OK;
}

/* --connect without an address: the first datagram tells the peer. */
static int connect_first(struct run_context *c, struct err *err)
{
	struct setup *s = c->setup;
	struct addr peer;
	int rc;

	if (!s->conf->connect || s->peer.len || !s->set.n)
		return 0;
	rc = run_announce(c, err);
	if (rc || !control_wait_readable(c->control, s->set.sock[0].fd))
		return rc;
	rc = setup_first_sender(s, &peer);
	return rc ? err_sys(err, rc, "--connect: source of the first datagram") : setup_connect(s, &peer, err);
}

/* What a voice returned. */
static int said(int rc, struct err *err)
{
	return rc ? err_sys(err, rc, "write to standard output") : 0;
}

static int run_all(struct run_context *c, struct err *err)
{
	const struct setup *s = c->setup;
	int rc = connect_first(c, err);

	if (!rc)
		rc = said(c->voice->header(c->header), err);
	if (!rc) /* what was dropped before the first run is not a run's */
		rc = dropped_take(&c->dropped, err);
	for (unsigned i = 0; !rc && i < s->engines; i++) {
		if (s->engine[i].skipped)
			rc = said(c->voice->skipped(&s->engine[i]), err);
		for (unsigned n = 0; !rc && !s->engine[i].skipped && n < (unsigned)s->conf->repeat; n++)
			if (!control_signal(c->control))
				rc = run_execute(c, &s->engine[i], n, err);
	}
	return rc;
}

static int measure(struct run_context *c, struct err *err)
{
	int rc = setup_open(c->setup, err);

	if (!rc)
		rc = engines_open(c->setup, err);
	if (!rc)
		rc = dropped_open(&c->dropped, c->setup, err);
	if (!rc)
		rc = account_open(&c->account, c->setup, err);
	if (!rc)
		rc = run_all(c, err);
	account_close(&c->account);
	dropped_close(&c->dropped);
	engines_close(c->setup);
	return rc;
}

/* Signals are in hand before anything is opened that has to be closed. */
static int control(struct setup *setup, struct report_header *header, struct err *err)
{
	const struct sink_conf *conf = setup->conf;
	struct run_context c = { .setup = setup, .voice = report_voice(conf->format), .header = header };
	int rc;

	c.control = control_new(err);
	if (!c.control)
		return -err->code;
	c.progress = conf->format == CONF_TEXT && !conf->interval && isatty(STDERR_FILENO);
	rc = engine_init(err);
	if (!rc)
		rc = measure(&c, err);
	control_free(c.control);
	counted_free(&c.counted);
	free(c.carry.drops);
	return rc;
}

static int run(const struct opt_set *options, struct sink_conf *conf, int argc, char **argv)
{
	struct setup setup;
	struct guardian guardian;
	struct err err = ERR_INIT;
	char run_id[16];
	struct report_header header = { .setup = &setup, .options = options, .argc = argc, .argv = argv, .guardian = &guardian };
	int rc;

	log_setup("udp_sink", LOG_NOTICE + MIN(conf->verbose, LOG_DEBUG - LOG_NOTICE));
	if (conf_check(options, conf, &err))
		return fail(&err, EXIT_USAGE);
	if (conf->watch)
		return watch_run(conf, &err) ? fail(&err, EXIT_FAILED) : EXIT_OK;
	if (engines_check(conf, &err) || setup_plan(&setup, conf, &err))
		return fail(&err, EXIT_USAGE);
	rc = guardian_start(&guardian, conf->early_demux, &err);
	if (!rc) {
		header.run_id = env_run_id(run_id, sizeof(run_id));
		rc = control(&setup, &header, &err);
	}
	setup_close(&setup);
	guardian_stop(&guardian);
	return rc ? fail(&err, EXIT_FAILED) : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct sink_conf conf = { 0 };
	struct opt_set options;
	struct err err = ERR_INIT;
	enum opt_next next;
	int code = EXIT_OK;

	util_standard_fds();
	log_setup("udp_sink", LOG_NOTICE);
	conf_options(&options, &conf);
	if (opt_parse(&options, argc, argv, &next, &err))
		return fail(&err, EXIT_USAGE);
	if (next == OPT_RUN)
		code = prints_only(&conf) ? print(&options, &conf) : run(&options, &conf, argc, argv);
	opt_free(&options);
	return code || !said(report_flush(), &err) ? code : fail(&err, EXIT_FAILED);
}
