/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/task.h"
#include "base/util.h"

static uint64_t to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_nsec;
}

/* Only for the clocks that every Linux has: they cannot fail. */
static uint64_t read_clock(clockid_t id)
{
	struct timespec now = { 0 };

	clock_gettime(id, &now);
	return to_ns(&now);
}

uint64_t clock_mono(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_coarse(void)
{
	return read_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t clock_elapsed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

uint64_t clock_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return clock_mono();
#endif
}

/* Divides out->cpu_ns in the ratio user : system. No ratio yet (a thread younger than a tick): user, as the kernel's
 * cputime_adjust() does. double has 53 bits: exact to the nanosecond for 100 days of CPU time; the sum always is. */
static void split(struct clock_usage *out, uint64_t user, uint64_t system)
{
	double share = user + system ? (double)user / (double)(user + system) : 1.0;

	out->user_ns = MIN((uint64_t)((double)out->cpu_ns * share), out->cpu_ns);
	out->system_ns = out->cpu_ns - out->user_ns;
}

static uint64_t to_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

void clock_usage_self(struct clock_usage *out)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	out->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
	split(out, to_us(&usage.ru_utime), to_us(&usage.ru_stime));
	out->voluntary = (uint64_t)usage.ru_nvcsw;
	out->involuntary = (uint64_t)usage.ru_nivcsw;
	out->mono_ns = clock_mono();
	out->cycles = clock_cycles();
}

/* The CPU clock of a thread by its number: what pthread_getcpuclockid makes of a pthread_t. Kernel interface, see
 * CPUCLOCK_PERTHREAD_MASK (4) and CPUCLOCK_SCHED (2) in include/linux/posix-timers_types.h. */
static clockid_t thread_clock(int tid)
{
	return (clockid_t)(~(unsigned)tid << 3 | 4 | 2);
}

int clock_usage_thread(int tid, struct clock_usage *out)
{
	struct clock_usage usage = { 0 };
	struct timespec cpu;
	struct task_stat stat;
	int rc = task_stat(tid, &stat);

	if (!rc)
		rc = task_switches(tid, &usage.voluntary, &usage.involuntary);
	if (rc)
		return rc;
	if (clock_gettime(thread_clock(tid), &cpu))
		return errno == EINVAL ? -ESRCH : -errno; /* EINVAL: no such thread (any more) */
	usage.cpu_ns = to_ns(&cpu);
	split(&usage, stat.user_ticks, stat.system_ticks);
	usage.mono_ns = clock_mono();
	usage.cycles = clock_cycles();
	*out = usage;
	return 0;
}

void clock_usage_since(const struct clock_usage *from, const struct clock_usage *to,
		       struct clock_usage *out)
{
	out->mono_ns = clock_elapsed(from->mono_ns, to->mono_ns);
	out->cycles = clock_elapsed(from->cycles, to->cycles);
	out->cpu_ns = clock_elapsed(from->cpu_ns, to->cpu_ns);
	out->user_ns = MIN(clock_elapsed(from->user_ns, to->user_ns), out->cpu_ns);
	out->system_ns = out->cpu_ns - out->user_ns;
	out->voluntary = clock_elapsed(from->voluntary, to->voluntary);
	out->involuntary = clock_elapsed(from->involuntary, to->involuntary);
}
