/* SPDX-License-Identifier: MIT */
#include "sink/counted.h"

#include <errno.h>
#include <stdio.h>

#include "counters/ethtool_show.h"
#include "counters/nstat.h"
#include "counters/softnet_show.h"
#include "sink/report.h"

static bool shows_mib(const struct sink_conf *conf)
{
	return conf->nstat != CONF_NSTAT_OFF || conf->watch;
}

static bool asked(const struct sink_conf *conf)
{
	return shows_mib(conf) || conf->softnet || conf->ethtool.n;
}

static bool json(const struct sink_conf *conf)
{
	return conf->format == CONF_JSON || conf->nstat == CONF_NSTAT_JSON;
}

static int take(struct snapshot *s, const struct sink_conf *conf, struct err *err)
{
	const struct snapshot_want want = {
		.mib = shows_mib(conf), .softnet = conf->softnet, .device = conf->ethtool.text, .devices = conf->ethtool.n,
	};

	return snapshot_read(s, &want, err);
}

int counted_begin(struct counted *c, const struct sink_conf *conf, struct err *err)
{
	return asked(conf) ? take(&c->from, conf, err) : 0;
}

static int print_softnet(const struct counted *c, bool as_json, uint64_t ns)
{
	struct softnet window = { 0 };
	int rc = softnet_since(&c->from.softnet, &c->to.softnet, &window);

	if (!rc && as_json)
		rc = softnet_show_json(stdout, &window, ns);
	else if (!rc)
		softnet_show_text(stdout, &window, ns);
	softnet_free(&window);
	return rc;
}

static int print(const struct counted *c, const struct sink_conf *conf, uint64_t ns)
{
	const struct nstat_view view = { .zeros = conf->zeros, .pattern = conf->patterns.text, .patterns = conf->patterns.n };
	bool as_json = json(conf);
	int rc = 0;

	if (shows_mib(conf) && as_json)
		rc = nstat_json(stdout, &c->from.mib, &c->to.mib, ns, &view);
	else if (shows_mib(conf))
		nstat_text(stdout, &c->from.mib, &c->to.mib, ns, &view);
	for (unsigned i = 0; i < c->to.devices && !rc; i++)
		rc = (as_json ? ethtool_show_json : ethtool_show_text)(stdout, &c->from.ethtool[i], &c->to.ethtool[i], ns);
	if (!rc && conf->softnet)
		rc = print_softnet(c, as_json, ns);
	return rc ? rc : report_flush();
}

int counted_print(struct counted *c, const struct sink_conf *conf, struct err *err)
{
	struct snapshot swap;
	int rc;

	if (!asked(conf))
		return 0;
	rc = take(&c->to, conf, err);
	if (rc)
		return rc;
	rc = print(c, conf, clock_elapsed(c->from.mono_ns, c->to.mono_ns));
	swap = c->from;
	c->from = c->to;
	c->to = swap;
	return rc ? err_sys(err, rc, "write the counters of the kernel to standard output") : 0;
}

void counted_free(struct counted *c)
{
	snapshot_free(&c->from);
	snapshot_free(&c->to);
}
