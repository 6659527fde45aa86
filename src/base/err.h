/* SPDX-License-Identifier: MIT */
/*
 * err - one sentence about what went wrong, written by the lowest function that knows the object.
 *
 * Rule: set-up functions return 0 or -errno and take a struct err. Whoever knows the object (the address, the
 * option, the file) writes the sentence; callers pass it up unchanged; only main() prints it. The receive path
 * writes no sentences: an event there becomes a counter.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/util.h"

struct err {
	int code;       /* positive errno, 0 = nothing happened */
	char text[480]; /* "bind [::]:9000: Address already in use; ..." without a final newline */
};

#define ERR_INIT { 0, "" }

/* Writes the sentence followed by ": " and strerror(code). code: positive or negative errno (0 becomes EINVAL: a
 * failure never turns into success). Returns -|code|. err may be NULL (the caller wants the code only). A sentence
 * that is too long is cut before the cause. */
int err_sys(struct err *err, int code, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same without strerror: the sentence says it all. */
int err_say(struct err *err, int code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Appends a hint ("; try --user") to a sentence already written; does nothing when there is none. Returns -code, or
 * -EINVAL when err is NULL. */
int err_hint(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Puts "--listen: " and the like in front of a sentence already written: the option, which the function that wrote it could not know. Returns as
 * err_hint. */
int err_prefix(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
