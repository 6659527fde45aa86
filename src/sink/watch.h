/* SPDX-License-Identifier: MIT */
/*
 * watch - udp_sink --watch: opens no socket to receive on, and shows every interval what the counters of the kernel have grown by. Main thread.
 */
#ifndef SINK_WATCH_H
#define SINK_WATCH_H

#include "sink/conf.h"

/* Until --duration, --count intervals, or a signal; what came since the last interval is shown at the end. 0 or -errno with a sentence. */
int watch_run(const struct sink_conf *conf, struct err *err);

#endif
