/* SPDX-License-Identifier: MIT */
#include "counters/sockstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "FRAG: inuse 5 memory 1024": a line begins with the name. */
static uint64_t in_use(const char *file, const char *name, struct proc_text *text)
{
	size_t len = strlen(name);
	const char *line;
	uint64_t n;

	if (proc_read(file, text, NULL))
		return SOCKSTAT_UNKNOWN;
	for (line = text->data; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && sscanf(line + len, ": inuse %" SCNu64, &n) == 1)
			return n;
	}
	return SOCKSTAT_UNKNOWN;
}

void sockstat_read(struct sockstat *out, struct proc_text *text)
{
	out->frag = in_use("sockstat", "FRAG", text);
	out->frag6 = in_use("sockstat6", "FRAG6", text);
}
