/* SPDX-License-Identifier: MIT */
/*
 * clock - monotonic time, and what the calling thread has used of the CPU.
 *
 * All rates and intervals use CLOCK_MONOTONIC, so that a step of the wall clock changes nothing. A difference that
 * is not positive is for the caller to skip and count, never to divide by (clock_elapsed returns 0 then).
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

/* CLOCK_MONOTONIC in ns. vDSO: no system call on common hardware. Any thread. */
uint64_t clock_mono(void);

/* CLOCK_MONOTONIC as it was at the last timer tick, CLOCK_COARSE_STEP_MAX ago at most; a tenth of the price of clock_mono (no counter is read). */
uint64_t clock_coarse(void);

/* Linux is built with 100 ticks a second or more. */
#define CLOCK_COARSE_STEP_MAX (10 * NSEC_PER_MSEC)

/* CLOCK_REALTIME in ns since 1970, for time stamps in records only. */
uint64_t clock_wall(void);

/* to - from, or 0 when that is not positive. */
uint64_t clock_elapsed(uint64_t from, uint64_t to);

/* The time stamp counter where the architecture has one (x86 rdtsc, arm64 cntvct_el0), else clock_mono(). Units of
 * its own: only for the "cycles" column of the classic format. */
uint64_t clock_cycles(void);

/* What the calling thread has used so far. From getrusage(RUSAGE_THREAD) and CLOCK_THREAD_CPUTIME_ID: cpu_ns is
 * exact; the split into user and system is the kernel's (sampled by tick on kernels without
 * CONFIG_VIRT_CPU_ACCOUNTING), scaled so that user_ns + system_ns == cpu_ns. */
struct clock_usage {
	uint64_t mono_ns;   /* when this was read */
	uint64_t cycles;    /* clock_cycles() at that time */
	uint64_t cpu_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary;   /* context switches because it waited (RUSAGE ru_nvcsw) */
	uint64_t involuntary; /* context switches because it was pushed out (ru_nivcsw) */
};

/* Two system calls and a read of the clock; for the edges of a window, not for each packet. */
void clock_usage_self(struct clock_usage *out);

/* The same for another thread of this process, read from /proc/self/task/TID/{stat,status} and its CPU clock;
 * mono_ns and cycles are now. Any thread. Returns 0, or -errno (-ESRCH when that thread is gone; *out is then
 * unchanged). The split is in ticks of 10 ms here: an interval much shorter than a second says little about it. */
int clock_usage_thread(int tid, struct clock_usage *out);

/* What was used between two readings of the same thread, in every field. The kernel's split may move a little
 * backwards between two readings while the sum grows: user_ns + system_ns == cpu_ns holds in *out, and nothing is
 * below 0. out may be from. */
void clock_usage_since(const struct clock_usage *from, const struct clock_usage *to,
		       struct clock_usage *out);

#endif
