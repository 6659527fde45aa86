/* SPDX-License-Identifier: MIT */
/* conf_dns - what is asked: --dns, --dns-file and the options that go with them. */
#include <errno.h>

#include "source/conf.h"
#include "source/questions.h"
#include "source/tx.h"

#define DNS_PORT 53

static int check_given(const struct source_conf *conf, struct err *err)
{
	static const char *const needs[] = { "dns-type", "dns-random", "dns-edns", "dns-do", "dns-cookie", "dns-norecurse", "dns-timeout" };

	for (unsigned i = 0; i < ARRAY_SIZE(needs) && !conf->dns; i++)
		if (opt_given(&conf->set, needs[i]))
			return err_say(err, EINVAL, "--%s: needs --dns or --dns-file", needs[i]);
	if (conf->dns_text && conf->dns_file)
		return err_say(err, EINVAL, "--dns: not together with --dns-file, which has the names");
	if (conf->dns_file && opt_given(&conf->set, "dns-type"))
		return err_say(err, EINVAL, "--dns-type: not together with --dns-file, which has the types");
	if (conf->dns && conf->pcap_text)
		return err_say(err, EINVAL, "--pcap: not together with --dns or --dns-file");
	if (conf->dns && (conf->sender == TX_RAW || conf->fragments.size || conf->bad_text))
		return err_say(err, EINVAL, "--dns: answers come to sockets, and --sender raw, which makes --fragment and --bad, has none for them");
	if (conf->dns && conf->sender == TX_SEGMENT)
		return err_say(err, EINVAL, "--dns: each query is a datagram of its own; use another sender than gso");
	if (conf->dns && !conf->dns_edns && (conf->dns_do || conf->dns_cookie))
		return err_say(err, EINVAL, "--dns-%s: is part of EDNS; not with --dns-edns 0", conf->dns_do ? "do" : "cookie");
	return 0;
}

int conf_settle_dns(struct source_conf *conf, struct err *err)
{
	unsigned char cookie[DNS_COOKIE];
	struct questions_conf questions = {
		.random = conf->dns_random,
		.query = { .recurse = !conf->dns_norecurse, .edns = (uint16_t)conf->dns_edns, .dnssec = conf->dns_do },
	};
	struct random r;
	int ret;

	conf->dns = conf->dns_text || conf->dns_file;
	ret = check_given(conf, err);
	if (ret || !conf->dns)
		return ret;
	random_seed(&r, opt_given(&conf->set, "seed") ? conf->seed : conf->run, DNS_PORT);
	random_fill(&r, cookie, sizeof(cookie));
	questions.query.cookie = conf->dns_cookie ? cookie : NULL;
	if (!opt_given(&conf->set, "port"))
		conf->port = DNS_PORT;
	if (conf->dns_file && !opt_given(&conf->set, "count") && !conf->duration_ns)
		conf->count = 0; /* as many as there are lines: below */
	ret = conf->dns_text ? questions_of_name(conf->dns_text, conf->dns_types, &questions, &conf->messages, err)
			     : questions_of_file(conf->dns_file, &questions, &conf->messages, err);
	if (!ret && !conf->count)
		conf->count = conf->messages.n;
	return ret;
}
