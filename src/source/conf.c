/* SPDX-License-Identifier: MIT */
#include "source/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/version.h"
#include "net/seqhdr.h"
#include "source/tx.h"

#define DEFAULT_COUNT 1000000 /* as netoptimizer's udp_flood */
#define AT(field) .offset = offsetof(struct source_conf, field)

#define SENDER(long_name, short_name, index, text)                                             \
	{ .name = long_name, .letter = short_name, .type = OPT_SET, AT(sender), .min = index,  \
	  .group = "Sender", .help = text }
#define FAMILY(long_name, short_name, value, text)                                             \
	{ .name = long_name, .letter = short_name, .type = OPT_SET, AT(family), .min = value,  \
	  .group = "Network", .help = text }
#define FLAG(long_name, field, heading, text)                                                  \
	{ .name = long_name, .type = OPT_FLAG, AT(field), .group = heading, .help = text }
#define TEXT(long_name, field, arg, heading, text)                                             \
	{ .name = long_name, .type = OPT_STRING, .argument = arg, AT(field), .group = heading, \
	  .help = text }
#define CHOICE(long_name, field, arg, values, value, heading, text)                            \
	{ .name = long_name, .type = OPT_CHOICE, .argument = arg, AT(field),                   \
	  .choices = values, .def = value, .group = heading, .help = text }
#define NUMBER(long_name, short_name, kind, field, arg, low, high, value, heading, text)       \
	{ .name = long_name, .letter = short_name, .type = kind, .argument = arg, AT(field),   \
	  .min = low, .max = high, .def = value, .group = heading, .help = text }

static const struct opt table[] = {
	CHOICE("sender", sender, "NAME", TX_NAMES, "sendmmsg", "Sender",
	       "system call to send with"),
	SENDER("sendmsg", 'u', TX_SENDMSG, "same as --sender sendmsg"),
	SENDER("sendmmsg", 'U', TX_SENDMMSG, "same as --sender sendmmsg"),
	SENDER("sendto", 't', TX_SENDTO,
	       "same as --sender sendto; the address goes with each datagram"),
	SENDER("write", 'T', TX_WRITE, "same as --sender write"),
	SENDER("send", 'S', TX_SEND, "same as --sender send"),
	NUMBER("batch", 'b', OPT_INT, batch, "N", 1, 65536, "32", "Sender",
	       "messages per flow before the next flow's turn; one sendmmsg call"),
	NUMBER("gso", 0, OPT_INT, gso, "N", 1, 128, "1", "Sender",
	       "datagrams per message by UDP_SEGMENT (sendmsg, sendmmsg)"),

	NUMBER("payload", 'm', OPT_BYTES, payload, "BYTES", 0, CONF_PAYLOAD_MAX, "18", "Traffic",
	       "payload of each datagram, 0 to 65507"),
	{ .name = "size", .type = OPT_ALIAS, .choices = "payload", .argument = "BYTES",
	  .group = "Traffic", .help = "same as --payload" },
	NUMBER("count", 'c', OPT_COUNT, count, "N", 1, 0, NULL, "Traffic",
	       "end after N datagrams; 1000000 when --duration is not given either"),
	NUMBER("duration", 0, OPT_DURATION, duration_ns, "TIME", 1, 0, NULL, "Traffic",
	       "end after this time"),
	NUMBER("rate", 0, OPT_COUNT, rate, "PPS", 1, 1000000000, NULL, "Traffic",
	       "datagrams per second of all threads together (k, M); no limit when not given"),
	NUMBER("flows", 0, OPT_INT, flows, "N", 1, 65535, NULL, "Traffic",
	       "source ports, one connected socket each; one per thread when not given"),
	TEXT("run-id", run_text, "HEX", "Traffic",
	     "run id in the header, up to 8 hex digits; random when not given"),
	FLAG("pktgen-header", pktgen_header, "Traffic",
	     "header of the kernel's pktgen instead of our own"),

	FAMILY("ipv4", '4', AF_INET, "ADDR must be IPv4"),
	FAMILY("ipv6", '6', AF_INET6, "ADDR must be IPv6"),
	NUMBER("port", 'p', OPT_INT, port, "PORT", 1, 65535, "6666", "Network",
	       "destination port, where ADDR has none"),
	TEXT("bind", bind_text, "ADDR", "Network", "source address"),
	TEXT("bind-dev", device, "DEV", "Network", "send by this interface only"),
	NUMBER("pmtu", 'd', OPT_INT, pmtu, "N", 0, 5, NULL, "Network",
	       "IP_MTU_DISCOVER: 0 dont, 1 want, 2 do, 3 probe, 4 interface, 5 omit"),
	NUMBER("tos", 0, OPT_INT, tos, "N", 0, 255, NULL, "Network",
	       "TOS or traffic class, the whole byte"),
	NUMBER("dscp", 0, OPT_INT, dscp, "N", 0, 63, NULL, "Network",
	       "DSCP, the upper six bits of that byte"),
	NUMBER("ecn", 0, OPT_INT, ecn, "N", 0, 3, NULL, "Network", "ECN, its lower two bits"),
	NUMBER("ttl", 0, OPT_INT, ttl, "N", 1, 255, NULL, "Network", "TTL or hop limit"),
	NUMBER("sndbuf", 0, OPT_BYTES, sndbuf, "BYTES", 1, INT32_MAX, NULL, "Network",
	       "SO_SNDBUF of each socket"),

	NUMBER("threads", 0, OPT_INT, threads, "N", 1, 1024, "1", "Threads", "sending threads"),
	TEXT("cpus", cpus_text, "LIST", "Threads",
	     "pin the threads to these CPUs in turn, such as 0,2-3"),

	CHOICE("format", format, "FORM", "text|json", "text", "Output", "text or json"),
	NUMBER("interval", 0, OPT_DURATION, interval_ns, "TIME", NSEC_PER_MSEC, 0, NULL, "Output",
	       "report each period of this length too"),
	{ .name = "verbose", .letter = 'v', .type = OPT_LEVEL, AT(verbose), .group = "Output",
	  .help = "say more on stderr" },
	{ .name = "config", .type = OPT_CONFIG, .argument = "FILE", .group = "Output",
	  .help = "read options from FILE" },
	FLAG("version", show_version, "Output", "print the version; with -v also how it was built"),
	{ .name = "help", .letter = 'h', .type = OPT_HELP, .group = "Output",
	  .help = "print this help" },
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
		return err_say(err, EINVAL, "destination %s: port 0 cannot be sent to",
			       operands->text[0]);
	if (conf->bind_text)
		return addr_parse(conf->bind_text, conf->dst.sa.sa_family, 0, &conf->src, err);
	conf->src.sa.sa_family = conf->dst.sa.sa_family;
	conf->src.len =
		conf->dst.sa.sa_family == AF_INET ? sizeof(conf->src.in) : sizeof(conf->src.in6);
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
	uint64_t memory;

	if (conf->gso > 1 && !(ops->caps & TX_GSO))
		return err_say(err, EINVAL,
			       "--gso %d: %s cannot carry UDP_SEGMENT; use --sendmsg or --sendmmsg",
			       conf->gso, ops->name);
	if (conf->gso > 1 && !conf->payload)
		return err_say(err, EINVAL,
			       "--gso %d: empty datagrams cannot be segments; give --payload",
			       conf->gso);
	if (conf->pktgen_header && conf->payload < PKTGENHDR_SIZE)
		return err_say(err, EINVAL,
			       "--pktgen-header takes %d bytes: --payload %llu is too small",
			       PKTGENHDR_SIZE, (unsigned long long)conf->payload);
	memory = conf->payload * conf_segments(conf) * conf->batch;
	if (memory > CONF_MEMORY_MAX)
		return err_say(err, EINVAL,
			       "--batch %d with these datagrams takes %llu MiB for each thread, at "
			       "most %llu are allowed",
			       conf->batch, (unsigned long long)(memory >> 20),
			       (unsigned long long)(CONF_MEMORY_MAX >> 20));
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
		return err_say(err, EINVAL,
			       "--flows %d with --threads %d: each thread needs a flow of its own",
			       conf->flows, conf->threads);
	if ((ret = join_tos(conf, err)) || (ret = read_run(conf, err)) ||
	    (ret = read_addresses(conf, err)) || (ret = read_cpus(conf, err)))
		return ret;
	return check_sender(conf, err);
}

int conf_parse(struct source_conf *conf, int argc, char **argv, enum opt_next *next,
	       struct err *err)
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
