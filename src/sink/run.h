/* SPDX-License-Identifier: MIT */
/*
 * run - one run of one engine: workers start together, receive, are stopped, and what they did is reported. Main thread.
 */
#ifndef SINK_RUN_H
#define SINK_RUN_H

#include "sink/account.h"
#include "sink/control.h"
#include "sink/counted.h"
#include "sink/report.h"

struct run_context {
	struct setup *setup;
	struct control *control;
	const struct report_voice *voice;
	const struct report_header *header;
	struct sampler_carry carry; /* from run to run */
	struct account account;
	struct counted counted;     /* what the kernel counts: from ready to the end of the first run, then from run to run */
	struct dropped dropped;     /* the same */
	bool announced; /* the ready record is out */
	bool progress;  /* a live line on the terminal */
};

/* Says "ready" once: the record of the voice, and READY=1 to a service manager. 0 or -errno. */
int run_announce(struct run_context *c, struct err *err);

/* Runs engine e for the index-th time. Returns 0 (also when a signal ended it: control_signal tells), or -errno with a sentence. */
int run_execute(struct run_context *c, const struct setup_engine *e, unsigned index, struct err *err);

#endif
