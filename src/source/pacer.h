/* SPDX-License-Identifier: MIT */
/*
 * pacer - waits until a thread's next datagrams are due by a rate plan.
 *
 * The schedule is absolute: datagram k of the program (k counts over all threads) is due at base + rate_due(k), computed from k each time. The numbers are
 * dealt out in blocks: thread t of T has the blocks t, t + T, t + 2T, ..., so that the threads share a rate exactly.
 *
 * What goes out at one deadline is a burst, due when its first datagram is: one block under --burst; otherwise what comes due within a time that depends on the mode, at least
 * a block and at most a batch. A thread's first burst is cut, so that the bursts of several threads come one after the other and not all at once. A burst
 * may be taken in pieces (a batch, a flow's turn): there is no wait within.
 *
 * Waiting, by enum pacer_mode: sleeping is clock_nanosleep(TIMER_ABSTIME), spinning is reading the clock.
 *
 * Behind schedule: what is due is sent at once, without a wait, until the schedule is met again; but only up to PACER_CATCHUP_NS. Beyond that the whole
 * schedule of this thread is moved by the delay and that is counted: a delay never becomes a flood.
 *
 * One owner thread; its figures may be read after the join.
 */
#ifndef SOURCE_PACER_H
#define SOURCE_PACER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/hist.h"
#include "source/rate.h"

/* Order of the choices of --pace. */
enum pacer_mode {
	PACER_HYBRID, /* sleeps to shortly before the time, then spins */
	PACER_SLEEP,  /* sleeps to the time: late by what the kernel needs to wake a thread */
	PACER_SPIN,   /* spins throughout: a CPU for each thread */
	PACER_TXTIME, /* sleeps, hands datagrams over early; the queueing discipline sends each at its own time (SO_TXTIME) */
	PACER_FQ,     /* sleeps; the queueing discipline spaces out the bursts (SO_MAX_PACING_RATE) */
};
#define PACER_MODES "hybrid|sleep|spin|txtime|fq"

/* What is due in this time goes out together: datagrams one by one up to 50,000 per second and thread, and above that no gap is off by more than this. */
#define PACER_BURST_NS 20000
/* The same where each burst costs a sleep: one by one up to 20,000 per second and thread. */
#define PACER_SLEEP_BURST_NS 50000
/* The same where the queueing discipline spaces them out again. Its queue for a flow holds 100 packets (fq's flow_limit): 300,000 per second stay below. */
#define PACER_QUEUE_NS 200000
/* PACER_HYBRID: sleep ends a margin before the deadline, which is what a sleeping thread needs to be on the CPU again (a timer's slack is set to 1 ns).
 * That depends on the machine and on how long the CPU was idle: on a virtual machine 40 us after 0.2 ms, 65 after 1 ms, 170 after 100 ms. So the margin is
 * learnt: a quarter above the latest oversleep, at once when that was longer than before, by a 32nd of the difference when it was shorter. It begins with
 * a quarter of the first gap. All within these bounds. */
#define PACER_MARGIN_LEAST_NS 30000
#define PACER_MARGIN_FIRST_NS 250000
#define PACER_MARGIN_MOST_NS 500000
/* The most that is caught up with, so at most a hundredth of the rate. */
#define PACER_CATCHUP_NS 10000000
/* A burst counts as on time up to here, and as late from here on. */
#define PACER_ON_TIME_NS 20000
#define PACER_LATE_NS 100000
/* One sleep: so soon a stop is noticed. */
#define PACER_SLICE_NS 50000000

/* The clock, so that tests can bring their own. */
struct pacer_clock {
	uint64_t (*now)(void *data);
	void (*sleep_until)(void *data, uint64_t ns); /* may return early */
	void *data;
};
extern const struct pacer_clock pacer_monotonic;

struct pacer_conf {
	const struct pacer_clock *clock;
	const struct rate_plan *plan;
	enum pacer_mode mode;
	unsigned thread, threads;
	unsigned burst;     /* datagrams at each deadline; 0: what is due in the time of the mode */
	unsigned atom;      /* that cannot be parted: a GSO message */
	unsigned most;      /* a batch */
	uint64_t ahead_ns;  /* PACER_TXTIME: handed over so long before they are due */
};

struct pacer {
	struct pacer_conf conf;
	unsigned block;
	uint64_t begin;     /* ns: due time of the plan's beginning */
	uint64_t base;      /* ... as moved since */
	uint64_t next;      /* datagrams of this thread that were released */
	uint64_t pending;   /* those of the burst at hand that are still to be released */
	uint64_t run;       /* datagrams since the last wait */
	uint64_t late_before; /* of the burst before */
	uint64_t margin;    /* PACER_HYBRID: sleep ends so long before the time */
	/* figures */
	uint64_t bursts, on_time, late, moved, moved_ns, largest;
	uint64_t first_ns, last_ns; /* time of the first and the last burst */
	uint64_t before_last;       /* datagrams released before the last burst */
	struct hist lateness;       /* each burst against its time */
	struct hist gap;            /* from burst to burst, against what it should be */
};

void pacer_init(struct pacer *p, const struct pacer_conf *conf);

/* The schedule begins. */
void pacer_start(struct pacer *p, uint64_t base);

/* Datagrams of the first `count` of the program that are this thread's. UINT64_MAX (no end) stays. */
uint64_t pacer_share(const struct pacer *p, uint64_t count);

/* The program's number of this thread's datagram i; without a plan too. */
uint64_t pacer_number(const struct pacer *p, uint64_t i);

/* Due time of this thread's datagram i. */
uint64_t pacer_due(const struct pacer *p, uint64_t i);

/* Waits until datagrams are due, unless a burst is at hand. Returns how many to send now, at most `want`; 0 = *stop was set. They are this thread's
 * p->next - n and on. */
unsigned pacer_wait(struct pacer *p, unsigned want, const atomic_bool *stop);

/* Waits until ns, as PACER_HYBRID does. False: *stop was set. */
bool pacer_hold(const struct pacer_clock *clock, uint64_t ns, const atomic_bool *stop);

/* Adds the figures of one thread to a sum: counts are added, `largest` and the ends of the run are the extremes, next is the number of datagrams released. */
void pacer_add(struct pacer *sum, const struct pacer *p);

/* Of a thread or a sum: datagrams released per second between the first and the last burst; NAN with fewer than two. */
double pacer_released(const struct pacer *p);

/* ... and what the plan has there; the steady rate itself where the plan is one. NAN with fewer than two bursts. */
double pacer_target(const struct pacer *p);

#endif
