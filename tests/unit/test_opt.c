/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"

struct conf {
	bool lite, no_copy, keep, secret;
	int port, wait, family, verbose, offset, level;
	uint64_t count, size, timeout;
	const char *device, *connect;
	struct opt_list listen, engines;
};

#define AT(field) .offset = offsetof(struct conf, field)

/* clang-format off */
static const struct opt table[] = {
	{ .name = "listen", .type = OPT_LIST, .argument = "ADDR", AT(listen),
	  .group = "Addresses", .help = "where to receive" },
	{ .name = "port", .letter = 'l', .type = OPT_INT,
	  .argument = "PORT", AT(port), .min = 1, .max = 65535, .def = "6666",
	  .group = "Addresses", .help = "port" },
	{ .name = "ipv4", .letter = '4', .type = OPT_SET, AT(family), .min = 4,
	  .group = "Addresses", .help = "IPv4" },
	{ .name = "ipv6", .letter = '6', .type = OPT_SET, AT(family), .min = 6,
	  .group = "Addresses", .help = "IPv6" },
	{ .name = "lite", .letter = 'L', .type = OPT_FLAG, AT(lite),
	  .group = "Addresses", .help = "UDP-Lite" },
	{ .name = "udplite", .type = OPT_ALIAS, .choices = "lite",
	  .group = "Addresses", .help = "same as --lite" },
	{ .name = "no-copy", .type = OPT_FLAG, AT(no_copy),
	  .group = "Addresses", .help = "do not copy" },
	{ .name = "keep", .type = OPT_FLAG, AT(keep), .def = "yes",
	  .group = "Addresses", .help = "keep" },
	{ .name = "connect", .letter = 'C', .type = OPT_STRING, .optional = true, .missing = "first",
	  .argument = "ADDR", AT(connect),
	  .group = "Addresses", .help = "connect" },
	{ .name = "engine", .letter = 'e', .type = OPT_LIST,
	  .argument = "NAME", AT(engines), .def = "auto", .group = "Engine",
	 
	  .help = "a help text that is long enough to be broken into more than one line of the screen, "
		  "which has 80 columns" },
	{ .name = "recvmmsg", .letter = 'U', .type = OPT_ADD, AT(engines), .choices = "recvmmsg",
	  .group = "Engine",
	  .help = "short for --engine recvmmsg" },
	{ .name = "wait", .letter = 'w', .type = OPT_CHOICE,
	  .argument = "MODE", AT(wait), .choices = "block|poll|spin",
	  .def = "poll", .group = "Engine", .help = "how to wait" },
	{ .name = "spin", .type = OPT_SET, AT(wait), .min = 2,
	  .group = "Engine", .help = "short for --wait spin" },
	{ .name = "count", .letter = 'c', .type = OPT_COUNT, .argument = "N", AT(count),
	  .group = "Engine", .help = "datagrams" },
	{ .name = "size", .type = OPT_BYTES,
	  .argument = "BYTES", AT(size), .min = 1, .max = 65536, .def = "4k", .group = "Engine",
	  .help = "buffer" },
	{ .name = "buffer", .type = OPT_ALIAS, .choices = "size",
	  .group = "Engine", .help = "same as --size" },
	{ .name = "timeout", .letter = 'i', .type = OPT_DURATION,
	  .argument = "TIME", AT(timeout), .min = 1000, .max = 1000000000,
	  .def = "100ms", .group = "Engine", .help = "time-out" },
	{ .name = "offset", .type = OPT_INT, .argument = "N", AT(offset), .min = -10,
	  .group = "Engine", .help = "offset" },
	{ .name = "bind-dev", .type = OPT_STRING, .argument = "DEV", AT(device),
	  .group = "Engine", .help = "interface" },
	{ .name = "check", .type = OPT_LEVEL, AT(level), .max = 2, .def = "1",
	  .group = "Output", .help = "check" },
	{ .name = "verbose", .letter = 'v', .type = OPT_LEVEL, AT(verbose),
	  .group = "Output", .help = "say more" },
	{ .name = "config", .type = OPT_CONFIG, .argument = "FILE",
	  .group = "Output", .help = "options file" },
	{ .name = "help", .letter = 'h', .type = OPT_HELP, .group = "Output", .help = "this" },
	{ .name = "secret", .letter = 'z', .type = OPT_FLAG, AT(secret),
	  .group = "Testing", .help = "hidden", .hidden = true },
	{ 0 },
};
/* clang-format on */

static struct conf conf;
static struct opt_set set;
static struct err err;
static enum opt_next next_step;
static char file_path[] = "/tmp/udpsink-opt-XXXXXX";

/* Options as one string, split at blanks. 0 or what opt_parse returned. */
static int parse(const char *line)
{
	static char copy[512];
	char *argv[64] = { copy }, *save = NULL;
	int argc = 1;

	opt_free(&set);
	memset(&conf, 0xa5, sizeof(conf)); /* defaults must be written, not found */
	memset(&set, 0xa5, sizeof(set));
	set.table = table;
	set.program = "udp_sink";
	set.usage = "[options] ADDR";
	set.about = "Receives.";
	set.conf = &conf;
	err = (struct err)ERR_INIT;
	snprintf(copy, sizeof(copy), "udp_sink %s", line);
	argv[0] = strtok_r(copy, " ", &save);
	for (char *word; (word = strtok_r(NULL, " ", &save));)
		argv[argc++] = word;
	return opt_parse(&set, argc, argv, &next_step, &err);
}

static void accept(const char *line)
{
	if (parse(line))
		fail_msg("'%s': %s", line, err.text);
	assert_int_equal(next_step, OPT_RUN);
	assert_string_equal(err.text, "");
}

static void refuse(const char *line, const char *sentence)
{
	if (parse(line) != -EINVAL)
		fail_msg("'%s' was not refused", line);
	assert_string_equal(err.text, sentence);
	assert_int_equal(err.code, EINVAL);
	assert_null(set.owned);
	assert_false(opt_given(&set, "port"));
}

static void write_file(const char *text, size_t size)
{
	FILE *file = fopen(file_path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static const char *with_file(const char *text, const char *line)
{
	static char all[512];

	write_file(text, strlen(text));
	snprintf(all, sizeof(all), "--config %s %s", file_path, line);
	return all;
}

/* The sentence begins with the file's name. */
static void refuse_file(const char *text, const char *sentence)
{
	char all[512];

	snprintf(all, sizeof(all), "%s:%s", file_path, sentence);
	refuse(with_file(text, ""), all);
}

static const char *text_of(const char *name)
{
	static char buf[64];

	for (const struct opt *o = table; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return opt_text(&set, o, buf, sizeof(buf));
	fail_msg("no option %s", name);
	return NULL;
}

static void list_is(const struct opt_list *list, const char *joined)
{
	char buf[256] = "";

	for (unsigned i = 0; i < list->n; i++)
		snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), "%s%s", i ? " " : "",
			 list->text[i]);
	assert_string_equal(buf, joined);
}

static void defaults(void **state)
{
	(void)state;
	accept("");
	assert_int_equal(conf.port, 6666);
	assert_int_equal(conf.wait, 1);
	assert_int_equal(conf.size, 4096);
	assert_int_equal(conf.timeout, 100000000);
	assert_int_equal(conf.level, 1);
	assert_true(conf.keep);
	assert_int_equal(conf.family, 0);
	assert_int_equal(conf.verbose, 0);
	assert_int_equal(conf.count, 0);
	assert_false(conf.lite);
	assert_false(conf.no_copy);
	assert_null(conf.connect);
	assert_null(conf.device);
	list_is(&conf.listen, "");
	list_is(&conf.engines, "auto");
	list_is(&set.operands, "");
	for (const struct opt *o = table; o->name; o++)
		assert_false(opt_given(&set, o->name));
}

static void flags(void **state)
{
	(void)state;
	accept("--lite --no-copy --no-keep");
	assert_true(conf.lite);
	assert_true(conf.no_copy);
	assert_false(conf.keep);
	accept("-L --no-lite --no-no-copy --keep");
	assert_false(conf.lite);
	assert_false(conf.no_copy);
	assert_true(conf.keep);
	accept("--lite=yes --keep=no");
	assert_true(conf.lite);
	assert_false(conf.keep);
	assert_true(opt_given(&set, "keep"));
	refuse("--lite=2", "--lite '2': takes no value, or yes or no");
	refuse("--no-lite=yes", "--no-lite takes no value");
	refuse("--no-port", "unknown option '--no-port'; see udp_sink --help");
	refuse("--no-spin", "unknown option '--no-spin'; see udp_sink --help");
}

static void ints(void **state)
{
	(void)state;
	accept("--port 1 --offset=-10");
	assert_int_equal(conf.port, 1);
	assert_int_equal(conf.offset, -10);
	accept("--port=65535 --offset 2147483647");
	assert_int_equal(conf.port, 65535);
	assert_int_equal(conf.offset, INT_MAX);
	accept("-l1k");
	assert_int_equal(conf.port, 1000);
	refuse("--port 0", "--port '0': must be 1 to 65535");
	refuse("--port 65536", "--port '65536': must be 1 to 65535");
	refuse("-l 65536", "-l '65536': must be 1 to 65535");
	refuse("--port -1", "--port '-1': must be 1 to 65535");
	refuse("--port 99999999999999999999", "--port '99999999999999999999': must be 1 to 65535");
	refuse("--port x", "--port 'x': expected a number");
	refuse("--port=", "--port '': expected a number");
	refuse("--port --5", "--port '--5': expected a number");
	refuse("--offset -11", "--offset '-11': must be at least -10");
	refuse("--offset 2147483648", "--offset '2147483648': must be at least -10");
	refuse("--offset -", "--offset '-': expected a number");
}

static void unsigned_numbers(void **state)
{
	(void)state;
	accept("--count 1.5M --size 64k --timeout 50us");
	assert_int_equal(conf.count, 1500000);
	assert_int_equal(conf.size, 65536);
	assert_int_equal(conf.timeout, 50000);
	accept("-c18446744073709551615 -i1");
	assert_int_equal(conf.count, UINT64_MAX);
	assert_int_equal(conf.timeout, 1000000000);
	refuse("--count -1", "--count '-1': expected a number such as 1000, 500k or 1.2M");
	refuse("--count 18446744073709551616", "--count '18446744073709551616': is too large");
	refuse("--size 0", "--size '0': must be 1 to 65536");
	refuse("--size 65537", "--size '65537': must be 1 to 65536");
	refuse("--size 4q", "--size '4q': expected a size such as 4096, 64k or 1M");
	refuse("--buffer 4q", "--buffer '4q': expected a size such as 4096, 64k or 1M");
	refuse("--timeout 999ns", "--timeout '999ns': must be 1us to 1s");
	refuse("--timeout 2s", "--timeout '2s': must be 1us to 1s");
	refuse("-i 1d", "-i '1d': expected a time such as 10s, 250ms or 50us");
}

static void strings(void **state)
{
	(void)state;
	accept("--bind-dev eth0");
	assert_string_equal(conf.device, "eth0");
	assert_null(conf.connect);
	accept("--bind-dev= --connect");
	assert_string_equal(conf.device, "");
	assert_string_equal(conf.connect, "first");
	accept("--connect=[::1]:5 --connect=x");
	assert_string_equal(conf.connect, "x");
	accept("--connect addr");
	assert_string_equal(conf.connect, "first");
	list_is(&set.operands, "addr");
	accept("-C addr");
	assert_string_equal(conf.connect, "first");
	list_is(&set.operands, "addr");
	accept("-CL");
	assert_string_equal(conf.connect, "first");
	assert_true(conf.lite);
	refuse("--bind-dev", "--bind-dev needs a value: DEV");
}

static void choices(void **state)
{
	(void)state;
	accept("--wait block");
	assert_int_equal(conf.wait, 0);
	accept("-wspin");
	assert_int_equal(conf.wait, 2);
	refuse("--wait spi", "--wait 'spi': must be one of block|poll|spin");
	refuse("--wait spins", "--wait 'spins': must be one of block|poll|spin");
	refuse("-w block|poll", "-w 'block|poll': must be one of block|poll|spin");
	refuse("--wait=", "--wait '': must be one of block|poll|spin");
}

static void shortcuts(void **state)
{
	(void)state;
	accept("--spin");
	assert_int_equal(conf.wait, 2);
	assert_true(opt_given(&set, "wait"));
	assert_true(opt_given(&set, "spin"));
	accept("--spin --wait block");
	assert_int_equal(conf.wait, 0);
	accept("-6");
	assert_int_equal(conf.family, 6);
	assert_true(opt_given(&set, "ipv6"));
	assert_false(opt_given(&set, "ipv4"));
	accept("-6 -4");
	assert_int_equal(conf.family, 4);
	accept("--recvmmsg --engine read -U");
	list_is(&conf.engines, "recvmmsg read recvmmsg");
	assert_true(opt_given(&set, "engine"));
	refuse("--spin=poll", "--spin 'poll': takes no value");
	refuse("--recvmmsg=1", "--recvmmsg takes no value");
}

static void aliases(void **state)
{
	(void)state;
	accept("--udplite --buffer 8k");
	assert_true(conf.lite);
	assert_int_equal(conf.size, 8192);
	assert_true(opt_given(&set, "lite"));
	assert_true(opt_given(&set, "udplite"));
	assert_true(opt_given(&set, "size"));
	assert_true(opt_given(&set, "buffer"));
	refuse("--buffer", "--buffer needs a value: BYTES");
	refuse("--no-udplite", "unknown option '--no-udplite'; see udp_sink --help");
}

static void lists_grow(void **state)
{
	char line[512] = "";

	(void)state;
	for (int i = 0; i < 20; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "--listen a%d ", i);
	accept(line);
	assert_int_equal(conf.listen.n, 20);
	assert_string_equal(conf.listen.text[0], "a0");
	assert_string_equal(conf.listen.text[19], "a19");
	accept("--engine a,b -e c");
	list_is(&conf.engines,
		"a,b c"); /* the default went away; commas are the program's business */
}

static void levels(void **state)
{
	(void)state;
	accept("-v");
	assert_int_equal(conf.verbose, 1);
	accept("-vv -v --verbose");
	assert_int_equal(conf.verbose, 4);
	accept("--verbose=3 -v");
	assert_int_equal(conf.verbose, 4);
	accept("-v 3");
	assert_int_equal(conf.verbose, 1);
	list_is(&set.operands, "3");
	accept("--check");
	assert_int_equal(conf.level, 2);
	accept("--check --check --check");
	assert_int_equal(conf.level, 2);
	accept("--check=0");
	assert_int_equal(conf.level, 0);
	refuse("--check=3", "--check '3': must be 0 to 2");
	refuse("--check=a", "--check 'a': expected a number");
}

static void letters_are_grouped(void **state)
{
	(void)state;
	accept("-vLv6l99 -Uc5");
	assert_int_equal(conf.verbose, 2);
	assert_true(conf.lite);
	assert_int_equal(conf.family, 6);
	assert_int_equal(conf.port, 99);
	assert_int_equal(conf.count, 5);
	refuse("-vx", "unknown option '-x'; see udp_sink --help");
	refuse("-vl", "-l needs a value: PORT");
	refuse("-?", "unknown option '-?'; see udp_sink --help");
	refuse("-:", "unknown option '-:'; see udp_sink --help");
	refuse("-\x01", "unknown option letter 0x01; see udp_sink --help");
	refuse("-\xc3\xbc", "unknown option letter 0xc3; see udp_sink --help");
}

static void operands_mix_with_options(void **state)
{
	(void)state;
	accept("a -v b --port 5 c -- -L --lite");
	list_is(&set.operands, "a b c -L --lite");
	assert_int_equal(conf.verbose, 1);
	assert_int_equal(conf.port, 5);
	assert_false(conf.lite);
	accept("--");
	list_is(&set.operands, "");
	accept("-L -"); /* at the end only: musl takes all that follows a "-" as operands */
	list_is(&set.operands, "-");
	assert_true(conf.lite);
	setenv("POSIXLY_CORRECT", "1", 1);
	accept("a -L");
	unsetenv("POSIXLY_CORRECT");
	list_is(&set.operands, "a");
	assert_true(conf.lite);
}

static void unique_prefixes(void **state)
{
	(void)state;
	accept("--tim 5us --por 7");
	assert_int_equal(conf.timeout, 5000);
	assert_int_equal(conf.port, 7);
	accept("--no-l");
	assert_false(conf.lite);
	refuse("--po=x", "--port 'x': expected a number"); /* the sentence has the whole name */
	refuse("--con", "'--con' could be any of --connect --config");
	refuse("--con=x", "'--con' could be any of --connect --config");
	refuse("--ipv", "'--ipv' could be any of --ipv4 --ipv6");
	refuse("--nothing", "unknown option '--nothing'; see udp_sink --help");
	refuse("--nothing=5", "unknown option '--nothing'; see udp_sink --help");
}

static void argv_is_not_changed(void **state)
{
	char program[] = "p", a[] = "a", v[] = "-v", b[] = "b", dashes[] = "--", c[] = "-c";
	char *argv[] = { program, a, v, b, dashes, c, NULL }, *before[ARRAY_SIZE(argv)];

	(void)state;
	accept("");
	opt_free(&set);
	memcpy(before, argv, sizeof(argv));
	assert_int_equal(opt_parse(&set, 6, argv, &next_step, &err), 0);
	assert_memory_equal(before, argv, sizeof(argv));
	list_is(&set.operands, "a b -c");
}

static void parsing_again_starts_afresh(void **state)
{
	(void)state;
	refuse("-vvvx", "unknown option '-x'; see udp_sink --help"); /* stops inside a group */
	accept("-L a");
	assert_int_equal(conf.verbose, 0);
	assert_true(conf.lite);
	accept("b");
	assert_false(conf.lite);
	list_is(&set.operands, "b");
}

static void file_values(void **state)
{
	(void)state;
	accept(with_file("# a comment\n"
			 "\n"
			 "   port=77\n"
			 "wait = spin # behind a value\n"
			 "bind-dev = eth0#1\n"
			 "lite\n"
			 "no-keep\r\n"
			 "no-copy = no\n"
			 "connect\n"
			 "listen = a\n"
			 "\tlisten =  b c  \t\n"
			 "ipv6\n"
			 "recvmmsg\n"
			 "verbose = 2\n"
			 "verbose\n"
			 "buffer = 1k\n"
			 "count = 1M", /* no newline at the end */
			 ""));
	assert_int_equal(conf.port, 77);
	assert_int_equal(conf.wait, 2);
	assert_string_equal(conf.device, "eth0#1");
	assert_true(conf.lite);
	assert_false(conf.keep);
	assert_false(conf.no_copy);
	assert_string_equal(conf.connect, "first");
	assert_int_equal(conf.listen.n, 2);
	assert_string_equal(conf.listen.text[0], "a");
	assert_string_equal(conf.listen.text[1], "b c");
	assert_int_equal(conf.family, 6);
	list_is(&conf.engines, "recvmmsg");
	assert_int_equal(conf.verbose, 3);
	assert_int_equal(conf.size, 1024);
	assert_int_equal(conf.count, 1000000);
	assert_true(opt_given(&set, "port"));
	assert_true(opt_given(&set, "size"));
	assert_false(opt_given(&set, "timeout"));
}

static void command_line_wins_over_file(void **state)
{
	static const char text[] =
		"port = 77\nwait = block\nlite\nverbose = 2\nengine = a\nengine = b\n"
		"listen = x\nsize = 9\nipv6\nkeep = no\n";

	(void)state;
	accept(with_file(text, "--port 5 --spin --no-lite -v --engine c -U --buffer 8 -4 --keep"));
	assert_int_equal(conf.port, 5);
	assert_int_equal(conf.wait, 2);
	assert_false(conf.lite);
	assert_int_equal(conf.verbose, 1);
	list_is(&conf.engines, "c recvmmsg");
	list_is(&conf.listen, "x");
	assert_int_equal(conf.size, 8);
	assert_int_equal(conf.family, 4);
	assert_true(conf.keep);
	accept(with_file("engine = a\nport = 3\n", "-U"));
	list_is(&conf.engines, "recvmmsg");
	assert_int_equal(conf.port, 3);
}

static void config_may_stand_anywhere(void **state)
{
	char line[128];

	(void)state;
	write_file("port = 77\n", 10);
	snprintf(line, sizeof(line), "--port 5 --config=%s", file_path);
	accept(line);
	assert_int_equal(conf.port, 5);
	snprintf(line, sizeof(line), "--config /dev/null --config %s", file_path);
	accept(line);
	assert_int_equal(conf.port, 77);
}

static void file_errors_name_the_line(void **state)
{
	static char longer[5000];

	(void)state;
	refuse_file("\n# x\nport = 0\n", "3: port '0': must be 1 to 65535");
	refuse_file("port\n", "1: port needs a value: port = PORT");
	refuse_file("buffer\n", "1: buffer needs a value: buffer = BYTES");
	refuse_file("recvmmsg = 1\n", "1: recvmmsg takes no value");
	refuse_file("no-lite = yes\n", "1: no-lite takes no value");
	refuse_file("help\n", "1: help: belongs on the command line");
	refuse_file("config = other\n", "1: config: belongs on the command line");
	refuse_file(
		"por = 5\n",
		"1: unknown option 'por'; lines are 'option = value', names as in udp_sink --help without dashes");
	refuse_file(
		"--port = 5\n",
		"1: unknown option '--port'; lines are 'option = value', names as in udp_sink --help without dashes");
	refuse_file(
		"port 5\n",
		"1: unknown option 'port 5'; lines are 'option = value', names as in udp_sink --help without dashes");
	refuse_file(
		"= 5\n",
		"1: unknown option ''; lines are 'option = value', names as in udp_sink --help without dashes");
	memset(longer, 'x', sizeof(longer) - 1);
	refuse_file(longer, "1: is longer than 4094 bytes, or no text");
}

static void file_with_zero_bytes_is_refused(void **state)
{
	char line[128], sentence[128];

	(void)state;
	write_file("port = 5\nlite\0\n", 15);
	snprintf(line, sizeof(line), "--config %s", file_path);
	snprintf(sentence, sizeof(sentence), "%s:2: is longer than 4094 bytes, or no text",
		 file_path);
	refuse(line, sentence);
}

static void file_that_cannot_be_read(void **state)
{
	(void)state;
	assert_int_equal(parse("--config /nowhere"), -ENOENT);
	assert_string_equal(err.text, "options file /nowhere: No such file or directory");
	assert_int_equal(parse("--config /"), -EISDIR);
	assert_string_equal(err.text, "options file /: Is a directory");
	refuse("--config /nowhere --nothing", "unknown option '--nothing'; see udp_sink --help");
}

static void text_reads_back(void **state)
{
	(void)state;
	accept("");
	assert_string_equal(text_of("port"), "6666");
	assert_string_equal(text_of("lite"), "no");
	assert_string_equal(text_of("keep"), "yes");
	assert_string_equal(text_of("wait"), "poll");
	assert_string_equal(text_of("size"), "4096");
	assert_string_equal(text_of("timeout"), "100ms");
	assert_string_equal(text_of("engine"), "auto");
	assert_string_equal(text_of("listen"), "");
	assert_string_equal(text_of("bind-dev"), "");
	assert_string_equal(text_of("connect"), "");
	assert_string_equal(text_of("ipv6"), "");
	assert_string_equal(text_of("check"), "1");
	assert_string_equal(text_of("help"), "");
	assert_string_equal(text_of("config"), "");
	accept("--udplite -U -e read --spin -6 --connect -vv -c18446744073709551615 --offset -5 --listen a");
	assert_string_equal(text_of("lite"), "yes");
	assert_string_equal(text_of("udplite"), "yes");
	assert_string_equal(text_of("engine"), "recvmmsg,read");
	assert_string_equal(text_of("recvmmsg"), "");
	assert_string_equal(text_of("wait"), "spin");
	assert_string_equal(text_of("spin"), "yes");
	assert_string_equal(text_of("ipv6"), "yes");
	assert_string_equal(text_of("ipv4"), "");
	assert_string_equal(text_of("connect"), "first");
	assert_string_equal(text_of("verbose"), "2");
	assert_string_equal(text_of("count"), "18446744073709551615");
	assert_string_equal(text_of("offset"), "-5");
	assert_string_equal(text_of("listen"), "a");
}

/* R116: what opt_text says of each option, given again, leads to the same configuration. */
static void R116_text_reproduces_the_run(void **state)
{
	static const char first[] =
		"--lite --no-keep --offset -3 -c7k --size 1k --timeout 1.5us --spin -6 -vv --check=0 --listen x --connect=y "
		"--bind-dev eth0 -e a,b";
	char line[512] = "", text[64];
	struct conf before;

	(void)state;
	accept(first);
	before = conf;
	for (const struct opt *o = table; o->name; o++)
		if (*opt_text(&set, o, text, sizeof(text)) && !o->hidden)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), "--%s=%s ",
				 o->name, text);
	accept(line);
	assert_int_equal(conf.lite, before.lite);
	assert_int_equal(conf.no_copy, before.no_copy);
	assert_int_equal(conf.keep, before.keep);
	assert_memory_equal(&conf.port, &before.port,
			    offsetof(struct conf, device) - offsetof(struct conf, port));
	assert_string_equal(conf.device, "eth0");
	assert_string_equal(conf.connect, "y");
	list_is(&conf.listen, "x");
	list_is(&conf.engines, "a,b");
}

static void text_fits_the_buffer(void **state)
{
	char buf[8];

	(void)state;
	accept("--listen abc --listen def --listen ghi");
	assert_string_equal(opt_text(&set, &table[0], buf, sizeof(buf)), "abc,def");
}

/* Everything that `print` prints. */
static char *printed(void (*print)(const struct opt_set *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(&set, out);
	fclose(out);
	return text;
}

static void has(const char *all, const char *part)
{
	if (!strstr(all, part))
		fail_msg("'%s' is missing in:\n%s", part, all);
}

static void help_shows_the_table(void **state)
{
	char *help;

	(void)state;
	accept("");
	help = printed(opt_print_help);
	has(help,
	    "Usage: udp_sink [options] ADDR\nReceives.\n\nAddresses:\n      --listen=ADDR           where to receive\n");
	has(help, "  -l, --port=PORT             port (default: 6666)\n");
	has(help, "  -L, --lite                  UDP-Lite\n");
	has(help, "  -C, --connect[=ADDR]        connect\n");
	has(help, "      --udplite               same as --lite\n");
	has(help,
	    "\nEngine:\n  -e, --engine=NAME           a help text that is long enough to be broken into\n"
	    "                              more than one line of the screen, which has 80\n"
	    "                              columns (default: auto)\n");
	has(help, "  -w, --wait=block|poll|spin  how to wait (default: poll)\n");
	has(help, "      --buffer=BYTES          same as --size\n");
	has(help, "  -v, --verbose[=LEVEL]       say more\n");
	assert_null(strstr(help, "secret"));
	assert_null(strstr(help, "Testing"));
	for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") < 80);
	free(help);
}

static void table_shows_everything(void **state)
{
	char *text;

	(void)state;
	accept("");
	text = printed(opt_print_table);
	has(text, "listen\t\tlist\tADDR\t\t0\t\twhere to receive\t\t0\t0\tAddresses\n");
	has(text, "\nport\tl\tint\tPORT\t6666\t0\t\tport\t\t1\t65535\tAddresses\n");
	has(text, "\nipv6\t6\tset\t\t\t0\t\tIPv6\t6\t6\t0\tAddresses\n");
	has(text, "\nudplite\t\talias\t\t\t0\tlite\tsame as --lite\t\t0\t0\tAddresses\n");
	has(text, "\nconnect\tC\tstring\t[ADDR]\t\t0\t\tconnect\t\t0\t0\tAddresses\n");
	has(text,
	    "\nrecvmmsg\tU\tadd\t\t\t0\tengine\tshort for --engine recvmmsg\trecvmmsg\t0\t0\tEngine\n");
	has(text,
	    "\nwait\tw\tchoice\tMODE\tpoll\t0\t\thow to wait\tblock|poll|spin\t0\t0\tEngine\n");
	has(text, "\nspin\t\tset\t\t\t0\twait\tshort for --wait spin\tspin\t2\t0\tEngine\n");
	has(text, "\nbuffer\t\talias\tBYTES\t4k\t0\tsize\tsame as --size\t\t1\t65536\tEngine\n");
	has(text, "\nverbose\tv\tlevel\t[LEVEL]\t\t0\t\tsay more\t\t0\t0\tOutput\n");
	has(text, "\nconfig\t\tconfig\tFILE\t");
	has(text, "\nhelp\th\thelp\t\t");
	has(text, "\nsecret\tz\tflag\t\t\t1\t\thidden\t\t0\t0\tTesting\n");
	free(text);
}

static void help_ends_the_program(void **state)
{
	char text[256] = "";
	int saved, reader[2], rc;

	(void)state;
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	assert_int_equal(pipe(reader), 0);
	assert_int_equal(dup2(reader[1], STDOUT_FILENO), STDOUT_FILENO);
	close(reader[1]);
	rc = parse(
		"--config /nowhere -h --nothing"); /* nothing behind it, and no file, is looked at */
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(rc, 0);
	assert_int_equal(next_step, OPT_EXIT_OK);
	assert_true(read(reader[0], text, sizeof(text) - 1) > 0);
	close(reader[0]);
	has(text, "Usage: udp_sink [options] ADDR\n");
}

static void mistakes_in_the_table_are_found(void **state)
{
	static const struct opt alias[] = { { .name = "a", .type = OPT_ALIAS, .choices = "b" },
					    { 0 } };
	static const struct opt bad_default[] = {
		{ .name = "port",
		  .type = OPT_INT,
		  .argument = "N",
		  AT(port),
		  .max = 5,
		  .def = "6" },
		{ 0 },
	};
	char program[] = "p", *argv[] = { program, NULL };

	(void)state;
	accept("");
	opt_free(&set);
	set.table = alias;
	assert_int_equal(opt_parse(&set, 1, argv, &next_step, &err), -EINVAL);
	assert_string_equal(err.text, "option table: --a is an alias of --b, which does not exist");
	set.table = bad_default;
	assert_int_equal(opt_parse(&set, 1, argv, &next_step, &err), -EINVAL);
	assert_string_equal(err.text, "default of --port '6': must be 0 to 5");
}

static void free_twice(void **state)
{
	(void)state;
	accept("--listen a");
	opt_free(&set);
	opt_free(&set);
	assert_false(opt_given(&set, "listen"));
	assert_false(opt_given(&set, "nothing"));
	assert_int_equal(set.operands.n, 0);
}

static int make_file(void **state)
{
	int fd = mkstemp(file_path);

	(void)state;
	util_close(&fd);
	return access(file_path, W_OK);
}

static int remove_file(void **state)
{
	(void)state;
	opt_free(&set);
	return unlink(file_path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(flags),
		cmocka_unit_test(ints),
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(strings),
		cmocka_unit_test(choices),
		cmocka_unit_test(shortcuts),
		cmocka_unit_test(aliases),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(levels),
		cmocka_unit_test(letters_are_grouped),
		cmocka_unit_test(operands_mix_with_options),
		cmocka_unit_test(unique_prefixes),
		cmocka_unit_test(argv_is_not_changed),
		cmocka_unit_test(parsing_again_starts_afresh),
		cmocka_unit_test(file_values),
		cmocka_unit_test(command_line_wins_over_file),
		cmocka_unit_test(config_may_stand_anywhere),
		cmocka_unit_test(file_errors_name_the_line),
		cmocka_unit_test(file_with_zero_bytes_is_refused),
		cmocka_unit_test(file_that_cannot_be_read),
		cmocka_unit_test(text_reads_back),
		cmocka_unit_test(R116_text_reproduces_the_run),
		cmocka_unit_test(text_fits_the_buffer),
		cmocka_unit_test(help_shows_the_table),
		cmocka_unit_test(table_shows_everything),
		cmocka_unit_test(help_ends_the_program),
		cmocka_unit_test(mistakes_in_the_table_are_found),
		cmocka_unit_test(free_twice),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
