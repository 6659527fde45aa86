/* SPDX-License-Identifier: MIT */
#include "source/choose.h"

#include <errno.h>

#include "base/log.h"
#include "source/tx.h"

/* Datagrams of this size that fit into the largest message. */
static unsigned fitting(const struct source_conf *conf)
{
	return MAX(SIZE_MAX_PAYLOAD / MAX(conf->size.high, 1), 1);
}

/* The largest divisor of n that is not above limit. */
static unsigned divisor(uint64_t n, unsigned limit)
{
	while (n % limit)
		limit--;
	return limit;
}

/* A message goes to one destination: it has to end where the destination changes. */
static unsigned within_length(const struct source_conf *conf, unsigned segments)
{
	return conf->to.n > 1 && conf->flow_length ? divisor(conf->flow_length, segments) : segments;
}

/* What keeps messages from being larger than conf->segments. */
static const char *bound(const struct source_conf *conf)
{
	if (conf->segments == conf->probe.limit)
		return conf->probe.limit == 1 ? conf->probe.why : "the kernel takes no more";
	if (conf->segments == fitting(conf))
		return "no more of this size fit into a message";
	return "a message goes to one destination, and --flow-length is a multiple of this";
}

static int settle_gso(struct source_conf *conf, struct err *err)
{
	unsigned asked = conf->gso ? conf->gso : UINT32_MAX;

	gso_probe(addr_packet_family(&conf->dst), &conf->probe);
	conf->segments = within_length(conf, MIN(MIN(asked, conf->probe.limit), fitting(conf)));
	if (conf->segments == 1 && conf->gso_require)
		return err_say(err, EOPNOTSUPP, "--gso require: one datagram per message: %s", bound(conf));
	if (conf->segments == 1)
		log_notice("one datagram per message: %s", bound(conf));
	else if (conf->segments < conf->gso)
		log_notice("%u datagrams per message: %s", conf->segments, bound(conf));
	return 0;
}

/* Why large messages would not be the traffic that was asked for; NULL: they would. */
static const char *unwanted(const struct source_conf *conf, const struct flows *flows)
{
	if (conf->lite)
		return "UDP-Lite has no segmentation";
	if (conf->messages.n)
		return "each datagram is one of its own";
	if (!size_is_fixed(&conf->size))
		return "the sizes vary";
	if (!conf->size.high)
		return "the datagrams are empty";
	if (flows->fragments > 1)
		return "the datagrams do not fit the path MTU";
	if (conf->to.n > 1 && conf->to.length == 1)
		return "each datagram goes to another destination";
	if (conf->rate.n)
		return "a rate is kept datagram by datagram";
	return NULL;
}

static int choose(struct source_conf *conf, const struct flows *flows, struct err *err)
{
	const char *why = conf->gso_text ? NULL : unwanted(conf, flows);
	int rc = 0;

	if (why)
		log_notice("sender: sendmmsg without GSO: %s", why);
	else if (conf->gso != 1)
		rc = settle_gso(conf, err);
	conf->sender = conf->segments > 1 ? TX_SEGMENT : TX_SENDMMSG;
	if (!rc && !why)
		log_notice("sender: %s, %u datagram%s per message", tx_table[conf->sender]->name, conf->segments,
			   conf->segments > 1 ? "s" : "");
	return rc;
}

int choose_sender(struct source_conf *conf, const struct flows *flows, struct err *err)
{
	conf->segments = 1;
	if (conf->automatic && conf->sender == TX_RAW)
		log_notice("sender: raw: %s", conf->bad_text ? "no other makes bad packets" : "no other makes fragments");
	if (conf->sender == TX_AUTO)
		return choose(conf, flows, err);
	return conf->gso == 1 ? 0 : settle_gso(conf, err);
}
