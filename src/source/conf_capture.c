/* SPDX-License-Identifier: MIT */
/* conf_capture - what is replayed, and when: --pcap, --pcap-filter, --pcap-speed. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "source/conf.h"
#include "source/tx.h"

static int read_speed(struct source_conf *conf, struct err *err)
{
	const char *text = conf->pcap_speed_text;

	conf->pcap_speed = 1;
	if (!text)
		return 0;
	if (!strcmp(text, "max"))
		conf->pcap_speed = 0;
	else if (num_decimal(text, &conf->pcap_speed) || conf->pcap_speed < 0.000001 || conf->pcap_speed > 1000000)
		return err_say(err, EINVAL, "--pcap-speed %s: expected a factor from 0.000001 to 1000000, or max", text);
	if (conf->rate_text)
		return err_say(err, EINVAL, "--pcap-speed: not together with --rate, which takes the place of the times of the capture");
	return 0;
}

static int check_capture(const struct source_conf *conf, struct err *err)
{
	static const char *const needs[] = { "pcap-filter", "pcap-speed" };

	for (unsigned i = 0; i < ARRAY_SIZE(needs) && !conf->pcap_text; i++)
		if (opt_given(&conf->set, needs[i]))
			return err_say(err, EINVAL, "--%s: needs --pcap", needs[i]);
	return 0;
}

int conf_settle_capture(struct source_conf *conf, struct err *err)
{
	int ret = check_capture(conf, err);

	if (ret || !conf->pcap_text)
		return ret;
	ret = read_speed(conf, err);
	if (!ret)
		ret = capture_load(conf->pcap_text, conf->pcap_filter, &conf->messages, &conf->capture, err);
	if (ret)
		return ret;
	if (!conf->rate_text && conf->pcap_speed > 0)
		rate_from_times(&conf->rate, conf->messages.due_ns, conf->messages.n, conf->pcap_speed);
	if (!opt_given(&conf->set, "count") && !conf->duration_ns)
		conf->count = conf->messages.n;
	return 0;
}
