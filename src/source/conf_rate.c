/* SPDX-License-Identifier: MIT */
/* conf_rate - when datagrams are due, and when the run begins and ends: --rate, --pace, --burst, --start-at, --start-on-stdin. */
#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "source/conf.h"
#include "source/tx.h"

/* What has no meaning without --rate. */
static int check_no_rate(const struct source_conf *conf, struct err *err)
{
	static const char *const needs[] = { "pace", "burst" };

	for (unsigned i = 0; i < ARRAY_SIZE(needs); i++)
		if (opt_given(&conf->set, needs[i]))
			return err_say(err, EINVAL, "--%s: needs a --rate", needs[i]);
	return 0;
}

static int check_pace(const struct source_conf *conf, struct err *err)
{
	if (conf->pace == PACER_TXTIME && conf->sender != TX_AUTO && !(tx_table[conf->sender]->caps & TX_GSO))
		return err_say(err, EINVAL, "--pace txtime: %s cannot carry the time of a datagram; use sendmsg, sendmmsg or gso",
			       tx_table[conf->sender]->name);
	if (conf->pace != PACER_FQ)
		return 0;
	if (!rate_is_steady(&conf->rate))
		return err_say(err, EINVAL, "--pace fq: a socket has one rate, not the plan of --%s %s; use txtime", conf->rate_text ? "rate" : "pcap",
			       conf->rate_text ? conf->rate_text : conf->pcap_text);
	if (conf->order.kind != ORDER_ROUND_ROBIN)
		return err_say(err, EINVAL, "--pace fq: each socket has the same rate; not with --flow-order %s", conf->order_text);
	if (conf->sender == TX_RAW)
		return err_say(err, EINVAL, "--pace fq: --sender raw has one socket for all flows");
	return 0;
}

static int read_rate(struct source_conf *conf, struct err *err)
{
	int ret;

	if (conf->rate.times)
		return check_pace(conf, err);
	if (!conf->rate_text)
		return check_no_rate(conf, err);
	ret = rate_parse(conf->rate_text, conf->size.mean, &conf->rate, err);
	if (ret)
		return ret;
	if (conf->rate.end_ns != UINT64_MAX) {
		conf->until_ns = conf->until_ns ? MIN(conf->until_ns, conf->rate.end_ns) : conf->rate.end_ns;
		if (!opt_given(&conf->set, "count"))
			conf->count = UINT64_MAX;
	}
	return check_pace(conf, err);
}

/* main puts something that cannot be read where standard input was closed. */
static bool stdin_is_readable(void)
{
	int flags = fcntl(0, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

static int read_start(struct source_conf *conf, struct err *err)
{
	conf->start.on_stdin = conf->start_on_stdin;
	if (conf->start_at_text && conf->start_on_stdin)
		return err_say(err, EINVAL, "--start-at: not together with --start-on-stdin");
	if (conf->start_on_stdin && !stdin_is_readable())
		return err_say(err, EINVAL, "--start-on-stdin: standard input is closed, or open for writing only");
	return conf->start_at_text ? start_parse(conf->start_at_text, clock_wall(), &conf->start.at_ns, err) : 0;
}

int conf_settle_rate(struct source_conf *conf, struct err *err)
{
	int ret;

	conf->until_ns = conf->duration_ns;
	ret = read_rate(conf, err);
	return ret ? ret : read_start(conf, err);
}
