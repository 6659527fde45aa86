/* SPDX-License-Identifier: MIT */
/* conf_raw - what only --sender raw can do: fragments, bad packets; and source ports. */
#include <errno.h>

#include "source/conf.h"
#include "source/tx.h"

#define DISCARD 9 /* RFC 863: a port where hardly anybody listens */

/* The port above all destinations. */
static int find_closed_port(struct source_conf *conf, struct err *err)
{
	unsigned last = conf->to.first_port + conf->to.ports - 1;

	conf->bad.closed_port = last < 65535 ? (uint16_t)(last + 1) : DISCARD;
	if (last == 65535 && conf->to.first_port <= DISCARD)
		return err_say(err, EINVAL, "--bad closed-port: with --dst-ports %s no port is left over for it",
			       conf->ports_text);
	return 0;
}

static int read_bad(struct source_conf *conf, struct err *err)
{
	int ret = conf->bad_text ? bad_parse(conf->bad_text, &conf->bad, err) : 0;

	return !ret && bad_has(&conf->bad, BAD_CLOSED_PORT) ? find_closed_port(conf, err) : ret;
}

int conf_settle_raw(struct source_conf *conf, struct err *err)
{
	bool asked = conf->fragments.size || conf->bad_text;
	int ret = 0;

	conf->automatic = conf->sender == TX_AUTO;
	if (conf->automatic && asked)
		conf->sender = TX_RAW;
	if (asked && conf->sender != TX_RAW)
		return err_say(err, EINVAL, "--%s: only --sender raw writes packets itself",
			       conf->bad_text ? "bad" : "fragment");
	if (conf->src_ports_text)
		ret = range_parse_ports("src-ports", conf->src_ports_text, &conf->src_ports, err);
	else if (conf->sender == TX_RAW)
		conf->src_ports = (struct range_ports){ RAW_FIRST_PORT, RAW_PORTS };
	if (conf->sender == TX_RAW)
		conf->addressed = true;
	return ret ? ret : read_bad(conf, err);
}

/* The first of these options that was given; NULL: none. */
static const char *first_given(const struct source_conf *conf, const char *const *names)
{
	while (*names && !opt_given(&conf->set, *names))
		names++;
	return *names;
}

static int check_fragments(const struct source_conf *conf, struct err *err)
{
	static const char *const whole[] = { "fragment-order", "fragment-overlap", "fragment-duplicate",
					     "fragment-hole", NULL };
	static const char *const all[] = { "fragment-order", "fragment-overlap", "fragment-duplicate",
					   "fragment-hole", "frag-attack", NULL };
	/* Options that need more than one fragment in every datagram. */
	static const char *const several[] = { "fragment-overlap", "fragment-duplicate", "fragment-hole",
					       "frag-attack", NULL };
	const struct fragments_conf *f = &conf->fragments;
	const char *given = first_given(conf, all);
	unsigned least = f->attack == FRAGMENTS_MIDDLE ? 3 : 2;

	if (!f->size)
		return given ? err_say(err, EINVAL, "--%s: give the size of fragments too, --fragment BYTES", given) : 0;
	if (f->size % 8)
		return err_say(err, EINVAL, "--fragment %d: must be a multiple of 8, the unit of fragment offsets", f->size);
	if (conf->bad_text)
		return err_say(err, EINVAL, "--bad: bad packets are whole ones, not together with --fragment");
	given = first_given(conf, whole);
	if (f->attack && given)
		return err_say(err, EINVAL, "--%s: not together with --frag-attack, which sends one fragment of each datagram",
			       given);
	given = first_given(conf, several);
	if (given && wire_parts(conf->size.low + WIRE_UDP, (unsigned)f->size) < least)
		return err_say(err, EINVAL, "--%s: needs %u fragments or more, and %u bytes of payload make %u of --fragment %d",
			       given, least, conf->size.low, wire_parts(conf->size.low + WIRE_UDP, (unsigned)f->size), f->size);
	return 0;
}

int conf_check_raw(const struct source_conf *conf, struct err *err)
{
	if (conf->sender == TX_RAW && addr_is_mapped(&conf->dst))
		return err_say(err, EINVAL, "--sender raw: give the IPv4 address itself, not its mapped form");
	if (conf->sender == TX_RAW && conf->pmtu >= 0 && conf->pmtu != IP_PMTUDISC_DO)
		return err_say(err, EINVAL,
			       "--pmtu %d: the kernel does not fragment raw packets; --df sets the bit, --fragment makes fragments",
			       conf->pmtu);
	if (conf->fragments.size && conf->pmtu >= 0)
		return err_say(err, EINVAL, "--df: not together with --fragment");
	return check_fragments(conf, err);
}
