/* SPDX-License-Identifier: MIT */
#include "source/spread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "net/sock.h"
#include "net/sysctl.h"

/* The kernel's own choice of ports, where it cannot be read (net.ipv4.ip_local_port_range of Linux). */
#define FIRST_PORT 32768
#define LAST_PORT 60999
#define LEAST_PORT 1024 /* those below need privilege */

static const char *const names[] = { [SPREAD_RSS] = "rss", [SPREAD_SINK] = "sink" };

const char *spread_name(enum spread_kind kind)
{
	return names[kind];
}

/* text: behind the colon. *rest: what follows the number. */
static int read_queues(const char *text, const char *whole, unsigned *queues, const char **rest, struct err *err)
{
	size_t digits = strcspn(text, ":");
	char number[16];
	uint64_t n = 0;

	snprintf(number, sizeof(number), "%.*s", (int)MIN(digits, sizeof(number)), text);
	if (digits >= sizeof(number) || num_count(number, &n) || n < 1 || n > RSS_QUEUES_MOST)
		return err_say(err, EINVAL, "--spread %s: expected a number from 1 to %d behind the first colon", whole, RSS_QUEUES_MOST);
	*queues = (unsigned)n;
	*rest = text + digits;
	return 0;
}

static int read_rss(struct spread_plan *plan, const char *key, struct err *err)
{
	int ret = rss_standard(&plan->rss, plan->queues, err);

	if (ret)
		return ret;
	if (key && plan->device)
		return err_say(err, EINVAL, "--rss-key: not together with a device in --spread, which tells its key itself");
	if (key)
		return toeplitz_parse_key("rss-key", key, &plan->rss.key, err);
	if (plan->device && rss_read(&plan->rss, plan->device, err))
		return err_prefix(err, "--spread: ");
	return 0;
}

int spread_parse(const char *text, const char *key, struct spread_plan *out, struct err *err)
{
	const char *rest = NULL;
	int ret;

	*out = (struct spread_plan){ .kind = SPREAD_NONE };
	if (!strncmp(text, "reuseport:", 10))
		return err_say(err, EINVAL, "--spread %s: the kernel chooses a socket of a SO_REUSEPORT group by a hash with a secret of the receiving "
			       "host, which no sender can compute; use many --flows, or udp_sink --connect-each with --spread sink:N", text);
	if (!strncmp(text, "rss:", 4))
		out->kind = SPREAD_RSS;
	else if (!strncmp(text, "sink:", 5))
		out->kind = SPREAD_SINK;
	else
		return err_say(err, EINVAL, "--spread %s: expected rss:Q, rss:Q:DEV, or sink:N", text);
	ret = read_queues(strchr(text, ':') + 1, text, &out->queues, &rest, err);
	if (ret)
		return ret;
	if (*rest && (out->kind == SPREAD_SINK || !rest[1]))
		return err_say(err, EINVAL, "--spread %s: expected %s", text, out->kind == SPREAD_SINK ? "sink:N" : "a device behind the second colon");
	out->device = *rest ? rest + 1 : NULL;
	if (out->kind == SPREAD_RSS)
		return read_rss(out, key, err);
	return key ? err_say(err, EINVAL, "--rss-key: only with --spread rss:Q") : 0;
}

void spread_plan_free(struct spread_plan *plan)
{
	rss_free(&plan->rss);
}

static struct range_ports local_ports(void)
{
	unsigned first = 0, last = 0;
	char text[64];

	if (sysctl_read("net.ipv4.ip_local_port_range", text, sizeof(text)) || sscanf(text, "%u %u", &first, &last) != 2) {
		first = FIRST_PORT;
		last = LAST_PORT;
	}
	first = MAX(first, LEAST_PORT);
	last = MIN(MAX(last, first), 65535);
	return (struct range_ports){ .first = (uint16_t)first, .n = last - first + 1 };
}

int spread_open(struct spread *s, const struct spread_plan *plan, const struct addr *dst, const struct addr *host, const struct range_ports *ports,
		unsigned addresses, struct err *err)
{
	*s = (struct spread){
		.plan = plan,
		.dst = *dst,
		.host = *host,
		.ports = ports->n ? *ports : local_ports(),
		.addresses = addresses,
		.next = calloc((size_t)addresses * plan->queues, sizeof(*s->next)),
		.flows = calloc(plan->queues, sizeof(*s->flows)),
	};
	return s->next && s->flows ? 0 : err_sys(err, ENOMEM, "memory for --spread");
}

static unsigned queue_of(const struct spread *s, const struct addr *from)
{
	if (s->plan->kind == SPREAD_SINK)
		return sock_steer_member(from, s->plan->queues);
	return rss_queue(&s->plan->rss, toeplitz_udp(&s->plan->rss.key, from, &s->dst));
}

/* What the packets of a flow with this local address have as their source. */
static struct addr source_of(const struct spread *s, const struct addr *from)
{
	struct addr source = addr_is_wildcard(from) ? s->host : *from;

	addr_set_port(&source, addr_port(from));
	return source;
}

int spread_port(struct spread *s, unsigned flow, struct addr *from, struct err *err)
{
	unsigned queues = s->plan->queues, queue = flow % queues;
	uint32_t *next = &s->next[(size_t)(flow % s->addresses) * queues + queue];
	struct addr source = source_of(s, from);
	char text[ADDR_TEXT];

	while (*next < s->ports.n) {
		addr_set_port(&source, (uint16_t)(s->ports.first + (*next)++));
		if (queue_of(s, &source) == queue) {
			addr_set_port(from, addr_port(&source));
			return 0;
		}
	}
	return err_say(err, ENOSPC, "--spread: of the source ports %u-%u of %s none is left that %s %u gets; give more of them with --src-ports, or fewer --flows",
		       s->ports.first, s->ports.first + s->ports.n - 1, addr_format_host(&source, text, sizeof(text)),
		       s->plan->kind == SPREAD_SINK ? "worker" : "queue", queue);
}

void spread_placed(struct spread *s, const struct addr *from)
{
	struct addr source = source_of(s, from);

	s->flows[queue_of(s, &source)]++;
}

void spread_least_most(const struct spread *s, unsigned *least, unsigned *most)
{
	*least = *most = s->flows[0];
	for (unsigned q = 1; q < s->plan->queues; q++) {
		*least = MIN(*least, s->flows[q]);
		*most = MAX(*most, s->flows[q]);
	}
}

void spread_close(struct spread *s)
{
	free(s->next);
	free(s->flows);
	*s = (struct spread){ 0 };
}
