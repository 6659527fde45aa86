/* SPDX-License-Identifier: MIT */
/* --sent-from: sum records of one or more sources, from files and descriptors; what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "sink/sent.h"

#define SUM(sent, rest) "{\"type\":\"sum\",\"sent\":" sent ",\"refused\":{\"ENETDOWN\":3,\"EPERM\":4}," rest "}\n"
#define LOSS "\"trailers\":3,\"gso\":{\"segments\":32,\"refused\":null},\"local_loss\":{\"qdisc_drops\":5,\"tx_dropped\":0}"

#define NETNS 12

static struct sent_probes probes;

static int read_it(const char *text, struct ledger_facts *f, struct err *err)
{
	FILE *file = tmpfile();
	char fd[16];
	int ret;

	assert_non_null(file);
	fputs(text, file);
	rewind(file);
	snprintf(fd, sizeof(fd), "%d", fileno(file));
	ledger_facts_init(f);
	assert_int_equal(sent_check(fd, err), 0);
	ret = sent_read(fd, NETNS, f, &probes, err);
	fclose(file);
	return ret;
}

static void test_one(void **state)
{
	struct ledger_facts f;

	(void)state;
	assert_int_equal(read_it("{\"type\":\"header\"}\n{\"type\":\"period\",\"sent\":1}\n" SUM("1000", LOSS), &f, NULL), 0);
	assert_true(f.sent == 1000 && f.refused == 7 && f.trailers_sent == 3 && f.trailers_after == 0 && f.segments == 32);
	assert_true(f.qdisc_drops == 5 && f.tx_dropped == 0);
	assert_int_equal(read_it(SUM("9", "\"trailers\":null,\"gso\":{\"segments\":1},\"local_loss\":null"), &f, NULL), 0);
	assert_true(probes.datagrams == 0 && probes.messages == 0);
	assert_true(f.sent == 9 && f.trailers_sent == 0 && f.segments == 1 && f.qdisc_drops == LEDGER_UNKNOWN);
}

static void test_several(void **state)
{
	struct ledger_facts f;

	(void)state;
	assert_int_equal(read_it(SUM("1000", LOSS) SUM("20", LOSS), &f, NULL), 0);
	assert_true(f.sent == 1020 && f.refused == 14 && f.trailers_sent == 6 && f.qdisc_drops == 10);
	assert_int_equal(read_it(SUM("1000", LOSS) SUM("20", "\"gso\":{\"segments\":1}"), &f, NULL), 0);
	assert_true(f.sent == 1020 && f.qdisc_drops == LEDGER_UNKNOWN && f.segments == 32);
}

/* Of what the discipline dropped, that which is in `sent`. */
static void test_qdisc(void **state)
{
	static const struct {
		const char *loss, *refused;
		uint64_t drops;
	} cases[] = {
		{ "\"qdisc_drops\":10,\"sndbuf_errors\":9", "", 9 },               /* one was of another protocol */
		{ "\"qdisc_drops\":10,\"sndbuf_errors\":0", "", 10 },              /* this kernel does not count them */
		{ "\"qdisc_drops\":10,\"sndbuf_errors\":12", "", 10 },             /* two were dropped behind it */
		{ "\"qdisc_drops\":10,\"sndbuf_errors\":null", "", 10 },
		{ "\"qdisc_drops\":10,\"sndbuf_errors\":10", "\"ENOBUFS\":10", 0 }, /* the source was told: refused, not sent */
		{ "\"qdisc_drops\":null,\"sndbuf_errors\":10", "", LEDGER_UNKNOWN },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ledger_facts f;
		char text[256];

		snprintf(text, sizeof(text), "{\"type\":\"sum\",\"sent\":5,\"refused\":{%s},\"local_loss\":{%s}}\n", cases[i].refused, cases[i].loss);
		assert_int_equal(read_it(text, &f, NULL), 0);
		assert_true(f.qdisc_drops == cases[i].drops);
	}
}

/* Of sources in our namespace only. */
static void test_probes(void **state)
{
#define HEADER(netns) "{\"type\":\"header\",\"netns_cookie\":" netns ",\"gso\":{\"self_test_datagrams\":256,\"self_test_messages\":4}}\n"
	struct ledger_facts f;

	(void)state;
	assert_int_equal(read_it(HEADER("12") SUM("1", LOSS), &f, NULL), 0);
	assert_true(probes.datagrams == 256 && probes.messages == 4);
	assert_int_equal(read_it(HEADER("13") HEADER("null") SUM("1", LOSS), &f, NULL), 0);
	assert_true(probes.datagrams == 0 && probes.messages == 0);
}

static void refuse(const char *text, const char *word)
{
	struct ledger_facts f;
	struct err err = ERR_INIT;

	assert_true(read_it(text, &f, &err) < 0);
	if (!strstr(err.text, word) || !strstr(err.text, "--sent-from"))
		fail_msg("%s", err.text);
	assert_true(f.sent == LEDGER_UNKNOWN);
}

static void test_refused(void **state)
{
	struct ledger_facts f;
	struct err err = ERR_INIT;

	(void)state;
	refuse("", "sum record");
	refuse("{\"type\":\"header\"}\n", "no sum record");
	refuse("{\"type\":\"sum\",\"sent\":null}\n", "no sum record");
	refuse("{\"type\":\"sum\",\"sent\":-4}\n", "no sum record");
	refuse("{\"type\":\"header\"}\nsent 5\n", "line 2");
	refuse("[1]\n", "line 1");
	assert_true(sent_check("999", &err) < 0);
	assert_non_null(strstr(err.text, "./999"));
	assert_int_equal(sent_check("some/file", &err), 0);
	ledger_facts_init(&f);
	assert_true(sent_read("some/file", NETNS, &f, &probes, &err) < 0);
	assert_non_null(strstr(err.text, "some/file"));
}

/* A source that has yet to end is waited for, up to its end. */
static void test_pipe(void **state)
{
	static const char text[] = SUM("77", LOSS);
	struct ledger_facts f;
	char fd[16];
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(p[1]);
	snprintf(fd, sizeof(fd), "%d", p[0]);
	ledger_facts_init(&f);
	assert_int_equal(sent_read(fd, NETNS, &f, &probes, NULL), 0);
	assert_int_equal(f.sent, 77);
	close(p[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R58 R69 a sum record: sent, refused, trailers, segments, what its host dropped", test_one, NULL, NULL, NULL },
		{ "several sources add up; what one does not know is unknown", test_several, NULL, NULL, NULL },
		{ "R58 the sender's queueing discipline: what it dropped of what was sent", test_qdisc, NULL, NULL, NULL },
		{ "R84 what a source sent to itself counts where that was our namespace", test_probes, NULL, NULL, NULL },
		{ "what holds no sum is refused with its line", test_refused, NULL, NULL, NULL },
		{ "a pipe is read to its end", test_pipe, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
