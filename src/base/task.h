/* SPDX-License-Identifier: MIT */
/*
 * task - what /proc/self/task/TID says about one thread of this process. Any thread; three system calls per file.
 */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include <stdint.h>

struct task_stat {
	uint64_t user_ticks, system_ticks; /* fields 14 and 15, in 1/sysconf(_SC_CLK_TCK) s */
	int cpu;                           /* field 39: where it runs, or last ran */
};

/* From .../stat, proc_pid_stat(5). 0 or -errno (-ESRCH: no such thread). */
int task_stat(int tid, struct task_stat *out);

/* Context switches, from .../status. 0 or -errno (-ESRCH: no such thread). */
int task_switches(int tid, uint64_t *voluntary, uint64_t *involuntary);

#endif
