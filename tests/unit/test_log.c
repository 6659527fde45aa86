/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "tap.h"

static int saved_stderr = -1;
static char output[4096];

/* From here on stderr is `fd`, which is given up. */
static void redirect(int fd)
{
	assert_true(fd >= 0);
	saved_stderr = dup(STDERR_FILENO);
	assert_true(saved_stderr >= 0);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

/* Teardown too: a failed assertion must not leave stderr bent. */
static int restore(void **state)
{
	(void)state;
	if (saved_stderr >= 0)
		dup2(saved_stderr, STDERR_FILENO);
	util_close(&saved_stderr);
	log_setup("udpsink", LOG_NOTICE);
	return 0;
}

static void to_pipe(int *reader)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	*reader = fd[0];
	redirect(fd[1]);
}

/* Everything written since, as text. */
static const char *collect(int reader)
{
	struct pollfd ready = { .fd = reader, .events = POLLIN };
	size_t used = 0;

	while (used < sizeof(output) - 1 && poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN)) {
		ssize_t n = read(reader, output + used, sizeof(output) - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	output[used] = '\0';
	return output;
}

static void lines_have_name_and_label(void **state)
{
	int reader;

	(void)state;
	to_pipe(&reader);
	log_setup("udp_sink", LOG_DEBUG);
	log_error("a %d", 1);
	log_warning("b");
	log_notice("c");
	log_info("d");
	log_debug("e");
	restore(NULL);
	assert_string_equal(collect(reader),
			    "udp_sink: error: a 1\nudp_sink: warning: b\nudp_sink: c\nudp_sink: d\n"
			    "udp_sink: debug: e\n");
	close(reader);
}

static void level_decides_what_is_shown(void **state)
{
	int reader;

	(void)state;
	to_pipe(&reader);
	log_setup("p", LOG_NOTICE);
	log_info("hidden");
	log_debug("hidden");
	log_notice("shown");
	log_setup("p", LOG_ERROR);
	log_warning("hidden");
	log_error("shown");
	restore(NULL);
	assert_string_equal(collect(reader), "p: shown\np: error: shown\n");
	log_setup("p", LOG_INFO);
	assert_true(log_shows(LOG_ERROR) && log_shows(LOG_INFO));
	assert_false(log_shows(LOG_DEBUG));
	close(reader);
}

static void one_call_is_one_line(void **state)
{
	static char longer[3000];
	int reader;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	to_pipe(&reader);
	errno = EXDEV;
	log_notice("a\nb\tc\033[2J\x7f %s", "gr\xc3\xbc\xc3\x9f");
	log_notice("%s", longer);
	assert_int_equal(errno, EXDEV);
	restore(NULL);
	collect(reader);
	assert_memory_equal(output, "udpsink: a?b?c?[2J? gr\xc3\xbc\xc3\x9f\nudpsink: xxx", 36);
	assert_int_equal(output[strlen(output) - 1], '\n');
	assert_ptr_equal(strchr(strchr(output, '\n') + 1, '\n'), output + strlen(output) - 1);
	close(reader);
}

static void progress_is_for_terminals_only(void **state)
{
	int reader;

	(void)state;
	to_pipe(&reader);
	log_progress("%d pps", 5);
	log_progress(NULL);
	restore(NULL);
	assert_string_equal(collect(reader), "");
	close(reader);
}

/* stderr becomes a terminal `columns` wide; returns its other side, or skips. */
static int to_terminal(unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0 || grantpt(master) || unlockpt(master))
		TAP_SKIP("no pseudo terminal can be opened here");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0)
		TAP_SKIP("no pseudo terminal can be opened here");
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	redirect(slave);
	return master;
}

static void progress_replaces_itself(void **state)
{
	int master = to_terminal(80);

	(void)state;
	errno = EXDEV;
	log_progress("%d pps", 5);
	log_progress("%d pps", 6);
	log_notice("x");
	log_progress("7 pps");
	log_progress(NULL);
	log_progress(NULL);
	assert_int_equal(errno, EXDEV);
	assert_string_equal(collect(master),
			    "5 pps\r\033[K6 pps\r\033[Kudpsink: x\r\n7 pps\r\033[K");
	restore(NULL);
	close(master);
}

static void progress_never_wraps(void **state)
{
	int master = to_terminal(10);

	(void)state;
	log_progress("123456789012345");
	log_progress(NULL);
	assert_string_equal(collect(master), "123456789\r\033[K");
	restore(NULL);
	close(master);
}

#define TEST(name) cmocka_unit_test_teardown(name, restore)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(lines_have_name_and_label), TEST(level_decides_what_is_shown),
		TEST(one_call_is_one_line),	 TEST(progress_is_for_terminals_only),
		TEST(progress_replaces_itself),	 TEST(progress_never_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
