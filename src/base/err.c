/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sentence, cut where needed so that `cause` always fits behind it: a long path must not hide what happened. */
static int PRINTF_LIKE(4, 0)
	write_text(struct err *err, int code, const char *cause, const char *format, va_list args)
{
	/* A caller that passes 0 has lost the cause; success would be the worst thing to report. */
	code = code ? abs(code) : EINVAL;
	if (err) {
		size_t room = sizeof(err->text) - strlen(cause);

		err->code = code;
		vsnprintf(err->text, room, format, args);
		strcat(err->text, cause);
	}
	return -code;
}

int err_sys(struct err *err, int code, const char *format, ...)
{
	char cause[128];
	va_list args;
	int rc;

	/* strerror of a known errno is a constant string in glibc and musl: safe in any thread. */
	snprintf(cause, sizeof(cause), ": %s", strerror(abs(code)));
	va_start(args, format);
	rc = write_text(err, code, cause, format, args);
	va_end(args);
	return rc;
}

int err_say(struct err *err, int code, const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = write_text(err, code, "", format, args);
	va_end(args);
	return rc;
}

int err_hint(struct err *err, const char *format, ...)
{
	size_t used;
	va_list args;

	if (!err)
		return -EINVAL;
	if (!err->code)
		return 0;
	used = strlen(err->text);
	va_start(args, format);
	vsnprintf(err->text + used, sizeof(err->text) - used, format, args);
	va_end(args);
	return -err->code;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char rest[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return -EINVAL;
	if (!err->code)
		return 0;
	memcpy(rest, err->text, sizeof(rest));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, "%s", rest);
	return -err->code;
}
