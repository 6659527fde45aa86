/* SPDX-License-Identifier: MIT */
#include "base/task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* Reads /proc/self/task/TID/NAME. A thread that ends meanwhile is ENOENT at open and ESRCH at read: one for both. */
static int read_task(int tid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	n = util_read_file(path, buf, size);
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	return 0;
}

int task_stat(int tid, struct task_stat *out)
{
	char buf[1024], *save = NULL, *field;
	int rc = read_task(tid, "stat", buf, sizeof(buf));

	if (rc)
		return rc;
	/* Field 2 is the thread's name in parentheses and may itself hold blanks and parentheses: count from the
	 * last one. */
	field = strrchr(buf, ')');
	if (!field)
		return -EPROTO;
	field = strtok_r(field + 1, " ", &save);
	for (int number = 3; field; number++) {
		if (number == 14 && sscanf(field, "%" SCNu64, &out->user_ticks) != 1)
			return -EPROTO;
		if (number == 15 && sscanf(field, "%" SCNu64, &out->system_ticks) != 1)
			return -EPROTO;
		if (number == 39)
			return sscanf(field, "%d", &out->cpu) == 1 ? 0 : -EPROTO;
		field = strtok_r(NULL, " ", &save);
	}
	return -EPROTO;
}

int task_switches(int tid, uint64_t *voluntary, uint64_t *involuntary)
{
	static const char first[] = "\nvoluntary_ctxt_switches:",
			  second[] = "\nnonvoluntary_ctxt_switches:";
	char buf[8192]; /* the lines with CPU and node masks grow with the size of the machine */
	int rc = read_task(tid, "status", buf, sizeof(buf));
	const char *a, *b;

	if (rc)
		return rc;
	a = strstr(buf, first);
	b = strstr(buf, second);
	if (!a || !b || sscanf(a + strlen(first), "%" SCNu64, voluntary) != 1 ||
	    sscanf(b + strlen(second), "%" SCNu64, involuntary) != 1)
		return -EPROTO;
	return 0;
}
