/* SPDX-License-Identifier: MIT */
/*
 * cpu - which CPUs this process may use, lists of them, and pinning.
 *
 * CPU numbers are never assumed to start at 0 or to be dense: a cpuset may hold 2 and 4 only. Masks are allocated for
 * as many CPUs as the kernel has (more than 1024 works).
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include "base/err.h"

struct cpu_list {
	unsigned n;
	int *cpu; /* n CPU numbers, in the order asked; owned: cpu_list_free */
};

/* The CPUs that sched_getaffinity allows the calling thread, ascending. Call before pinning anything. */
int cpu_allowed(struct cpu_list *out, struct err *err);

/* "0,2-3" -> list, order and repeats kept. Refused with a sentence: syntax, or a CPU that is not in allowed. */
int cpu_parse(const char *text, const struct cpu_list *allowed, struct cpu_list *out,
	      struct err *err);

/* "0,2-3" from a list; always ends with NUL. Where buf is too small, whole items are left out and "..." says so.
 * Returns buf. */
char *cpu_format(const struct cpu_list *list, char *buf, size_t size);

void cpu_list_free(struct cpu_list *list);

/* Pins the calling thread to one CPU and verifies it. cpu < 0: does nothing. */
int cpu_pin_self(int cpu, struct err *err);

/* The CPU the calling thread runs on now. */
int cpu_current(void);

/* The CPU a thread of this process last ran on (/proc/self/task/TID/stat field 39), -1 when unknown. Any thread. */
int cpu_of_thread(int tid);

/* NUMA node of a CPU from sysfs, -1 when the kernel does not say. */
int cpu_node(int cpu);

/* "model name" of /proc/cpuinfo, or the machine name of uname(2). Returns buf. */
char *cpu_model(char *buf, size_t size);

#endif
