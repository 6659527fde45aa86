/* SPDX-License-Identifier: MIT */
#include "sink/conf.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>

#include "base/num.h"
#include "net/seqhdr.h"
#include "sink/sent.h"

#define AT(field) .offset = offsetof(struct sink_conf, field)
#define FLAG(long_name, short_name, field, heading, text) \
	{ .name = long_name, .letter = short_name, .type = OPT_FLAG, AT(field), .group = heading, .help = text }
#define ALIAS(long_name, target, heading)                                                    \
	{ .name = long_name, .type = OPT_ALIAS, .choices = target, .group = heading, .help = "same as --" target }
#define ENGINE(long_name, short_name)                                                                       \
	{ .name = long_name, .letter = short_name, .type = OPT_ADD, AT(engines), .choices = long_name,      \
	  .group = "Engine", .help = "short for --engine " long_name }
#define NUMBER(long_name, short_name, kind, field, arg, low, high, value, heading, text)             \
	{ .name = long_name, .letter = short_name, .type = kind, .argument = arg, AT(field),         \
	  .min = low, .max = high, .def = value, .group = heading, .help = text }
#define CHOICE(long_name, field, values, value, heading, text)                                      \
	{ .name = long_name, .type = OPT_CHOICE, .argument = "MODE", AT(field), .choices = values,  \
	  .def = value, .group = heading, .help = text }
#define TEXT(long_name, short_name, kind, field, arg, heading, text)                              \
	{ .name = long_name, .letter = short_name, .type = kind, .argument = arg, AT(field),      \
	  .group = heading, .help = text }

static const struct opt table[] = {
	TEXT("listen", 0, OPT_LIST, listen, "ADDR[:PORT]", "Addresses",
	     "address to receive on, may be repeated; '*' = IPv6 and IPv4 (default: 0.0.0.0, with -6 ::)"),
	NUMBER("port", 'l', OPT_INT, port, "PORT", 0, 65535, "6666", "Addresses", "port where --listen names none; 0 = any free one"),
	{ .name = "ipv4", .letter = '4', .type = OPT_SET, AT(family), .min = AF_INET, .group = "Addresses",
	  .help = "listen on 0.0.0.0 where --listen names nothing (this is the default)" },
	{ .name = "ipv6", .letter = '6', .type = OPT_SET, AT(family), .min = AF_INET6, .group = "Addresses",
	  .help = "listen on :: where --listen names nothing" },
	FLAG("v6only", 0, v6only, "Addresses", "IPv6 sockets take no IPv4 datagrams"),
	TEXT("bind-dev", 0, OPT_STRING, bind_dev, "DEV", "Addresses", "receive from this interface only"),
	TEXT("join", 0, OPT_LIST, join, "GROUP[%DEV]", "Addresses", "join a multicast group, may be repeated"),
	FLAG("lite", 'L', lite, "Addresses", "UDP-Lite instead of UDP"),
	{ .name = "connect", .letter = 'C', .type = OPT_STRING, .optional = true, .missing = "first", .argument = "ADDR:PORT",
	  AT(connect), .group = "Addresses", .help = "connect the sockets: to the first sender, or to the one given" },
	FLAG("connect-each", 0, connect_each, "Addresses", "give each flow a connected socket of its own beside the listener"),
	NUMBER("max-flows", 0, OPT_INT, max_flows, "N", 1, 60000, "1024", "Addresses", "most connected sockets of a worker with --connect-each"),

	TEXT("engine", 'e', OPT_LIST, engines, "NAME[,NAME]", "Engine",
	     "how to receive: names, all, or auto (default: the upstream set in turn: recvmmsg recvmsg read recvfrom recv)"),
	ENGINE("read", 'T'),
	ENGINE("recv", 0),
	ENGINE("recvfrom", 't'),
	ENGINE("recvmsg", 'u'),
	ENGINE("recvmmsg", 'U'),
	FLAG("list-engines", 0, list_engines, "Engine", "list the engines, and why one cannot run here; then exit"),
	CHOICE("wait", wait, "auto|block|poll|spin", "auto", "Engine",
	       "wait in the receive call, in poll(2), or not at all; auto = block with one socket per worker, else poll"),
	{ .name = "spin", .type = OPT_SET, AT(wait), .min = 1 + ENGINE_WAIT_SPIN, .group = "Engine", .help = "short for --wait spin" },
	NUMBER("batch", 'b', OPT_INT, batch, "N", 1, 1024, "32", "Engine", "datagrams per batch; one receive call of recvmmsg and epoll"),
	NUMBER("buffer-size", 0, OPT_BYTES, buffer_size, "BYTES", 1, 65535, "4096", "Engine", "payload memory per datagram"),
	NUMBER("nr-iovec", 0, OPT_INT, nr_iovec, "N", 1, 64, "1", "Engine", "hand the buffer over in N equal pieces (recvmsg, recvmmsg, epoll)"),
	FLAG("no-copy", 0, no_copy, "Engine", "MSG_TRUNC with empty buffers: the payload is not copied"),
	FLAG("gro", 0, gro, "Engine", "UDP_GRO: take coalesced buffers and count their datagrams (recvmsg, recvmmsg, epoll)"),
	FLAG("waitforone", 'O', waitforone, "Engine", "MSG_WAITFORONE: recvmmsg waits for one datagram and takes what is there"),
	FLAG("dontwait", 'd', dontwait, "Engine", "MSG_DONTWAIT: never sleep, as --wait spin; calls that came back empty are counted"),
	NUMBER("timeout", 'i', OPT_DURATION, timeout, "TIME", 0, 0, NULL, "Engine",
	       "timeout argument of recvmmsg (looked at only after a datagram came)"),
	NUMBER("sk-timeout", 'I', OPT_DURATION, sk_timeout, "TIME", 0, 0, "100ms", "Engine", "SO_RCVTIMEO of blocking sockets"),
	NUMBER("busy-poll", 0, OPT_DURATION, busy_poll, "TIME", 0, 0, NULL, "Engine", "SO_BUSY_POLL, in whole microseconds (50us)"),
	NUMBER("work", 0, OPT_DURATION, work, "TIME", 0, NSEC_PER_SEC, NULL, "Engine",
	       "keep the CPU busy for this long per datagram, as a real server would"),

	NUMBER("threads", 'n', OPT_INT, threads, "N", 0, 1024, "1", "Workers", "worker threads; 0 = one per allowed CPU"),
	TEXT("cpus", 0, OPT_STRING, cpus, "LIST", "Workers", "pin worker i to the i-th CPU of the list (0,2-3)"),
	TEXT("place", 0, OPT_STRING, place, "WHERE", "Workers",
	     "on the CPU that processes the packets in the kernel (same-cpu), on another (other-cpu), or a list as for --cpus"),
	FLAG("shared-socket", 0, shared_socket, "Workers", "all workers read the same socket (default: one socket each)"),
	FLAG("reuse-port", 's', reuse_port, "Workers", "SO_REUSEPORT: join the sockets of this user that share the port"),
	FLAG("use-bpf", 0, use_bpf, "Workers", "spread datagrams over the sockets by the CPU that processed them (needs --threads)"),

	FLAG("pktinfo", 0, pktinfo, "Socket", "IP_PKTINFO and IPV6_RECVPKTINFO: destination address of each datagram"),
	ALIAS("recv-pktinfo", "pktinfo", "Socket"),
	FLAG("recv-ttl", 0, recv_ttl, "Socket", "IP_RECVTTL and IPV6_RECVHOPLIMIT, and count the values"),
	FLAG("recv-tos", 0, recv_tos, "Socket", "IP_RECVTOS and IPV6_RECVTCLASS, and count the values (DSCP and ECN)"),
	FLAG("rxq-ovfl", 0, rxq_ovfl, "Socket", "SO_RXQ_OVFL: the socket's drop count with each datagram (cumulative)"),
	NUMBER("rcvbuf", 0, OPT_BYTES, rcvbuf, "BYTES", 1, 1 << 30, NULL, "Socket", "SO_RCVBUF, by SO_RCVBUFFORCE where allowed"),
	FLAG("rcvbuf-strict", 0, rcvbuf_strict, "Socket", "stop when the kernel grants less than --rcvbuf"),
	CHOICE("early-demux", early_demux, "keep|on|off", "keep", "Socket",
	       "set net.ipv4.ip_early_demux and udp_early_demux for the run, restored afterwards"),

	NUMBER("count", 'c', OPT_COUNT, count, "N", 0, 0, "1000000", "Length", "datagrams per run; 0 = no limit (default when --duration is given)"),
	NUMBER("duration", 0, OPT_DURATION, duration, "TIME", 0, 0, NULL, "Length", "time per run, from when it is ready"),
	NUMBER("until-quiet", 0, OPT_DURATION, until_quiet, "TIME", 0, 0, NULL, "Length",
	       "end when something came and then nothing for so long; what is queued is read first"),
	NUMBER("repeat", 'r', OPT_INT, repeat, "N", 1, 1000000, "1", "Length", "runs per engine"),

	{ .name = "check-sender", .letter = 'S', .type = OPT_STRING, .argument = "ADDR", AT(check_sender), .group = "Checks",
	  .help = "datagrams from other hosts are counted as foreign" },
	{ .name = "check-pktgen", .type = OPT_LEVEL, .optional = true, .argument = "LEVEL", AT(check_pktgen), .max = 3, .group = "Checks",
	  .help = "verify pktgen headers: 1 = mark and order, 2 = also their repeats through the packet, 3 = also that none is missing" },
	FLAG("check-sequence", 0, check_sequence, "Checks", "verify the headers of udp_source: order, duplicates, gaps"),
	FLAG("by-destination", 0, by_destination, "Checks", "count datagrams per local address"),
	FLAG("drop-reasons", 0, drop_reasons, "Checks", "say why the kernel dropped packets for our ports, by a BPF program (as root)"),
	NUMBER("use-bad-ptr", 'B', OPT_INT, bad_ptr, "N", 0, 1024, NULL, "Checks", "fault test: give packet N of each batch a bad buffer"),

	FLAG("ledger", 0, ledger, "Counters", "account for every datagram: what the kernel dropped, place by place, and whether it adds up"),
	TEXT("sent-from", 0, OPT_STRING, sent_from, "FILE", "Counters",
	     "with --ledger: JSON lines of udp_source, whose sum record tells what was sent (default: its trailers)"),
	{ .name = "nstat", .type = OPT_CHOICE, .optional = true, .missing = "auto", .argument = "MODE", AT(nstat), .choices = "off|auto|text|json",
	  .def = "off", .group = "Counters", .help = "after each run the protocol counters that changed, as nstat; arguments are patterns of names" },
	FLAG("zeros", 0, zeros, "Counters", "with --nstat or --watch: also counters that did not change"),
	TEXT("ethtool", 0, OPT_LIST, ethtool, "DEV", "Counters", "after each run the counters of this interface's driver, may be repeated"),
	FLAG("softnet", 0, softnet, "Counters", "after each run what each CPU of the host processed, dropped, and left over"),
	FLAG("watch", 0, watch, "Counters", "receive nothing: show the counters that changed every --interval (1s)"),

	CHOICE("format", format, "text|classic|json", "text", "Output", "table, columns of netoptimizer's udp_sink, or JSON lines"),
	NUMBER("interval", 0, OPT_DURATION, interval, "TIME", 0, 0, NULL, "Output", "report every TIME while running"),
	{ .name = "verbose", .letter = 'v', .type = OPT_LEVEL, .optional = true, .argument = "LEVEL", AT(verbose), .max = 3,
	  .group = "Output", .help = "say more; may be repeated" },
	{ .name = "config", .type = OPT_CONFIG, .argument = "FILE", .group = "Output", .help = "read options from a file of 'option = value' lines" },
	FLAG("version", 'V', version, "Output", "print the version (with -v: how it was built) and exit"),
	{ .name = "help", .letter = 'h', .type = OPT_HELP, .group = "Output", .help = "print this and exit" },

	{ .name = "null-payload", .type = OPT_BYTES, .argument = "BYTES", AT(null_payload), .max = 65507, .def = "18", .group = "Testing",
	  .help = "payload of the null engine's datagrams", .hidden = true },
	{ .name = "dump-options", .type = OPT_FLAG, AT(dump_options), .group = "Testing",
	  .help = "print the option table, tab separated, and exit", .hidden = true },
	{ .name = "dump-counters", .type = OPT_FLAG, AT(dump_counters), .group = "Testing",
	  .help = "print the counter table, tab separated, and exit", .hidden = true },
	{ 0 },
};

void conf_options(struct opt_set *set, struct sink_conf *conf)
{
	*set = (struct opt_set){
		.table = table,
		.program = "udp_sink",
		.usage = "[options] [PATTERN ...]",
		.about = "Receives UDP datagrams and says, with numbers that add up, what that costs.",
		.conf = conf,
	};
}

/* Pairs that exclude each other, with the reason. */
static const struct {
	const char *a, *b, *why;
} excludes[] = {
	{ "shared-socket", "reuse-port", "one socket for all workers, or one each" },
	{ "shared-socket", "use-bpf", "steering needs one socket per worker" },
	{ "shared-socket", "connect-each", "each worker adds sockets of its own" },
	{ "connect", "connect-each", "the listener must stay unconnected" },
	{ "reuse-port", "connect-each", "the sockets of flows join a group of their own" },
	{ "use-bpf", "connect-each", "a flow would get a socket for each CPU that processes it" },
	{ "cpus", "place", "both say where workers run" },
	{ "dontwait", "waitforone", "one never waits, the other waits for one datagram" },
	{ "dontwait", "spin", "they are the same" },
	{ "dontwait", "wait", "it is a way to wait itself, namely not at all" },
	{ "check-sequence", "use-bpf", "the datagrams of a flow come to the worker of whichever CPU processed them" },
	{ "check-pktgen", "no-copy", "there is no payload to check" },
	{ "check-sequence", "no-copy", "there is no payload to check" },
	{ "ledger", "no-copy", "trailers are known by their payload" },
	{ "ledger", "use-bad-ptr", "the kernel counts what could not be copied as dropped" },
	{ "gro", "no-copy", "segments need their buffer" },
	{ "gro", "buffer-size", "coalesced buffers are always 65535 bytes" },
	{ "gro", "nr-iovec", "segments are read from one piece" },
};

bool conf_in_force(const struct opt_set *set, const char *name)
{
	const struct opt *t = table;
	char text[32];

	while (strcmp(t->name, name))
		t++;
	if (t->type == OPT_FLAG || t->type == OPT_CHOICE)
		return strcmp(opt_text(set, t, text, sizeof(text)), t->type == OPT_FLAG ? "no" : t->def) != 0;
	return opt_given(set, name);
}

static int check_pairs(const struct opt_set *set, struct err *err)
{
	for (unsigned i = 0; i < ARRAY_SIZE(excludes); i++)
		if (conf_in_force(set, excludes[i].a) && conf_in_force(set, excludes[i].b))
			return err_say(err, EINVAL, "--%s and --%s exclude each other: %s", excludes[i].a,
				       excludes[i].b, excludes[i].why);
	return 0;
}

static bool is_shortcut(const char *engine)
{
	for (const struct opt *t = table; t->name; t++)
		if (t->type == OPT_ADD && t->choices == engine)
			return true;
	return false;
}

/* -T -u: upstream runs its engines in its own order, each once, whatever the order on the command line. A list with --engine stays as it is. */
static void order_shortcuts(struct opt_list *list)
{
	const char *given[8] = { NULL };
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		if (!is_shortcut(list->text[i]))
			return;
	for (unsigned e = 0; engine_table[e]; e++)
		for (unsigned i = 0; i < list->n; i++)
			if (strcmp(list->text[i], engine_table[e]->name) == 0) {
				given[n++] = list->text[i];
				break;
			}
	for (unsigned i = 0; i < n; i++)
		list->text[i] = given[i];
	list->n = n;
}

static int check_ledger(const struct opt_set *set, const struct sink_conf *conf, struct err *err)
{
	bool one = conf->repeat == 1 && conf->engines.n == 1 && !strpbrk(conf->engines.text[0], ",") && strcmp(conf->engines.text[0], "all");

	if (!conf->ledger)
		return opt_given(set, "sent-from") ? err_say(err, EINVAL, "--sent-from is for --ledger: give that too") : 0;
	if (conf->format == CONF_CLASSIC)
		return err_say(err, EINVAL, "--ledger and --format classic exclude each other: it has no place for it; use text or json");
	if (conf->buffer_size < SEQHDR_TRAILER_SIZE)
		return err_say(err, EINVAL, "--buffer-size %" PRIu64 ": --ledger reads the trailers of udp_source, which have %d bytes",
			       conf->buffer_size, SEQHDR_TRAILER_SIZE);
	if (conf->sent_from && !one)
		return err_say(err, EINVAL, "--sent-from tells of one run: name one --engine, without --repeat");
	return conf->sent_from ? sent_check(conf->sent_from, err) : 0;
}

int conf_check(const struct opt_set *set, struct sink_conf *conf, struct err *err)
{
	char text[32];
	int rc = check_pairs(set, err);

	if (rc)
		return rc;
	order_shortcuts(&conf->engines);
	if (!conf->family)
		conf->family = AF_INET;
	if (opt_given(set, "duration") && !opt_given(set, "count"))
		conf->count = 0;
	if (opt_given(set, "duration") && !conf->duration)
		return err_say(err, EINVAL, "--duration 0 would end before it begins; leave it out to run until --count");
	if (opt_given(set, "interval") && conf->interval < 10 * NSEC_PER_MSEC)
		return err_say(err, EINVAL, "--interval %s: must be at least 10ms", num_duration_text(conf->interval, text, sizeof(text)));
	if (opt_given(set, "until-quiet") && !opt_given(set, "count"))
		conf->count = 0;
	if (opt_given(set, "until-quiet") && conf->until_quiet < 100 * NSEC_PER_MSEC)
		return err_say(err, EINVAL, "--until-quiet %s: must be at least 100ms", num_duration_text(conf->until_quiet, text, sizeof(text)));
	rc = check_ledger(set, conf, err);
	if (rc)
		return rc;
	if (conf->format == CONF_CLASSIC && conf->interval)
		return err_say(err, EINVAL, "--interval and --format classic exclude each other: it has no interval lines; use text or json");
	if (conf->format == CONF_CLASSIC && conf->drop_reasons)
		return err_say(err, EINVAL, "--drop-reasons and --format classic exclude each other: it has no lines for reasons; use text or json");
	if (conf->busy_poll % NSEC_PER_USEC)
		return err_say(err, EINVAL, "--busy-poll %s: the kernel takes whole microseconds",
			       num_duration_text(conf->busy_poll, text, sizeof(text)));
	if (conf->use_bpf && conf->threads == 1)
		return err_say(err, EINVAL, "--use-bpf spreads datagrams over the sockets of several workers: give --threads");
	if (conf->check_sequence && conf->shared_socket && conf->threads != 1)
		return err_say(err, EINVAL, "--check-sequence needs each flow on one worker: not with --shared-socket and several threads");
	if (conf->place && !conf->connect && (!strcmp(conf->place, "same-cpu") || !strcmp(conf->place, "other-cpu")))
		return err_say(err, EINVAL, "--place %s: the kernel notes the CPU of the last datagram on connected sockets only: give --connect, "
					    "or a list of CPUs", conf->place);
	if (conf->check_sequence && conf->connect_each && conf->threads != 1)
		return err_say(err, EINVAL, "--check-sequence with --connect-each needs one thread: a flow changes its socket, and may change its worker");
	conf->counts_empty = conf->dontwait || opt_given(set, "sk-timeout");
	if (conf->bad_ptr > conf->batch)
		return err_say(err, EINVAL, "--use-bad-ptr %d: a batch has %d packets (--batch)", conf->bad_ptr, conf->batch);
	if (conf->bind_dev && strlen(conf->bind_dev) >= IFNAMSIZ)
		return err_say(err, EINVAL, "--bind-dev %s: the name of an interface has at most %d characters", conf->bind_dev,
			       IFNAMSIZ - 1);
	if (conf->nr_iovec > (int)conf->buffer_size)
		return err_say(err, EINVAL, "--nr-iovec %d: more pieces than --buffer-size has bytes", conf->nr_iovec);
	return conf_check_counted(set, conf, err);
}
