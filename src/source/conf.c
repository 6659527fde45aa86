/* SPDX-License-Identifier: MIT */
#include "source/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/num.h"
#include "base/version.h"
#include "net/seqhdr.h"
#include "source/options.h"
#include "source/tx.h"

#define DEFAULT_COUNT 1000000 /* as netoptimizer's udp_flood */
#define GSO_MOST 128          /* UDP_MAX_SEGMENTS since Linux 6.10 */

/* One byte from --tos, or from --dscp and --ecn; -1 when none was given. */
static int join_tos(struct source_conf *conf, struct err *err)
{
	bool tos = opt_given(&conf->set, "tos");
	bool parts = opt_given(&conf->set, "dscp") || opt_given(&conf->set, "ecn");

	if (tos && parts)
		return err_say(err, EINVAL, "--tos is the whole byte: not with --dscp or --ecn");
	if (parts)
		conf->tos = conf->dscp << 2 | conf->ecn; /* RFC 2474 */
	else if (!tos)
		conf->tos = -1;
	return 0;
}

static int read_run(struct source_conf *conf, struct err *err)
{
	unsigned long value;
	char *end;

	if (!conf->run_text) {
		if (getrandom(&conf->run, sizeof(conf->run), 0) != sizeof(conf->run))
			return err_sys(err, errno,
				       "getrandom for the run id (set one with --run-id)");
		return 0;
	}
	value = strtoul(conf->run_text, &end, 16);
	if (strspn(conf->run_text, "0123456789abcdefABCDEF") != strlen(conf->run_text) ||
	    end == conf->run_text || strlen(conf->run_text) > 8)
		return err_say(err, EINVAL, "--run-id '%s': expected 1 to 8 hex digits",
			       conf->run_text);
	conf->run = value;
	return 0;
}

/* ADDR[:PORT], or --dst-range instead of it. */
static int read_first(struct source_conf *conf, struct range *range, struct err *err)
{
	const struct opt_list *operands = &conf->set.operands;
	unsigned given = operands->n + (conf->dst_text != NULL);
	int ret;

	if (given != 1)
		return err_say(err, EINVAL, "%s: give one destination, ADDR[:PORT] or --dst-range (see --help)",
			       given ? "more than one destination" : "no destination");
	if (conf->dst_text) {
		ret = range_parse(conf->dst_text, conf->family, range, err);
		conf->dst = range->first;
		addr_set_port(&conf->dst, conf->port);
		return ret;
	}
	ret = addr_parse(operands->text[0], conf->family, conf->ports_text ? 0 : conf->port, &conf->dst, err);
	if (!ret && conf->ports_text && addr_port(&conf->dst))
		return err_say(err, EINVAL, "--dst-ports: not together with the port of %s", operands->text[0]);
	if (!ret && !conf->ports_text && !addr_port(&conf->dst))
		return err_say(err, EINVAL, "destination %s: port 0 cannot be sent to",
			       operands->text[0]);
	*range = (struct range){ .first = conf->dst, .n = 1 };
	return ret;
}

static int read_addresses(struct source_conf *conf, struct err *err)
{
	struct range range;
	int ret = read_first(conf, &range, err);

	if (!ret && conf->ports_text && opt_given(&conf->set, "port"))
		return err_say(err, EINVAL, "--dst-ports: not together with --port");
	if (!ret)
		ret = dst_plan(&conf->to, &range, conf->ports_text, addr_port(&conf->dst), err);
	if (ret)
		return ret;
	addr_set_port(&conf->dst, conf->to.first_port);
	conf->to.order = conf->dst_order;
	conf->to.length = conf->flow_length ? conf->flow_length : 1;
	conf->addressed = conf->unconnected || conf->to.n > 1;
	return conf->bind_text ? range_parse(conf->bind_text, conf->dst.sa.sa_family, &conf->src, err) : 0;
}

static int read_cpus(struct source_conf *conf, struct err *err)
{
	struct cpu_list allowed = { 0 };
	int ret;

	if (!conf->cpus_text)
		return 0;
	ret = cpu_allowed(&allowed, err);
	if (!ret)
		ret = cpu_parse(conf->cpus_text, &allowed, &conf->cpus, err);
	cpu_list_free(&allowed);
	return ret;
}

static int read_gso(struct source_conf *conf, struct err *err)
{
	const char *text = conf->gso_text;
	uint64_t n;

	conf->gso = conf->sender == TX_AUTO || conf->sender == TX_SEGMENT ? 0 : 1;
	if (!text)
		return 0;
	conf->gso_require = !strcmp(text, "require");
	if (conf->gso_require || !strcmp(text, "max")) {
		conf->gso = 0;
		return 0;
	}
	if (num_count(text, &n) || n < 1 || n > GSO_MOST)
		return err_say(err, EINVAL, "--gso %s: expected 1 to %d, max, or require", text, GSO_MOST);
	conf->gso = n;
	return 0;
}

static int check_gso(const struct source_conf *conf, struct err *err)
{
	if (conf->gso == 1 && conf->sender == TX_SEGMENT)
		return err_say(err, EINVAL, "--gso 1: one datagram per message is --sender sendmsg, not gso");
	if (conf->lite && conf->gso_text)
		return err_say(err, EINVAL, "--lite: UDP-Lite has no segmentation; not together with --gso");
	if (conf->lite && (conf->sender == TX_SEGMENT || conf->sender == TX_RAW))
		return err_say(err, EINVAL, "--lite: --sender %s sends UDP only; use another", tx_table[conf->sender]->name);
	if (conf->gso == 1 || (conf->sender == TX_AUTO && !conf->gso_text)) /* choose_sender decides */
		return 0;
	if (conf->sender != TX_AUTO && !(tx_table[conf->sender]->caps & TX_GSO))
		return err_say(err, EINVAL, "--gso: %s cannot carry UDP_SEGMENT; use --sendmsg, --sendmmsg or --sender gso",
			       tx_table[conf->sender]->name);
	if (!conf->size.high)
		return err_say(err, EINVAL, "--gso: empty datagrams cannot be segments; give --payload");
	if (!size_is_fixed(&conf->size))
		return err_say(err, EINVAL, "--gso: all datagrams of a message have one size; give --payload a single one");
	return 0;
}

/* What a thread's datagrams take with all that describes them. */
static int check_memory(const struct source_conf *conf, struct err *err)
{
	uint64_t fitting = MAX(SIZE_MAX_PAYLOAD / MAX(conf->size.high, 1), 1);
	uint64_t slots = MIN(conf->gso ? conf->gso : GSO_MOST, fitting) * (uint64_t)conf->batch;
	uint64_t memory = slots * (conf->size.high + TX_SLOT_BYTES);

	if (memory <= CONF_MEMORY_MAX)
		return 0;
	return err_say(err, EINVAL, "--batch %d with these datagrams takes %llu MiB for each thread, at most %llu are allowed",
		       conf->batch, (unsigned long long)(memory >> 20), (unsigned long long)(CONF_MEMORY_MAX >> 20));
}

/* The faults show in the numbers of the header only, a copy is the same datagram again, and a trailer is one of our own headers. */
static int check_numbers(const struct source_conf *conf, struct err *err)
{
	const char *options = conf->trailer ? "--trailer" : "--reorder, --duplicate, --withhold";

	if (!impair_any(&conf->impair) && !conf->trailer)
		return 0;
	if (conf->header == PAYLOAD_PLAIN || (conf->header == PAYLOAD_PKTGEN && conf->trailer))
		return err_say(err, EINVAL, "%s: needs the sequence numbers of --header sequence", options);
	if (conf->header == PAYLOAD_SEQUENCE && conf->size.low < SEQHDR_SHORT)
		return err_say(err, EINVAL, "%s: a datagram of less than %d bytes has no sequence number", options, SEQHDR_SHORT);
	if (conf->duplicate && (!size_is_fixed(&conf->size) || conf->to.n > 1))
		return err_say(err, EINVAL, "--duplicate: a copy has the size and destination of the datagram before it; give one of each");
	return 0;
}

static int check_sender(const struct source_conf *conf, struct err *err)
{
	int ret = check_memory(conf, err);

	if (ret)
		return ret;
	if (conf->addressed && conf->sender != TX_AUTO && !(tx_table[conf->sender]->caps & TX_ADDRESS))
		return err_say(err, EINVAL, "%s: %s sends on connected sockets only; use sendto, sendmsg or sendmmsg",
			       conf->unconnected ? "--unconnected" : "more than one destination", tx_table[conf->sender]->name);
	if (conf->header == PAYLOAD_PKTGEN && conf->size.low < PKTGENHDR_SIZE)
		return err_say(err, EINVAL,
			       "--pktgen-header takes %d bytes: --payload %s is too small",
			       PKTGENHDR_SIZE, conf->size_text);
	ret = check_numbers(conf, err);
	if (!ret)
		ret = check_gso(conf, err);
	if (!ret)
		ret = conf_check_raw(conf, err);
	return ret ? ret : conf_check_uring(conf, err);
}

static int settle_flows(struct source_conf *conf, struct err *err)
{
	uint64_t addresses = MAX(MIN(conf->src.n, 65535), 1), ports = conf->src_ports.n;

	if (!conf->flows)
		conf->flows = MAX(conf->threads, (int)MAX(addresses, conf->spread.kind ? conf->spread.queues : conf->src_ports_text ? ports : 0));
	if (ports && (uint64_t)conf->flows > addresses * ports)
		return err_say(err, EINVAL, "--flows %d: %llu source address(es) and %llu source ports make no more than %llu",
			       conf->flows, (unsigned long long)addresses, (unsigned long long)ports,
			       (unsigned long long)(addresses * ports));
	if (conf->flows < conf->threads)
		return err_say(err, EINVAL,
			       "--flows %d with --threads %d: each thread needs a flow of its own",
			       conf->flows, conf->threads);
	return 0;
}

/* Options that mean "leave it" when they were not given. */
static void mark_absent(struct source_conf *conf)
{
	if (!opt_given(&conf->set, "count"))
		conf->count = conf->duration_ns ? UINT64_MAX : DEFAULT_COUNT;
	if (!opt_given(&conf->set, "pmtu"))
		conf->pmtu = -1;
	if (!opt_given(&conf->set, "ttl"))
		conf->ttl = -1;
	if (!opt_given(&conf->set, "priority"))
		conf->priority = -1;
	conf->impair = (struct impair){ .withhold = conf->withhold, .reorder = conf->reorder, .duplicate = conf->duplicate };
}

/* What the defaults of the table cannot say, and what needs a look at more than one option. */
static int derive(struct source_conf *conf, struct err *err)
{
	int (*const steps[])(struct source_conf *, struct err *) = {
		join_tos,	 read_run, conf_settle_dns, read_addresses, conf_settle_capture, conf_settle_messages, conf_settle_raw,
		conf_settle_rate, read_cpus, read_gso,	   conf_settle_spread, settle_flows,
	};
	int ret = size_parse("payload", conf->size_text, &conf->size, err);

	mark_absent(conf);
	if (!ret)
		ret = fill_open(&conf->fill, conf->fill_text, err);
	if (!ret)
		ret = order_parse(conf->order_text ? conf->order_text : "round-robin", &conf->order, err);
	for (unsigned i = 0; i < ARRAY_SIZE(steps) && !ret; i++)
		ret = steps[i](conf, err);
	if (!ret && !opt_given(&conf->set, "seed"))
		conf->seed = conf->run;
	return ret ? ret : check_sender(conf, err);
}

int conf_parse(struct source_conf *conf, int argc, char **argv, enum opt_next *next, struct err *err)
{
	int ret;

	*conf = (struct source_conf){ .argc = argc, .argv = argv };
	options_describe(&conf->set, conf);
	ret = opt_parse(&conf->set, argc, argv, next, err);
	if (!ret && *next == OPT_RUN) {
		if (conf->dump_options)
			opt_print_table(&conf->set, stdout);
		else if (conf->show_version)
			version_print(stdout, "udp_source", conf->verbose > 0);
		else
			ret = derive(conf, err);
		if (conf->dump_options || conf->show_version)
			*next = OPT_EXIT_OK;
	}
	if (ret)
		conf_free(conf);
	return ret;
}

void conf_free(struct source_conf *conf)
{
	size_free(&conf->size);
	fill_free(&conf->fill);
	spread_plan_free(&conf->spread);
	messages_free(&conf->messages);
	cpu_list_free(&conf->cpus);
	opt_free(&conf->set);
}
