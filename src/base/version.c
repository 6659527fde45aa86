/* SPDX-License-Identifier: MIT */
#include "base/version.h"

void version_print(FILE *out, const char *program, bool details)
{
	fprintf(out, "%s %s\n", program, PACKAGE_VERSION);
	if (details)
		fputs(BUILD_INFO, out);
}
