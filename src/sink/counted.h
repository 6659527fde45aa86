/* SPDX-License-Identifier: MIT */
/*
 * counted - what the counters of the kernel have grown by in a window, for --nstat, --ethtool, --softnet and --watch. Two readings; only this
 * process knows them, so that several do not disturb each other. Control thread.
 */
#ifndef SINK_COUNTED_H
#define SINK_COUNTED_H

#include "counters/snapshot.h"
#include "sink/conf.h"

struct counted {
	struct snapshot from, to;
};

/* Reads the beginning of the first window; zeroed before. Nothing when no option asks for counters. 0 or -errno with a sentence; ends with
 * counted_free also on failure. */
int counted_begin(struct counted *c, const struct sink_conf *conf, struct err *err);

/* Ends the window: reads, prints to standard output what changed, and begins the next one there. Nothing when no option asks. 0 or -errno with a
 * sentence. */
int counted_print(struct counted *c, const struct sink_conf *conf, struct err *err);

void counted_free(struct counted *c);

#endif
