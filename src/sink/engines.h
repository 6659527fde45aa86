/* SPDX-License-Identifier: MIT */
/*
 * engines - which engines a command line means, and the configuration each of them gets. Main thread.
 */
#ifndef SINK_ENGINES_H
#define SINK_ENGINES_H

#include <stdio.h>

#include "sink/setup.h"

/* Are these names of engines, and is there one among them for each option that is about a kind of engine? Opens nothing. 0 or -EINVAL. */
int engines_check(const struct sink_conf *conf, struct err *err);

/* After setup_open. Fills setup->engine from --engine (names, all, auto, or nothing: the classic set). One named engine that cannot run is an error; of `all`
 * and the classic set the others run and this one is skipped with its reason; it is an error when none is left. */
int engines_open(struct setup *setup, struct err *err);
void engines_close(struct setup *setup);

/* --list-engines: one line each, with the reason where it cannot run with these options. Returns 0 or -errno. */
int engines_list(const struct sink_conf *conf, FILE *out, struct err *err);

#endif
