/* SPDX-License-Identifier: MIT */
#include "source/start.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"

#define HALF_DAY_S (12 * 3600)

static int bad(const char *text, struct err *err)
{
	return err_say(err, EINVAL, "--start-at '%s': expected HH:MM:SS, +TIME such as +5s, or @SECONDS since 1970", text);
}

/* Two digits below limit, followed by `next`. */
static bool two_digits(const char **text, int limit, char next, int *out)
{
	const char *t = *text;

	if (t[0] < '0' || t[0] > '9' || t[1] < '0' || t[1] > '9' || (next && t[2] != next))
		return false;
	*out = (t[0] - '0') * 10 + t[1] - '0';
	*text += next ? 3 : 2;
	return *out < limit;
}

/* "" or ".25", in ns. */
static bool fraction(const char *text, uint64_t *out)
{
	char seconds[24];

	*out = 0;
	if (!*text)
		return true;
	if (*text != '.' || text[1 + strspn(text + 1, "0123456789")] || snprintf(seconds, sizeof(seconds), "0%s", text) >= (int)sizeof(seconds))
		return false;
	return !num_duration(seconds, out);
}

/* "HH:MM:SS": of today, unless that is more than half a day ago or ahead. */
static bool time_of_day(const char *text, uint64_t now_ns, uint64_t *at_ns)
{
	time_t now = (time_t)(now_ns / NSEC_PER_SEC), at;
	struct tm tm;
	uint64_t part;

	if (!localtime_r(&now, &tm) || !two_digits(&text, 24, ':', &tm.tm_hour) || !two_digits(&text, 60, ':', &tm.tm_min) ||
	    !two_digits(&text, 60, '\0', &tm.tm_sec) || !fraction(text, &part))
		return false;
	tm.tm_isdst = -1;
	at = mktime(&tm);
	if (at < now - HALF_DAY_S)
		tm.tm_mday++;
	else if (at > now + HALF_DAY_S)
		tm.tm_mday--;
	tm.tm_isdst = -1;
	at = mktime(&tm);
	*at_ns = (uint64_t)at * NSEC_PER_SEC + part;
	return at > 0;
}

static bool read_time(const char *text, uint64_t now_ns, uint64_t *at_ns)
{
	if (*text == '+' && !num_duration(text + 1, at_ns))
		return !__builtin_add_overflow(*at_ns, now_ns, at_ns);
	if (*text == '@')
		return text[1 + strspn(text + 1, "0123456789.")] == '\0' && !num_duration(text + 1, at_ns);
	return time_of_day(text, now_ns, at_ns);
}

int start_parse(const char *text, uint64_t now_ns, uint64_t *at_ns, struct err *err)
{
	if (!read_time(text, now_ns, at_ns) || *at_ns > INT64_MAX)
		return bad(text, err);
	if (*at_ns < now_ns)
		return err_say(err, EINVAL, "--start-at '%s': that was %.1f s ago", text, (double)(now_ns - *at_ns) / (double)NSEC_PER_SEC);
	return 0;
}

/* A descriptor that becomes readable at a time of the wall clock, also when that is set meanwhile. */
static int open_timer(uint64_t ns)
{
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC) } };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);

	if (fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL))
		util_close(&fd);
	return fd;
}

/* Reads what there is of standard input. 1: a line or the end; 0: neither yet; -errno. */
static int read_line(void)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	return !n || memchr(buf, '\n', (size_t)n);
}

/* Until one of the two is readable: 1 for what starts, 0 for a signal. */
static int wait_for(int what, int signals, struct err *err)
{
	struct pollfd fds[] = { { .fd = signals, .events = POLLIN }, { .fd = what, .events = POLLIN } };

	for (;;) {
		int ret = poll(fds, ARRAY_SIZE(fds), -1);

		if (ret < 0 && errno != EINTR)
			return err_sys(err, errno, "poll");
		if (ret > 0 && fds[0].revents)
			return 0;
		if (ret <= 0 || !fds[1].revents)
			continue;
		ret = what == STDIN_FILENO ? read_line() : 1;
		if (ret < 0)
			return err_sys(err, ret, "--start-on-stdin: reading standard input");
		if (ret)
			return 1;
	}
}

/* A time of the wall clock on CLOCK_MONOTONIC; now, when it is over. */
static uint64_t to_monotonic(uint64_t wall_ns)
{
	uint64_t now = clock_mono();

	return now + clock_elapsed(clock_wall(), wall_ns);
}

int start_wait(const struct start *start, const sigset_t *ending, uint64_t *base_ns, bool *signalled, struct err *err)
{
	int signals = signalfd(-1, ending, SFD_CLOEXEC), timer = start->on_stdin ? -1 : open_timer(start->at_ns - START_LAST_NS), ret;

	if (signals < 0 || (!start->on_stdin && timer < 0))
		ret = err_sys(err, errno, "waiting for the start");
	else
		ret = wait_for(start->on_stdin ? STDIN_FILENO : timer, signals, err);
	util_close(&signals);
	util_close(&timer);
	if (ret < 0)
		return ret;
	*signalled = !ret;
	*base_ns = start->on_stdin ? clock_mono() : to_monotonic(start->at_ns);
	return 0;
}
