/* SPDX-License-Identifier: MIT */
/*
 * control - the event loop of the control (main) thread: signals, timers, and "a worker has ended".
 *
 * Main thread only, except control_notify. The only file that knows libev.
 */
#ifndef SINK_CONTROL_H
#define SINK_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct control;

/* Signals SIGINT, SIGTERM and SIGHUP end the program in order; SIGPIPE, SIGUSR1 and SIGUSR2 are ignored. Call before threads exist. NULL with a sentence
 * when libev cannot start. */
struct control *control_new(struct err *err);

/* Any thread: the loop looks up and calls `ended`. Argument: struct control. */
void control_notify(void *control);

struct control_run {
	uint64_t duration_ns;      /* 0 = none */
	uint64_t interval_ns;      /* 0 = none */
	void (*interval)(void *);  /* every interval_ns */
	void (*sample)(void *);    /* every CONTROL_SAMPLE_NS; NULL = never */
	bool (*ended)(void *);     /* after a notify, an interval or a sample: true = leave the loop */
	void *data;
};

/* How often queues and drops are looked at while running. */
#define CONTROL_SAMPLE_NS (100 * UINT64_C(1000000))

/* Runs until the duration is over, a signal came, or `ended` said so. */
void control_wait(struct control *control, const struct control_run *run);

/* Waits until fd is readable (true), or a signal asked to end (false). */
bool control_wait_readable(struct control *control, int fd);

/* A signal has asked to end; 0 = none. */
int control_signal(const struct control *control);

void control_free(struct control *control);

#endif
