/* SPDX-License-Identifier: MIT */
/*
 * version - what this program is and how it was built. Any thread.
 */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#include <stdbool.h>
#include <stdio.h>

/* "udp_sink 0.1.0"; with details also the summary that configure printed. Nothing in it depends on when or where
 * it was built. */
void version_print(FILE *out, const char *program, bool details);

#endif
