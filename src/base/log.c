/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#define LINE_SIZE 1024

static struct {
	const char *name;
	enum log_level highest;
	bool progress; /* a progress line is on the terminal */
} log_state = { "udpsink", LOG_NOTICE, false };

/* Notices and -v lines are what the user asked for: they need no label. */
static const char *const label[] = {
	[LOG_ERROR] = "error: ", [LOG_WARNING] = "warning: ", [LOG_NOTICE] = "",
	[LOG_INFO] = "",         [LOG_DEBUG] = "debug: ",
};

void log_setup(const char *name, enum log_level highest)
{
	log_state.name = name;
	log_state.highest = highest;
}

int log_shows(enum log_level level)
{
	return level <= log_state.highest;
}

/* Formats into line[used..]; control characters (an option's value may hold any) become '?', so that one call is
 * one line. */
static void PRINTF_LIKE(3, 0) add_text(char *line, size_t size, const char *format, va_list args)
{
	size_t used = strlen(line);

	vsnprintf(line + used, size - used, format, args);
	for (char *p = line + used; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

static void clear_progress(void)
{
	if (log_state.progress)
		fputs("\r\033[K", stderr);
	log_state.progress = false;
}

void log_line(enum log_level level, const char *format, ...)
{
	char line[LINE_SIZE];
	int saved = errno;
	va_list args;

	if (!log_shows(level))
		return;
	clear_progress();
	snprintf(line, sizeof(line), "%s: %s", log_state.name, label[level]);
	va_start(args, format);
	add_text(line, sizeof(line) - 1, format, args);
	va_end(args);
	strcat(line, "\n");
	fputs(line, stderr); /* one write: no line of another process cuts in */
	errno = saved;
}

void log_progress(const char *format, ...)
{
	char line[LINE_SIZE] = "";
	struct winsize window;
	int saved = errno;
	va_list args;

	if (isatty(STDERR_FILENO)) {
		clear_progress();
		if (format) {
			va_start(args, format);
			add_text(line, sizeof(line), format, args);
			va_end(args);
			/* A line that wraps could not be replaced. */
			if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
			    window.ws_col <= sizeof(line))
				line[window.ws_col - 1] = '\0';
			fputs(line, stderr);
			log_state.progress = true;
		}
	}
	errno = saved;
}
