/* SPDX-License-Identifier: MIT */
/*
 * control - what the main thread does while the others send: wait for signals, time, and the end.
 */
#ifndef SOURCE_CONTROL_H
#define SOURCE_CONTROL_H

#include <signal.h>

#include "source/report.h"
#include "source/workers.h"

/* Blocks the signals that control_run takes: SIGINT, SIGTERM and SIGHUP end the run in order; SIGUSR1, SIGUSR2
 * and SIGPIPE do nothing. Call before threads exist. */
void control_init(void);

/* Those that end the run. */
void control_ending(sigset_t *set);

/* For workers_start: wakes control_run up. Any thread. */
void control_notify(void *data);

/* Sleeps until `ns` (CLOCK_MONOTONIC) at the latest. True: a signal asks to end. */
bool control_pause(uint64_t ns);

/* Lets the threads send until all have ended, a signal came, or the duration is over; then stops and joins them.
 * Prints a record per --interval and, on a terminal, the progress line. Sets team->signalled. Returns 0, the error of a
 * thread, or -errno when a record could not be written. */
int control_run(const struct source_conf *conf, struct workers *team,
		const struct report_voice *voice, struct err *err);

#endif
