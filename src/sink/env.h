/* SPDX-License-Identifier: MIT */
/*
 * env - what a reader needs to know of the machine to compare this run with another: kernel, CPUs, settings. Main thread.
 */
#ifndef SINK_ENV_H
#define SINK_ENV_H

#include <jansson.h>

#include "base/cpu.h"

/* {"kernel","machine","cpu_model","cpus_allowed","netns","clocksource"}; what cannot be read is null. Owned by the caller. */
json_t *env_host(const struct cpu_list *allowed);

/* The sysctls that change what a UDP receiver measures, as the kernel prints them; not visible (in a container, without privilege): null. */
json_t *env_sysctls(void);

/* Twelve hex digits that tell this process from others, for records. */
char *env_run_id(char *buf, size_t size);

#endif
