/* SPDX-License-Identifier: MIT */
/* Options about the counters of the kernel. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "sink/conf.h"

/* What --watch has a use for; all else is about receiving. */
static const char *const watch_takes[] = { "watch", "nstat", "zeros", "ethtool", "softnet", "interval", "duration", "count", "format", "verbose",
					   "config" };

static bool watch_knows(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(watch_takes); i++)
		if (!strcmp(watch_takes[i], name))
			return true;
	return false;
}

static int check_watch(const struct opt_set *set, struct sink_conf *conf, struct err *err)
{
	for (const struct opt *t = set->table; t->name; t++)
		if (!watch_knows(t->name) && conf_in_force(set, t->name))
			return err_say(err, EINVAL, "--watch and --%s exclude each other: it receives nothing, it shows the counters of the kernel",
				       t->name);
	if (conf->format == CONF_CLASSIC)
		return err_say(err, EINVAL, "--watch and --format classic exclude each other: that has lines of runs only; use text or json");
	if (!opt_given(set, "interval"))
		conf->interval = NSEC_PER_SEC;
	if (!opt_given(set, "count"))
		conf->count = 0;
	return 0;
}

int conf_check_counted(const struct opt_set *set, struct sink_conf *conf, struct err *err)
{
	bool nstat = conf->nstat != CONF_NSTAT_OFF || conf->watch;

	if (set->operands.n && !nstat)
		return err_say(err, EINVAL, "unexpected argument '%s': addresses are given with --listen", set->operands.text[0]);
	conf->patterns = set->operands;
	if (conf->zeros && !nstat)
		return err_say(err, EINVAL, "--zeros: shows what did not change among the counters of --nstat or --watch: give one of them");
	if (conf->format == CONF_JSON && conf->nstat == CONF_NSTAT_TEXT)
		return err_say(err, EINVAL, "--nstat text and --format json exclude each other: a table would stand among the JSON lines");
	for (unsigned i = 0; i < conf->ethtool.n; i++)
		if (!conf->ethtool.text[i][0] || strlen(conf->ethtool.text[i]) >= IFNAMSIZ)
			return err_say(err, EINVAL, "--ethtool '%s': the name of an interface has 1 to %d characters", conf->ethtool.text[i], IFNAMSIZ - 1);
	return conf->watch ? check_watch(set, conf, err) : 0;
}
