/* SPDX-License-Identifier: MIT */
/*
 * proc_root - files in place of /proc/net: a directory of the test's own, named by PROC_ROOT. Include it after <cmocka.h>.
 */
#ifndef TESTS_PROC_ROOT_H
#define TESTS_PROC_ROOT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

static char proc_root[] = "proc-XXXXXX";

/* Writes the file net/NAME; NULL: removes it. */
static void proc_put(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/%s", proc_root, name);
	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *const proc_folders[] = { "", "/net", "/net/stat", "/net/sctp" };

/* Before and after the group. */
static int proc_set_up(void **state UNUSED)
{
	char path[64];

	if (!mkdtemp(proc_root))
		return 1;
	for (unsigned i = 1; i < ARRAY_SIZE(proc_folders); i++) {
		snprintf(path, sizeof(path), "%s%s", proc_root, proc_folders[i]);
		if (mkdir(path, 0700))
			return 1;
	}
	return setenv("PROC_ROOT", proc_root, 1);
}

/* Fails when a test left a file behind. */
static int proc_tear_down(void **state UNUSED)
{
	char path[64];
	int failed = 0;

	for (unsigned i = ARRAY_SIZE(proc_folders); i--;) {
		snprintf(path, sizeof(path), "%s%s", proc_root, proc_folders[i]);
		failed |= rmdir(path);
	}
	return failed;
}

#endif
