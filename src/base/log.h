/* SPDX-License-Identifier: MIT */
/*
 * log - lines on stderr, "udp_sink: warning: text". Main/control thread only; never called in a receive or send loop.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/util.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };

/* name: printed before each line, kept by reference. highest: the least important level that is shown
 * (LOG_NOTICE by default; -v LOG_INFO, -vv LOG_DEBUG). Call once at start. */
void log_setup(const char *name, enum log_level highest);

/* True when a line of this level would be shown. */
int log_shows(enum log_level level);

/* One line. A progress line that is on the terminal (log_progress) is cleared first. */
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

/* A line that replaces itself (carriage return), only when stderr is a terminal; otherwise nothing happens.
 * NULL removes it. */
void log_progress(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
