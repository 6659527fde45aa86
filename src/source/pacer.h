/* SPDX-License-Identifier: MIT */
/*
 * pacer - when the next datagrams are due.
 *
 * The schedule is absolute: datagram k of the program (k counts over all threads) is due at base + k / rate,
 * computed from k each time, so that rounding never adds up and threads share a rate exactly: with a burst of b,
 * thread t of T has the datagrams t*b .. t*b+b-1 of every T*b. Waiting is clock_nanosleep(TIMER_ABSTIME) to
 * PACER_SPIN_NS before the time, then reading the clock until it has come.
 *
 * Behind schedule: what is due is sent at once, without a wait, until the schedule is met again; but only up to
 * PACER_CATCHUP_NS. Beyond that the whole schedule of this thread is moved by the delay and that is counted: a
 * delay never becomes a flood.
 *
 * One owner thread; its figures may be read after the join.
 */
#ifndef SOURCE_PACER_H
#define SOURCE_PACER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Datagrams go out one by one up to 20,000 per second and thread; above, in bursts of what is due in this time. */
#define PACER_BURST_NS 50000
/* Sleep ends so long before the deadline: what a sleeping thread needs to be on the CPU again (a timer's slack
 * is set to 1 ns). */
#define PACER_SPIN_NS 60000
/* The most that is caught up with, so at most rate / 100 datagrams. */
#define PACER_CATCHUP_NS 10000000
/* A burst counts as late from here on. */
#define PACER_LATE_NS 100000
/* One sleep: so soon a stop is noticed. */
#define PACER_SLICE_NS 50000000

/* Lateness of bursts, four buckets per power of two: bucket i holds values up to pacer_bucket_top(i). 4 * 36
 * reach 137 s. */
#define PACER_BUCKETS 144

/* The clock, so that tests can bring their own. */
struct pacer_clock {
	uint64_t (*now)(void *data);
	void (*sleep_until)(void *data, uint64_t ns); /* may return early */
	void *data;
};
extern const struct pacer_clock pacer_monotonic;

struct pacer {
	const struct pacer_clock *clock;
	uint64_t rate;      /* datagrams per second, of all threads */
	unsigned threads;
	unsigned burst;     /* datagrams per deadline at most */
	uint64_t base;      /* ns: due time of datagram 0 */
	uint64_t position;  /* number of the next datagram of this thread */
	uint64_t run;       /* datagrams since the last wait */
	/* figures */
	uint64_t bursts, late, moved, moved_ns, largest;
	uint64_t first_ns, last_ns; /* time of the first and the last burst */
	uint64_t scheduled;         /* datagrams released */
	uint64_t last_burst;        /* ... of which in the last burst */
	uint64_t late_max_ns;
	uint64_t bucket[PACER_BUCKETS];
};

/* atom: datagrams that cannot be parted (a GSO message); a burst is a multiple of it. most: the batch. */
void pacer_init(struct pacer *p, const struct pacer_clock *clock, uint64_t rate, unsigned thread,
		unsigned threads, unsigned atom, unsigned most);

/* The schedule begins. */
void pacer_start(struct pacer *p, uint64_t base);

/* Due time of this thread's next datagram. */
uint64_t pacer_deadline(const struct pacer *p);

/* Waits until datagrams are due. Returns how many to send now, at most `want`; 0 = *stop was set. */
unsigned pacer_wait(struct pacer *p, unsigned want, const atomic_bool *stop);

/* Datagrams per second between the first and the last burst; NAN with fewer than two. */
double pacer_achieved(const struct pacer *p);

/* Adds the figures of one thread to a sum (bursts, late, moved, moved_ns, bucket; largest and late_max_ns: the
 * maximum). */
void pacer_add(struct pacer *sum, const struct pacer *p);

/* Lateness that so many in a thousand bursts did not exceed, in ns; an upper bound, at most 25 % too high (the
 * width of a bucket). */
uint64_t pacer_permille(const struct pacer *p, unsigned permille);

#endif
