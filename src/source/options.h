/* SPDX-License-Identifier: MIT */
/*
 * options - the option table of udp_source.
 */
#ifndef SOURCE_OPTIONS_H
#define SOURCE_OPTIONS_H

#include "source/conf.h"

/* The table and what it describes; *conf is filled by opt_parse. */
void options_describe(struct opt_set *set, struct source_conf *conf);

#endif
