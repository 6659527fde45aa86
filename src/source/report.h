/* SPDX-License-Identifier: MIT */
/*
 * report - one struct with everything a period or the whole run has shown, and the two voices that print it.
 *
 * All arithmetic is here, once; a voice only formats. What is undefined (a rate over no time) is NAN in struct
 * report_rates: text prints "-", JSON null. Main thread.
 *
 * Aggregates: counters and CPU time are sums over threads. The duration of the total is from the first thread's
 * start to the last one's end, and its pps = sent / that; a thread's own pps uses its own time. Never sums or
 * means of rates: threads may run for unequal times.
 */
#ifndef SOURCE_REPORT_H
#define SOURCE_REPORT_H

#include "source/answers.h"
#include "source/local_loss.h"
#include "source/workers.h"

struct report_row {
	unsigned index;
	int cpu_asked, cpu_ran;       /* -1 = not pinned / not known */
	struct stats stats;
	uint64_t start_ns, end_ns;    /* CLOCK_MONOTONIC */
	uint64_t cpu_ns, user_ns, system_ns; /* 0 in a period: not read while running */
};

struct report_rates {
	double seconds;
	double pps;                   /* datagrams accepted per second */
	double bps;                   /* bits of payload per second */
	double wall_ns;               /* per datagram */
	double cpu_ns, user_ns, system_ns; /* per datagram; NAN in a period */
	double per_call;              /* datagrams per system call */
};

enum report_kind { REPORT_PERIOD, REPORT_SUM };

struct report {
	enum report_kind kind;
	const struct source_conf *conf;
	uint64_t since_ns, until_ns;  /* since the run began */
	bool partial;                 /* the last period, shorter than the others */
	struct report_row total;
	struct report_row *thread;    /* n entries, sum only; owned */
	unsigned n;
	struct pacer pace;            /* sum of the threads' figures; only with --rate */
	double target, achieved;      /* datagrams per second from the first burst to the last: as planned, and accepted; NAN = fewer than two */
	bool signalled;               /* a signal ended the run */
	int gso_errno;                /* why GSO was turned off; 0 = it was not */
	uint64_t withheld, reordered, duplicated; /* of all flows: impair.h */
	const struct local_loss *loss; /* of this host, in a sum; NULL: it was not looked at. The caller sets it */
	const struct answers_sum *dns; /* NULL: no DNS. The caller sets it */
	uint64_t trailers;            /* accepted; UINT64_MAX: none were asked for. The caller sets it */
};

/* Where a period began. */
struct report_mark {
	uint64_t ns;
	struct stats stats;
};

/* While the threads run: what was sent since the mark, which moves to now. */
void report_period(struct report *r, const struct workers *team, struct report_mark *mark);

/* After the threads have ended. On success the caller ends with report_free. */
int report_sum(struct report *r, const struct workers *team, struct err *err);

/* Fills r->total from r->thread. */
void report_total(struct report *r);

void report_rates(const struct report_row *row, struct report_rates *out);

void report_free(struct report *r);

/* Says on stderr what people would not expect: a datagram that does not fit the path MTU, a send buffer smaller
 * than asked for. */
void report_notices(const struct source_conf *conf, const struct flows *flows);

/* Both write to standard output and flush it; -errno with a sentence when that fails. */
struct report_voice {
	int (*header)(const struct source_conf *conf, const struct flows *flows, struct err *err);
	int (*ready)(const struct source_conf *conf, struct err *err); /* all is prepared; it waits for --start-at or --start-on-stdin */
	int (*report)(const struct report *r, struct err *err);
};

extern const struct report_voice report_text, report_json;

/* For enum conf_format. */
const struct report_voice *report_voice(int format);

#endif
