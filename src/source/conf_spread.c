/* SPDX-License-Identifier: MIT */
/* conf_spread - source ports that are chosen by what a receiver makes of them: --spread, --rss-key. */
#include <errno.h>

#include "base/log.h"
#include "source/conf.h"

/* What keeps a flow from having one queue, or us from knowing it. */
static int check_traffic(const struct source_conf *conf, struct err *err)
{
	if (conf->to.n > 1)
		return err_say(err, EINVAL, "--spread: a flow to more than one destination has more than one queue; give one");
	if (conf->fragments.size)
		return err_say(err, EINVAL, "--spread: fragments carry no ports to choose a queue by; not together with --fragment");
	if (conf->lite)
		return err_say(err, EINVAL, "--spread: network cards do not look at the ports of UDP-Lite; not together with --lite");
	return 0;
}

/* What was assumed although a device was named. */
static void notice_assumed(const struct spread_plan *plan)
{
	const struct rss *rss = &plan->rss;

	if (!plan->device || (rss->own_key && rss->own_table))
		return;
	log_notice("--spread: %s does not tell its %s: the standard one is assumed", plan->device,
		   rss->own_key ? "indirection table" : rss->own_table ? "hash key" : "hash key and indirection table");
}

int conf_settle_spread(struct source_conf *conf, struct err *err)
{
	int ret;

	if (!conf->spread_text)
		return conf->rss_key_text ? err_say(err, EINVAL, "--rss-key: only with --spread rss:Q") : 0;
	ret = spread_parse(conf->spread_text, conf->rss_key_text, &conf->spread, err);
	if (!ret)
		ret = check_traffic(conf, err);
	if (!ret)
		notice_assumed(&conf->spread);
	return ret;
}
