/* SPDX-License-Identifier: MIT */
#include "source/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/version.h"
#include "net/seqhdr.h"
#include "source/tx.h"

#define DEFAULT_COUNT 1000000 /* as netoptimizer's udp_flood */
#define AT(field) .offset = offsetof(struct source_conf, field)

static const struct opt table[] = {
	{ .name = "sender", .type = OPT_CHOICE, .argument = "NAME", AT(sender), .choices = TX_NAMES, .def = "sendmmsg",
	  .group = "Sender", .help = "system call to send with" },
	{ .name = "sendmsg", .letter = 'u', .type = OPT_SET, AT(sender), .min = TX_SENDMSG, .group = "Sender",
	  .help = "same as --sender sendmsg" },
	{ .name = "sendmmsg", .letter = 'U', .type = OPT_SET, AT(sender), .min = TX_SENDMMSG, .group = "Sender",
	  .help = "same as --sender sendmmsg" },
	{ .name = "sendto", .letter = 't', .type = OPT_SET, AT(sender), .min = TX_SENDTO, .group = "Sender",
	  .help = "same as --sender sendto; the address goes with each datagram" },
	{ .name = "write", .letter = 'T', .type = OPT_SET, AT(sender), .min = TX_WRITE, .group = "Sender",
	  .help = "same as --sender write" },
	{ .name = "send", .letter = 'S', .type = OPT_SET, AT(sender), .min = TX_SEND, .group = "Sender",
	  .help = "same as --sender send" },
	{ .name = "batch", .letter = 'b', .type = OPT_INT, .argument = "N", AT(batch), .min = 1, .max = 65536, .def = "32",
	  .group = "Sender", .help = "messages per flow before the next flow's turn; one sendmmsg call" },
	{ .name = "gso", .type = OPT_INT, .argument = "N", AT(gso), .min = 1, .max = 128, .def = "1", .group = "Sender",
	  .help = "datagrams per message by UDP_SEGMENT (sendmsg, sendmmsg)" },

	{ .name = "payload", .letter = 'm', .type = OPT_BYTES, .argument = "BYTES", AT(payload), .max = CONF_PAYLOAD_MAX,
	  .def = "18", .group = "Traffic", .help = "payload of each datagram, 0 to 65507" },
	{ .name = "size", .type = OPT_ALIAS, .choices = "payload", .argument = "BYTES", .group = "Traffic",
	  .help = "same as --payload" },
	{ .name = "count", .letter = 'c', .type = OPT_COUNT, .argument = "N", AT(count), .min = 1, .group = "Traffic",
	  .help = "end after N datagrams; 1000000 when --duration is not given either" },
	{ .name = "duration", .type = OPT_DURATION, .argument = "TIME", AT(duration_ns), .min = 1, .group = "Traffic",
	  .help = "end after this time" },
	{ .name = "rate", .type = OPT_COUNT, .argument = "PPS", AT(rate), .min = 1, .max = 1000000000, .group = "Traffic",
	  .help = "datagrams per second of all threads together (k, M); as fast as it goes when not given" },
	{ .name = "flows", .type = OPT_INT, .argument = "N", AT(flows), .min = 1, .max = 65535, .group = "Traffic",
	  .help = "source ports, one connected socket each; one per thread when not given" },
	{ .name = "run-id", .type = OPT_STRING, .argument = "HEX", AT(run_text), .group = "Traffic",
	  .help = "run id in the header, up to 8 hex digits; random when not given" },
	{ .name = "pktgen-header", .type = OPT_FLAG, AT(pktgen_header), .group = "Traffic",
	  .help = "header of the kernel's pktgen instead of our own" },

	{ .name = "ipv4", .letter = '4', .type = OPT_SET, AT(family), .min = AF_INET, .group = "Network",
	  .help = "ADDR must be IPv4" },
	{ .name = "ipv6", .letter = '6', .type = OPT_SET, AT(family), .min = AF_INET6, .group = "Network",
	  .help = "ADDR must be IPv6" },
	{ .name = "port", .letter = 'p', .type = OPT_INT, .argument = "PORT", AT(port), .min = 1, .max = 65535, .def = "6666",
	  .group = "Network", .help = "destination port, where ADDR has none" },
	{ .name = "bind", .type = OPT_STRING, .argument = "ADDR", AT(bind_text), .group = "Network", .help = "source address" },
	{ .name = "bind-dev", .type = OPT_STRING, .argument = "DEV", AT(device), .group = "Network",
	  .help = "send by this interface only" },
	{ .name = "pmtu", .letter = 'd', .type = OPT_INT, .argument = "N", AT(pmtu), .min = 0, .max = 5, .group = "Network",
	  .help = "IP_MTU_DISCOVER: 0 dont, 1 want, 2 do, 3 probe, 4 interface, 5 omit" },
	{ .name = "tos", .type = OPT_INT, .argument = "N", AT(tos), .min = 0, .max = 255, .group = "Network",
	  .help = "TOS or traffic class, the whole byte" },
	{ .name = "dscp", .type = OPT_INT, .argument = "N", AT(dscp), .min = 0, .max = 63, .group = "Network",
	  .help = "DSCP, the upper six bits of that byte" },
	{ .name = "ecn", .type = OPT_INT, .argument = "N", AT(ecn), .min = 0, .max = 3, .group = "Network",
	  .help = "ECN, its lower two bits" },
	{ .name = "ttl", .type = OPT_INT, .argument = "N", AT(ttl), .min = 1, .max = 255, .group = "Network",
	  .help = "TTL or hop limit" },
	{ .name = "sndbuf", .type = OPT_BYTES, .argument = "BYTES", AT(sndbuf), .min = 1, .max = INT32_MAX, .group = "Network",
	  .help = "SO_SNDBUF of each socket" },

	{ .name = "threads", .type = OPT_INT, .argument = "N", AT(threads), .min = 1, .max = 1024, .def = "1",
	  .group = "Threads", .help = "sending threads" },
	{ .name = "cpus", .type = OPT_STRING, .argument = "LIST", AT(cpus_text), .group = "Threads",
	  .help = "pin the threads to these CPUs in turn, such as 0,2-3" },

	{ .name = "format", .type = OPT_CHOICE, .argument = "FORM", AT(format), .choices = "text|json", .def = "text",
	  .group = "Output", .help = "text or json" },
	{ .name = "interval", .type = OPT_DURATION, .argument = "TIME", AT(interval_ns), .min = 1000000, .group = "Output",
	  .help = "report each period of this length too" },
	{ .name = "verbose", .letter = 'v', .type = OPT_LEVEL, AT(verbose), .group = "Output", .help = "say more on stderr" },
	{ .name = "config", .type = OPT_CONFIG, .argument = "FILE", .group = "Output", .help = "read options from FILE" },
	{ .name = "version", .type = OPT_FLAG, AT(show_version), .group = "Output", .help = "print the version; with -v also how it was built" },
	{ .name = "help", .letter = 'h', .type = OPT_HELP, .group = "Output", .help = "print this help" },
	{ .name = "dump-options", .type = OPT_FLAG, AT(dump_options), .group = "Output",
	  .help = "print the option table", .hidden = true },
	{ 0 },
};

/* One byte from --tos, or from --dscp and --ecn; -1 when none was given. */
static int join_tos(struct source_conf *conf, struct err *err)
{
	bool tos = opt_given(&conf->set, "tos");
	bool parts = opt_given(&conf->set, "dscp") || opt_given(&conf->set, "ecn");

	if (tos && parts)
		return err_say(err, EINVAL, "--tos is the whole byte: it cannot be combined with --dscp or --ecn");
	if (parts)
		conf->tos = conf->dscp << 2 | conf->ecn; /* RFC 2474: the DSCP is the upper six bits */
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
			return err_sys(err, errno, "getrandom for the run id (set one with --run-id)");
		return 0;
	}
	value = strtoul(conf->run_text, &end, 16);
	if (strspn(conf->run_text, "0123456789abcdefABCDEF") != strlen(conf->run_text) || end == conf->run_text ||
	    strlen(conf->run_text) > 8)
		return err_say(err, EINVAL, "--run-id '%s': expected 1 to 8 hex digits", conf->run_text);
	conf->run = value;
	return 0;
}

static int read_addresses(struct source_conf *conf, struct err *err)
{
	const struct opt_list *operands = &conf->set.operands;
	int ret;

	if (operands->n != 1)
		return err_say(err, EINVAL, "%s: give one destination, ADDR[:PORT] (see --help)",
			       operands->n ? "more than one destination" : "no destination");
	ret = addr_parse(operands->text[0], conf->family, conf->port, &conf->dst, err);
	if (ret)
		return ret;
	if (addr_port(&conf->dst) == 0)
		return err_say(err, EINVAL, "destination %s: port 0 cannot be sent to", operands->text[0]);
	if (conf->bind_text)
		return addr_parse(conf->bind_text, conf->dst.sa.sa_family, 0, &conf->src, err);
	conf->src.sa.sa_family = conf->dst.sa.sa_family;
	conf->src.len = conf->dst.sa.sa_family == AF_INET ? sizeof(conf->src.in) : sizeof(conf->src.in6);
	return 0;
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

static int check_sender(const struct source_conf *conf, struct err *err)
{
	const struct tx_ops *ops = tx_table[conf->sender];
	uint64_t memory = conf->payload * conf_segments(conf) * conf->batch;

	if (conf->gso > 1 && !(ops->caps & TX_GSO))
		return err_say(err, EINVAL, "--gso %d: %s cannot carry UDP_SEGMENT; use --sendmsg or --sendmmsg", conf->gso,
			       ops->name);
	if (conf->gso > 1 && !conf->payload)
		return err_say(err, EINVAL, "--gso %d: empty datagrams cannot be segments; give --payload", conf->gso);
	if (conf->pktgen_header && conf->payload < PKTGENHDR_SIZE)
		return err_say(err, EINVAL, "--pktgen-header takes %d bytes: --payload %llu is too small", PKTGENHDR_SIZE,
			       (unsigned long long)conf->payload);
	if (memory > CONF_MEMORY_MAX)
		return err_say(err, EINVAL, "--batch %d with these datagrams takes %llu MiB for each thread, at most %llu are allowed",
			       conf->batch, (unsigned long long)(memory >> 20), (unsigned long long)(CONF_MEMORY_MAX >> 20));
	return 0;
}

/* What the defaults of the table cannot say, and what needs a look at more than one option. */
static int derive(struct source_conf *conf, struct err *err)
{
	int ret;

	if (!opt_given(&conf->set, "count"))
		conf->count = conf->duration_ns ? UINT64_MAX : DEFAULT_COUNT;
	if (!opt_given(&conf->set, "pmtu"))
		conf->pmtu = -1;
	if (!opt_given(&conf->set, "ttl"))
		conf->ttl = -1;
	if (!conf->flows)
		conf->flows = conf->threads;
	if (conf->flows < conf->threads)
		return err_say(err, EINVAL, "--flows %d with --threads %d: each thread needs a flow of its own", conf->flows,
			       conf->threads);
	if ((ret = join_tos(conf, err)) || (ret = read_run(conf, err)) || (ret = read_addresses(conf, err)) ||
	    (ret = read_cpus(conf, err)))
		return ret;
	return check_sender(conf, err);
}

int conf_parse(struct source_conf *conf, int argc, char **argv, enum opt_next *next, struct err *err)
{
	int ret;

	*conf = (struct source_conf){
		.argc = argc,
		.argv = argv,
		.set = {
			.table = table,
			.program = "udp_source",
			.usage = "[options] ADDR[:PORT]",
			.about = "Sends UDP datagrams, and says how many of them the kernel took.",
			.conf = conf,
		},
	};
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

unsigned conf_segments(const struct source_conf *conf)
{
	if (conf->gso <= 1)
		return 1;
	return MIN((uint64_t)conf->gso, MAX(CONF_PAYLOAD_MAX / conf->payload, 1));
}

void conf_free(struct source_conf *conf)
{
	cpu_list_free(&conf->cpus);
	opt_free(&conf->set);
}
