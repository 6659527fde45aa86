/* SPDX-License-Identifier: MIT */
/*
 * comma_locale - turns on a locale whose decimal point is ',', made on the spot: machines that build packages have none
 * installed. Include after <cmocka.h>.
 */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

/* Skips the test with a reason where it cannot be done (musl, or no localedef). setlocale(LC_ALL, "C") ends it. */
static inline void comma_locale(void)
{
	static const char source[] =
		"comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3\n"
		"END LC_NUMERIC\n";
	char directory[] = "/tmp/udpsink-locale-XXXXXX", command[128], text[8];
	FILE *pipe;
	int made;

	if (!mkdtemp(directory))
		TAP_SKIP("no temporary directory");
	/* -c: the other categories are not defined, which localedef only warns about. */
	snprintf(command, sizeof(command),
		 "cd %s && cat >source && localedef -c -i source ./xx >log 2>&1", directory);
	pipe = popen(command, "w");
	made = pipe && fputs(source, pipe) >= 0;
	made = pipe && pclose(pipe) != -1 && made;
	setenv("LOCPATH", directory, 1);
	made = made && setlocale(LC_NUMERIC, "xx");
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -r %s", directory);
	if (system(command) != 0)
		fail_msg("%s failed", command);
	snprintf(text, sizeof(text), "%.1f", 0.5);
	if (!made || text[1] != ',')
		TAP_SKIP("localedef made no locale with a decimal comma here");
}

#endif
