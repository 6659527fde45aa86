/* SPDX-License-Identifier: MIT */
/* The columns of netoptimizer's udp_sink, byte for byte: scripts that read them go on working. */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "sink/report.h"

static int header(const struct report_header *h UNUSED)
{
	printf("%-10s\t%-8s %-8s\tns/pkt\tpps\t\tcycles\tpayload\n", "", "run", "count");
	return report_flush();
}

/* Undefined values are 0 here: the format has no other word. */
static double number(double x)
{
	return isfinite(x) ? x : 0;
}

static int row(const struct report *r)
{
	const struct engine_ops *ops = r->engine->ops;
	const struct stats *s = &r->total.stats;
	struct report_rates rates;

	if (r->kind != REPORT_SUM)
		return 0;
	report_rates(&r->total, &rates);
	if (ops->caps & ENGINE_BATCH)
		printf("%s/%-4d\t", ops->label, r->engine->conf.batch);
	else
		printf("%-10s\t", ops->label);
	printf("run: %2d\t", (int)r->run);
	printf("%8lu\t%.2f\t%.2f\t%lu\t%lu\t", (unsigned long)s->datagrams, number(rates.wall_ns), number(rates.pps),
	       (unsigned long)number(rates.cycles), (unsigned long)number(rates.payload));
	if (r->early_demux > 0)
		printf(" demux:%d", r->early_demux);
	if (r->setup->conf->connect)
		printf(" c:%d", 1);
	if (s->empty_polls && r->setup->conf->counts_empty)
		printf(" emptyq:%lu", (unsigned long)s->empty_polls);
	printf("\n");
	if (r->setup->conf->check_pktgen && ops->caps & ENGINE_CMSG)
		printf(" - Failed pktgen checks OoO %lld wrong magic %lld bad repeat %lld\n",
		       (long long)s->pktgen_disorder, (long long)s->pktgen_bad_magic, (long long)s->pktgen_bad_repeat);
	return report_flush();
}

static int skipped(const struct setup_engine *e)
{
	log_notice("%s left out: %s", e->ops->name, e->why.text);
	return 0;
}

const struct report_voice report_classic = {
	.name = "classic", .header = header, .ready = report_say_ready, .report = row, .skipped = skipped,
};
