/* SPDX-License-Identifier: MIT */
/* Sums and rates of the source (R75), snapshots while threads add (R100), layout of the blocks (R101), both
 * voices (R102). */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/report.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

static struct report_row row(uint64_t sent, double from_s, double to_s)
{
	return (struct report_row){
		.stats = { .sent = sent, .messages = sent, .calls = sent / 10, .bytes = sent * 18 },
		.start_ns = (uint64_t)(from_s * 1e9),
		.end_ns = (uint64_t)(to_s * 1e9),
		.cpu_ns = 300 * sent,
		.user_ns = 100 * sent,
		.system_ns = 200 * sent,
	};
}

static void test_equal_threads_r75(void **state)
{
	struct report_row rows[4];
	struct report r = { .thread = rows, .n = 4 };
	struct report_rates k;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		rows[i] = row(1000000, 10, 12);
	report_total(&r);
	report_rates(&r.total, &k);
	assert_int_equal(r.total.stats.sent, 4000000);
	assert_int_equal(r.total.stats.bytes, 72000000);
	NEAR(k.seconds, 2.);
	NEAR(k.pps, 2e6);
	NEAR(k.bps, 2e6 * 18 * 8);
	NEAR(k.wall_ns, 500.); /* between datagrams of the program */
	NEAR(k.cpu_ns, 300.);  /* of all CPUs per datagram */
	NEAR(k.user_ns, 100.);
	NEAR(k.system_ns, 200.);
	NEAR(k.per_call, 10.);
	for (unsigned i = 0; i < 4; i++) {
		report_rates(&rows[i], &k);
		NEAR(k.pps, 0.5e6);
		NEAR(k.wall_ns, 2000.);
		NEAR(k.cpu_ns, 300.);
	}
}

static void test_unequal_threads_r75(void **state)
{
	struct report_row rows[3] = { row(1000000, 1, 2), row(1000000, 1.5, 5), row(0, 1, 1) };
	struct report r = { .thread = rows, .n = 3 };
	struct report_rates k;

	(void)state;
	report_total(&r);
	report_rates(&r.total, &k);
	NEAR(k.seconds, 4.);
	NEAR(k.pps, 0.5e6);
	report_rates(&rows[0], &k);
	NEAR(k.pps, 1e6);
	report_rates(&rows[2], &k);
	assert_true(isnan(k.pps) && isnan(k.wall_ns) && isnan(k.cpu_ns) && isnan(k.per_call));
}

static void test_attempted_is_sent_and_refused(void **state)
{
	struct stats_block *b = aligned_alloc(_Alignof(struct stats_block), 2 * sizeof(*b));
	struct stats a, z = { 0 }, d;

	(void)state;
	assert_non_null(b);
	assert_int_equal((uintptr_t)&b[1] % PAD_ALIGN, 0); /* R101 */
	b[0] = (struct stats_block){ 0 };
	stats_add(&b->at.sent, 10);
	stats_refused(b, ENOBUFS, 3);
	stats_refused(b, EPERM, 4);
	stats_snapshot(b, &a);
	assert_int_equal(stats_refused_total(&a), 7);
	assert_int_equal(stats_attempted(&a), 17);
	stats_sum(&z, &a);
	stats_sum(&z, &a);
	stats_difference(&d, &z, &a);
	assert_int_equal(stats_attempted(&d), 17);
	assert_string_equal(stats_errno_name(ENOBUFS), "ENOBUFS");
	free(b);
}

enum { THREADS = 4, ROUNDS = 200000 };

static void *adder(void *data)
{
	struct stats_block *b = data;

	for (unsigned i = 0; i < ROUNDS; i++) {
		stats_add(&b->at.sent, 3);
		if (i % 100 == 0)
			stats_refused(b, ENOBUFS, 1);
	}
	return NULL;
}

static void test_totals_never_decrease_r100(void **state)
{
	struct stats_block *b = aligned_alloc(_Alignof(struct stats_block), THREADS * sizeof(*b));
	pthread_t thread[THREADS];
	uint64_t last = 0, sent;

	(void)state;
	assert_non_null(b);
	for (unsigned t = 0; t < THREADS; t++) {
		b[t] = (struct stats_block){ 0 };
		assert_int_equal(pthread_create(&thread[t], NULL, adder, &b[t]), 0);
	}
	do {
		struct stats total = { 0 }, one;

		for (unsigned t = 0; t < THREADS; t++) {
			stats_snapshot(&b[t], &one);
			stats_sum(&total, &one);
		}
		assert_true(stats_attempted(&total) >= last);
		last = stats_attempted(&total);
		sent = total.sent;
	} while (sent < (uint64_t)THREADS * ROUNDS * 3);
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	assert_int_equal(sent, (uint64_t)THREADS * ROUNDS * 3);
	free(b);
}

/* What a voice prints for this report. */
static void capture(const struct report_voice *voice, const struct report *r, char *buf,
		    size_t size)
{
	FILE *file = tmpfile();
	struct err err = ERR_INIT;
	int out = dup(STDOUT_FILENO);
	size_t n;

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(voice->report(r, &err), 0);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	n = fread(buf, 1, size - 1, file);
	buf[n] = '\0';
	fclose(file);
}

static void test_both_voices_say_the_same_r102(void **state)
{
	struct report_row rows[2] = { row(123457, 1, 3), row(234561, 1, 3) };
	struct source_conf conf = { .sender = TX_SENDMMSG,
				    .batch = 17,
				    .gso = 4,
				    .segments = 4,
				    .size_text = "18",
				    .rate = { .n = 1 },
				    .run = 0xabc };
	struct report r = { .kind = REPORT_SUM,
			    .conf = &conf,
			    .thread = rows,
			    .n = 2,
			    .target = 181818,
			    .achieved = 179009.5,
			    .gso_errno = EIO };
	/* In the text as text, in JSON as this member. */
	static const struct {
		const char *text, *json;
	} figures[] = {
		{ " 358018 ", "\"sent\":358018," },
		{ " 6444324 ", "\"bytes\":6444324," },
		{ " 1014 ", "\"refused\":{\"ENOBUFS\":777,\"EPERM\":237}" },
		{ " 777 ENOBUFS", "\"ENOBUFS\":777" },
		{ " 237 EPERM", "\"EPERM\":237" },
		{ " 179009 ", "\"pps\":179009.0," },
		{ " 2.000 ", "\"duration_s\":2.0," },
		{ " 300", "\"ns_per_datagram\":300.0" },
		{ " 123457 ", "\"sent\":123457," },
		{ " 234561 ", "\"sent\":234561," },
		{ "target 181818.0", "\"target_pps\":181818.0" },
		{ "achieved 179009.5", "\"achieved_pps\":179009.5" },
		{ "largest burst 55", "\"largest_burst\":55" },
		{ "75.00 % of 1000 bursts", "\"bursts\":1000," },
		{ "75.00 %", "\"on_time\":0.75," },
		{ "moved 3 times", "\"moved\":3," },
		{ "late by us: p50 0.0 p90 7.0 p99 7.0 p99.9 7.0 max 7.0", "\"late_p50_ns\":10,\"late_p90_ns\":7000,\"late_p99_ns\":7000,\"late_p999_ns\":7000,\"late_max_ns\":7000" },
		{ "off by us: p50 5.0 p90 5.0 p99 5.0 p99.9 5.0 max 5.0", "\"gap_p999_ns\":5000,\"gap_max_ns\":5000" },
		{ "UDP_SEGMENT with EIO", "\"gso\":{\"segments\":1,\"refused\":\"EIO\"}" },
	};
	static char text[8192], json[8192];

	(void)state;
	for (unsigned i = 0; i < STATS_ERRNOS; i++) {
		rows[0].stats.refused[i] = stats_errno[i].error == ENOBUFS ? 777 : 0;
		rows[1].stats.refused[i] = stats_errno[i].error == EPERM ? 237 : 0;
	}
	r.pace = (struct pacer){ .bursts = 1000, .on_time = 750, .late = 7, .largest = 55, .moved = 3 };
	for (unsigned i = 0; i < 4; i++)
		hist_record(&r.pace.lateness, i < 3 ? 10 : 7000);
	hist_record(&r.pace.gap, 5000);
	report_total(&r);
	capture(&report_text, &r, text, sizeof(text));
	capture(&report_json, &r, json, sizeof(json));
	for (unsigned i = 0; i < ARRAY_SIZE(figures); i++) {
		if (!strstr(text, figures[i].text))
			fail_msg("no '%s' in:\n%s", figures[i].text, text);
		if (!strstr(json, figures[i].json))
			fail_msg("no '%s' in:\n%s", figures[i].json, json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_threads_r75),
		cmocka_unit_test(test_unequal_threads_r75),
		cmocka_unit_test(test_attempted_is_sent_and_refused),
		cmocka_unit_test(test_totals_never_decrease_r100),
		cmocka_unit_test(test_both_voices_say_the_same_r102),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
