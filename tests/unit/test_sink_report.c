/* SPDX-License-Identifier: MIT */
/* The arithmetic of reports (R75), and the three voices saying the same (R102, R115). */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <cmocka.h>

#include "sink/report.h"

static struct sink_conf conf;
static struct setup setup;
static struct setup_engine engine;
static struct report_worker workers[4];

/* Four workers, a million datagrams each; worker 3 took half the time. */
static struct report four_workers(void)
{
	struct report r = { .kind = REPORT_SUM, .setup = &setup, .engine = &engine, .worker = workers, .workers = 4, .run = 2,
			    .known = STATS_TRUNC | STATS_CONTROL };

	memset(&conf, 0, sizeof(conf));
	memset(&setup, 0, sizeof(setup));
	memset(workers, 0, sizeof(workers));
	setup.conf = &conf;
	engine.ops = engine_find("recvmmsg");
	engine.conf = (struct engine_conf){ .batch = 64, .control_size = 64 };
	for (unsigned i = 0; i < 4; i++)
		workers[i] = (struct report_worker){
			.index = i, .cpu_obtained = (int)i, .duration_ns = i == 3 ? NSEC_PER_SEC : 2 * NSEC_PER_SEC,
			.stats = { .datagrams = 1000000, .buffers = 1000000, .calls = 20011, .bytes = 18000000,
				   .wire_bytes = 18000000, .fill = { [6] = 20000 } },
			.cpu_ns = 600000000, .user_ns = 100000000, .system_ns = 500000000, .split = true, .cycles = 2000000000,
			.wakeups = 37 + i, .flows = NAN,
		};
	r.total.flows = NAN;
	report_total(&r, 2 * NSEC_PER_SEC);
	return r;
}

static void test_totals_r75(void **state)
{
	struct report r = four_workers();
	struct report_rates total, one, half;

	(void)state;
	report_rates(&r.total, &total);
	report_rates(&workers[0], &one);
	report_rates(&workers[3], &half);
	assert_true(fabs(total.pps - 2e6) < 1);
	assert_true(fabs(one.pps - 5e5) < 1);
	assert_true(fabs(half.pps - 1e6) < 1);
	assert_true(fabs(total.cpu_ns - 600) < 1e-9); /* CPU time of all / datagrams of all */
	assert_true(fabs(one.cpu_ns - 600) < 1e-9);
	assert_true(fabs(total.wall_ns - 500) < 1e-9); /* time between datagrams of the program */
	assert_true(fabs(one.wall_ns - 2000) < 1e-9);
	assert_true(fabs(total.user_ns + total.system_ns - total.cpu_ns) < 1e-9);
	assert_true(fabs(total.batch - 50) < 1e-9);
	assert_true(fabs(total.bps - 8 * 18 * 2e6) < 1);
	assert_int_equal(r.total.wakeups, 4 * 37 + 6);
	assert_true(fabs(r.fairness - 1) < 1e-9);
}

static void test_nothing_is_undefined_not_zero_r115(void **state)
{
	struct report_worker none = { .duration_ns = 0 };
	struct report_rates k;

	(void)state;
	report_rates(&none, &k);
	assert_true(isnan(k.pps) && isnan(k.bps) && isnan(k.wall_ns) && isnan(k.cpu_ns) && isnan(k.payload) && isnan(k.batch));
	none.stats.datagrams = 1; /* one datagram, no time */
	report_rates(&none, &k);
	assert_true(isnan(k.pps) && isnan(k.wall_ns));
	none.duration_ns = NSEC_PER_SEC; /* time, but no datagram */
	none.stats.datagrams = 0;
	report_rates(&none, &k);
	assert_true(k.pps == 0 && isnan(k.wall_ns));
}

static void test_fairness_of_one_busy_worker(void **state)
{
	struct report r = four_workers();

	(void)state;
	for (unsigned i = 1; i < 4; i++)
		workers[i].stats.datagrams = 0;
	memset(&r.total, 0, sizeof(r.total));
	r.notes = 0;
	r.total.flows = 1;
	report_total(&r, 2 * NSEC_PER_SEC);
	assert_true(fabs(r.fairness - 0.25) < 1e-9);
	assert_int_equal(r.notes, 1);
	assert_non_null(strstr(r.note[0], "1 flow seen: 3 of 4 threads idle by design")); /* R93 */
}

static void test_uneven_spread_is_said_r94(void **state)
{
	struct report r = four_workers();

	(void)state;
	workers[1].drops = 77;
	workers[2].cpu_ns = 1000;
	memset(&r.total, 0, sizeof(r.total));
	r.notes = 0;
	r.total.flows = 100;
	report_total(&r, 2 * NSEC_PER_SEC);
	assert_true(r.notes >= 1);
	assert_non_null(strstr(r.note[0], "worker 1 dropped 77 while worker 2"));
}

/* What a voice prints. */
static char *say(const struct report_voice *voice, const struct report *r)
{
	FILE *file = tmpfile();
	int keep = dup(STDOUT_FILENO);
	char *text = calloc(1, 1 << 16);

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(voice->report(r), 0);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	rewind(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

static double json_at(json_t *root, const char *group, const char *name)
{
	json_t *v = json_object_get(json_object_get(root, group), name);

	assert_true(json_is_number(v));
	return json_number_value(v);
}

static void test_classic_says_what_json_says_r102(void **state)
{
	struct report r = four_workers();
	char *json = say(&report_json, &r), *classic = say(&report_classic, &r), batch[8];
	unsigned run;
	double wall, pps;
	unsigned long count, cycles, payload;
	json_t *root = json_loads(json, 0, NULL);

	(void)state;
	assert_non_null(root);
	assert_int_equal(sscanf(classic, "recvMmsg/%7[0-9 ]\trun: %u\t%lu\t%lf\t%lf\t%lu\t%lu", batch, &run, &count, &wall, &pps,
				&cycles, &payload), 7);
	assert_int_equal(count, json_at(root, "total", "datagrams"));
	assert_int_equal(run, json_integer_value(json_object_get(root, "run")));
	assert_true(fabs(wall - json_at(root, "rate", "wall_ns_per_datagram")) < 0.01);
	assert_true(fabs(pps - json_at(root, "rate", "pps")) < 0.01);
	assert_true(fabs((double)cycles - json_at(root, "cpu", "cycles_per_datagram")) < 1);
	assert_true(fabs((double)payload - json_at(root, "rate", "mean_payload")) < 1);
	json_decref(root);
	free(json);
	free(classic);
}

/* Every number of a JSON object that is not zero stands in the text as well. */
static void test_text_has_what_json_has_r102(void **state)
{
	struct report r = four_workers();
	static const struct {
		const char *group, *name;
		int digits;
	} shown[] = { { "total", "datagrams", 0 },		   { "rate", "pps", 0 },
		      { "rate", "wall_ns_per_datagram", 0 },	   { "cpu", "ns_per_datagram", 0 },
		      { "cpu", "user_ns_per_datagram", 0 },	   { "cpu", "system_ns_per_datagram", 0 },
		      { "rate", "mean_payload", 0 },		   { "rate", "mean_batch", 1 },
		      { "total", "empty", 0 },			   { "total", "truncated", 0 },
		      { "total", "foreign", 0 },		   { "total", "empty_polls", 0 } };
	char *json, *text, number[32];
	json_t *root;

	(void)state;
	r.total.stats.empty = 101;
	r.total.stats.truncated = 102;
	r.total.stats.foreign = 103;
	r.total.stats.empty_polls = 104;
	json = say(&report_json, &r);
	text = say(&report_text, &r);
	root = json_loads(json, 0, NULL);
	assert_non_null(root);
	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++) {
		snprintf(number, sizeof(number), "%.*f", shown[i].digits, json_at(root, shown[i].group, shown[i].name));
		if (!strstr(text, number))
			fail_msg("%s.%s = %s is not in the text:\n%s", shown[i].group, shown[i].name, number, text);
	}
	json_decref(root);
	free(json);
	free(text);
}

static void test_classic_is_byte_exact(void **state)
{
	struct report r = four_workers();
	char *classic;

	(void)state;
	classic = say(&report_classic, &r);
	assert_string_equal(classic, "recvMmsg/64  \trun:  2\t 4000000\t500.00\t2000000.00\t500\t18\t\n");
	free(classic);
	engine.ops = engine_find("read");
	r.early_demux = 1;
	conf.connect = "first";
	r.total.stats.empty_polls = 5;
	classic = say(&report_classic, &r);
	assert_null(strstr(classic, "emptyq")); /* time-outs that nobody asked for */
	free(classic);
	conf.counts_empty = true;
	classic = say(&report_classic, &r);
	assert_string_equal(classic, "read      \trun:  2\t 4000000\t500.00\t2000000.00\t500\t18\t demux:1 c:1 emptyq:5\n");
	free(classic);
}

static void test_empty_run_in_every_voice_r115(void **state)
{
	struct report_worker one = { .flows = NAN };
	struct report r = four_workers();
	char *json, *text, *classic;
	json_t *root;

	(void)state;
	memset(&r.total, 0, sizeof(r.total));
	r.worker = &one;
	r.workers = 1;
	r.total.flows = NAN;
	report_total(&r, 0);
	json = say(&report_json, &r);
	text = say(&report_text, &r);
	classic = say(&report_classic, &r);
	root = json_loads(json, 0, NULL);
	assert_non_null(root);
	assert_true(json_is_null(json_object_get(json_object_get(root, "rate"), "pps")));
	assert_true(json_is_null(json_object_get(json_object_get(root, "cpu"), "ns_per_datagram")));
	assert_null(strstr(json, "nan"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(classic, "nan"));
	json_decref(root);
	free(json);
	free(text);
	free(classic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals_r75),
		cmocka_unit_test(test_nothing_is_undefined_not_zero_r115),
		cmocka_unit_test(test_fairness_of_one_busy_worker),
		cmocka_unit_test(test_uneven_spread_is_said_r94),
		cmocka_unit_test(test_classic_says_what_json_says_r102),
		cmocka_unit_test(test_text_has_what_json_has_r102),
		cmocka_unit_test(test_classic_is_byte_exact),
		cmocka_unit_test(test_empty_run_in_every_voice_r115),
	};

	return cmocka_run_group_tests_name("sink_report", tests, NULL, NULL);
}
