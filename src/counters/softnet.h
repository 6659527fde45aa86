/* SPDX-License-Identifier: MIT */
/*
 * softnet - /proc/net/softnet_stat: what each CPU's packet processing did. Of the whole host, also inside a network namespace.
 *
 * The kernel prints one row per CPU that is online, hexadecimal numbers of 32 bits without titles; newer kernels append columns
 * (net/core/net-procfs.c, softnet_seq_show). A column that a kernel does not have is unknown (SOFTNET_UNKNOWN); further ones are passed over. Any
 * thread.
 */
#ifndef COUNTERS_SOFTNET_H
#define COUNTERS_SOFTNET_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/proc.h"

#define SOFTNET_UNKNOWN UINT64_MAX

enum softnet_figure {
	SOFTNET_TOTAL,      /* packets processed, or handed on from the backlog */
	SOFTNET_DROPPED,    /* packets: the CPU's backlog was full (net.core.netdev_max_backlog) */
	SOFTNET_SQUEEZED,   /* times, not packets: net.core.netdev_budget or its time was used up with work left */
	SOFTNET_COLLISION,  /* always 0 in today's kernels */
	SOFTNET_RX_RPS,     /* times another CPU woke it for packets (RPS) */
	SOFTNET_FLOW_LIMIT, /* packets dropped by net.core.flow_limit_cpu_bitmap */
	SOFTNET_BACKLOG,    /* packets in the backlog now: a level */
	SOFTNET_FIGURES
};

/* Names in output, as softnet_stat.pl has them. In the order of the enum. */
extern const char *const softnet_name[SOFTNET_FIGURES];

struct softnet_cpu {
	unsigned cpu;
	uint64_t value[SOFTNET_FIGURES];
};

struct softnet {
	struct softnet_cpu *cpu; /* owned */
	unsigned n, room;
	bool numbered;           /* the CPU's number was told; false: it is that of the row, which is wrong where a CPU is offline */
	struct proc_text text;
};

/* Takes the place of what *s held; zeroed before the first. 0 or -errno with a sentence; ends with softnet_free also on failure. */
int softnet_read(struct softnet *s, struct err *err);

/* Increments by CPU into *out (zeroed before the first, kept apart from both). A CPU that is in one of the two only (it went offline, or came)
 * has unknown increments; without numbers, all are unknown when the number of rows changed. A level is that of `to`. 0 or -ENOMEM. */
int softnet_since(const struct softnet *from, const struct softnet *to, struct softnet *out);

/* Over all CPUs whose figure is known; unknown when there is none. */
uint64_t softnet_sum(const struct softnet *s, enum softnet_figure figure);

void softnet_free(struct softnet *s);

#endif
