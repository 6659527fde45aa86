/* SPDX-License-Identifier: MIT */
/*
 * dropped - --drop-reasons: why the kernel dropped packets for our ports, run by run. Control thread.
 */
#ifndef SINK_DROPPED_H
#define SINK_DROPPED_H

#include <jansson.h>
#include <stdio.h>

#include "counters/reasons.h"
#include "sink/setup.h"

struct dropped {
	struct reasons *reasons;    /* NULL: not asked for */
	struct reason_list before;  /* since dropped_open, up to the last dropped_take */
	struct reason_list run;     /* between the last two */
};

/* After the sockets are open; does nothing where it is not asked for. Zeroed before; dropped_close also after a failure. */
int dropped_open(struct dropped *d, const struct setup *setup, struct err *err);

/* Takes what came since the call before this one, or since dropped_open: what is dropped between two runs is the later one's. */
int dropped_take(struct dropped *d, struct err *err);

/* What was taken last; NULL: not asked for. */
const struct reason_list *dropped_run(const struct dropped *d);

/* Lines for people, and members drop_reasons and drop_reasons_missed of a record. NULL: not asked for. */
void dropped_print(const struct reason_list *list, FILE *out);
void dropped_record(const struct reason_list *list, json_t *record);

void dropped_close(struct dropped *d);

#endif
