/* SPDX-License-Identifier: MIT */
/*
 * report - one struct with everything a run or an interval has shown, and the voices that print it.
 *
 * All arithmetic is done here, once; a voice only formats. What is undefined (a rate over no time, a cost per datagram without datagrams) is NaN in
 * struct report_rates: text prints "-", JSON null. Control thread.
 *
 * Aggregates: counters and CPU time are sums over workers. Duration of the total is from the first datagram of any worker to the last of any
 * worker, so pps = datagrams / that; a worker's own pps uses its own window. Wall ns per datagram = duration / datagrams (for the total
 * that is the time between datagrams of the whole program, not the cost of one); CPU ns per datagram = CPU time of the workers / datagrams.
 */
#ifndef SINK_REPORT_H
#define SINK_REPORT_H

#include "counters/ledger.h"
#include "sink/dropped.h"
#include "sink/guardian.h"
#include "sink/sampler.h"
#include "sink/setup.h"

struct report_worker {
	unsigned index;
	int cpu_asked, cpu_obtained;  /* -1 = not pinned */
	struct stats stats;
	uint64_t duration_ns;         /* first to last datagram, or the interval */
	uint64_t cpu_ns, user_ns, system_ns, cycles;
	bool split;                   /* user_ns and system_ns say something: an interval's come in steps of REPORT_TICK_NS */
	uint64_t wakeups, preemptions; /* voluntary and involuntary context switches */
	uint64_t drops;               /* of its sockets, all reasons; shared sockets: of all workers, in the total only */
	uint32_t queue_max, queue_limit; /* receive memory in bytes */
	double flows;                 /* distinct flows seen, NaN = not counted */
	uint64_t ring_drops;          /* lost inside the engine */
	uint64_t connected, connect_failed; /* --connect-each */
};

struct report_rates {
	double pps, bps;              /* bps: UDP payload bits */
	double wall_ns, cpu_ns, user_ns, system_ns, cycles; /* per datagram */
	double payload;               /* mean stored bytes per datagram */
	double batch;                 /* mean packets per non-empty receive batch */
	double segments;              /* mean datagrams per buffer */
	double busy;                  /* share of the duration that the worker was on a CPU */
};

enum report_kind { REPORT_PERIOD, REPORT_SUM };

/* The clock tick in which the kernel tells user and system time of another thread (USER_HZ = 100). A split of less than ten ticks is unknown. */
#define REPORT_TICK_NS (10 * NSEC_PER_MSEC)

#define REPORT_NOTES 8

/* Looks (CONTROL_SAMPLE_NS apart) with new drops and a full buffer from which on an overload is no burst: half a second of it. */
#define REPORT_SUSTAINED 5

struct report {
	enum report_kind kind;
	const struct setup *setup;
	const struct setup_engine *engine;
	unsigned run;                 /* 0.. of --repeat */
	bool partial;                 /* the last interval, shorter than the others */
	bool end_unknown;             /* the window may be longer than first to last datagram */
	bool unreliable;              /* something makes the numbers doubtful; notes say what */
	uint64_t since_ns, until_ns;  /* since the run was ready */
	unsigned known;               /* enum stats_need bits that hold */
	int early_demux, udp_early_demux; /* -1 = not readable */
	unsigned dropping, full;      /* looks that found new drops, and those that found the receive memory 3/4 full then */
	unsigned demux_sockets, sockets;  /* early demux could apply to so many of our sockets */
	struct report_worker total;
	struct report_worker *worker; /* workers entries */
	unsigned workers;
	double fairness;              /* Jain's index of datagrams over workers, NaN with one worker or none */
	struct destinations *destinations; /* NULL = not asked for */
	struct handler_fields *fields;     /* NULL = not asked for */
	struct ledger *ledger;             /* NULL = not asked for */
	const struct reason_list *drop_reasons; /* of a sum; NULL = not asked for */
	unsigned notes;
	char note[REPORT_NOTES][240]; /* sentences for people */
};

/* Rates of one worker or of the total. */
void report_rates(const struct report_worker *w, struct report_rates *out);

/* Fills total from the workers (which are filled already), duration_ns given for the total; fairness and notes. */
void report_total(struct report *r, uint64_t duration_ns);

/* Appends a sentence for people; what does not fit any more is left out. */
void report_note(struct report *r, const char *format, ...) PRINTF_LIKE(2, 3);

/* "recvmmsg/32 +name +control": what the receive call was given, as the row says it. */
char *report_label(const struct setup_engine *engine, char *buf, size_t size);

/* Is this counter known in this report? */
static inline bool report_knows(const struct report *r, enum stats_index i)
{
	return (stats_info[i].needs & ~r->known) == 0;
}

/* missing = skipped - reordered: sequence numbers that did not come (so far). */
static inline uint64_t report_missing(const struct stats *s)
{
	return s->seq_skipped > s->seq_reordered ? s->seq_skipped - s->seq_reordered : 0;
}

/* What does not change during the program. */
struct report_header {
	const struct setup *setup;
	const struct opt_set *options;
	int argc;
	char **argv;
	const char *run_id;
	const struct guardian *guardian;
};

struct report_voice {
	const char *name;
	int (*header)(const struct report_header *h);
	int (*ready)(const struct report_header *h);
	int (*report)(const struct report *r);          /* a period or a sum */
	int (*skipped)(const struct setup_engine *e);
	int (*end)(void);                               /* after the last run; NULL = nothing */
};

/* Flushes standard output. 0, or -errno of what could not be written. */
int report_flush(void);

/* The ready record of text and classic: lines on stderr, so that the columns on stdout stay what they are. */
int report_say_ready(const struct report_header *h);

/* In the order of enum conf_format. */
extern const struct report_voice report_text, report_classic, report_json;
const struct report_voice *report_voice(enum conf_format format);

#endif
