/* SPDX-License-Identifier: MIT */
/* conf_messages - datagrams that are made before the run take the place of all that says what is in a datagram. */
#include <errno.h>

#include "source/conf.h"
#include "source/payload.h"

/* What says how large datagrams are and what is in them, by the names in the option table. */
static const char *const replaced[] = { "payload", "fill",      "header",   "pktgen-header", "reorder",
					"duplicate", "withhold", "trailer", "gso" };

/* The option that brought them. */
static const char *origin(const struct source_conf *conf)
{
	static const char *const options[] = { "dns", "dns-file", "pcap" };
	unsigned i = 0;

	while (i < ARRAY_SIZE(options) - 1 && !opt_given(&conf->set, options[i]))
		i++;
	return options[i];
}

int conf_settle_messages(struct source_conf *conf, struct err *err)
{
	const struct messages *m = &conf->messages;

	if (!m->n)
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(replaced); i++)
		if (opt_given(&conf->set, replaced[i]))
			return err_say(err, EINVAL, "--%s: not together with --%s, which says what is in each datagram", replaced[i],
				       origin(conf));
	size_free(&conf->size);
	conf->size = (struct size_plan){ .low = m->shortest, .high = m->longest, .mean = messages_mean(m) };
	conf->header = PAYLOAD_PLAIN;
	return 0;
}
