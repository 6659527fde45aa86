/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"

static void sys_adds_the_cause(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_sys(&err, EADDRINUSE, "bind %s:%d", "[::]", 9000), -EADDRINUSE);
	assert_int_equal(err.code, EADDRINUSE);
	assert_string_equal(err.text, "bind [::]:9000: Address already in use");
}

static void sign_of_the_code_does_not_matter(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_sys(&err, -EACCES, "x"), -EACCES);
	assert_int_equal(err.code, EACCES);
	assert_string_equal(err.text, "x: Permission denied");
	assert_int_equal(err_say(&err, -ENOENT, "y"), -ENOENT);
	assert_int_equal(err.code, ENOENT);
	assert_string_equal(err.text, "y");
}

static void a_lost_code_is_still_a_failure(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_say(&err, 0, "what"), -EINVAL);
	assert_int_equal(err.code, EINVAL);
}

static void hint_is_appended(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	err_sys(&err, EPERM, "setns");
	assert_int_equal(err_hint(&err, "; try --%s", "user"), -EPERM);
	assert_string_equal(err.text, "setns: Operation not permitted; try --user");
}

static void hint_needs_a_sentence(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_hint(&err, "; try"), 0);
	assert_string_equal(err.text, "");
}

static void null_keeps_the_code(void **state)
{
	(void)state;
	assert_int_equal(err_sys(NULL, EBUSY, "x"), -EBUSY);
	assert_int_equal(err_say(NULL, -EBUSY, "x"), -EBUSY);
	assert_int_equal(err_hint(NULL, "x"), -EINVAL);
}

static void long_object_does_not_hide_the_cause(void **state)
{
	static const char cause[] = ": No such file or directory";
	struct err err = ERR_INIT;
	char path[2000];

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	err_sys(&err, ENOENT, "%s", path);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_string_equal(err.text + strlen(err.text) - strlen(cause), cause);
	err_hint(&err, "%s", path);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void close_is_tolerant(void **state)
{
	int fd = open("/dev/null", O_RDONLY), copy = fd;

	(void)state;
	assert_true(fd >= 0);
	errno = EXDEV;
	util_close(&fd);
	assert_int_equal(fd, -1);
	util_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(fcntl(copy, F_GETFD), -1);
	fd = copy; /* closed already: close(2) fails, errno is still the caller's */
	errno = EXDEV;
	util_close(&fd);
	assert_int_equal(errno, EXDEV);
}

static void read_file_ends_with_nul(void **state)
{
	char buf[5] = "xxxx";

	(void)state;
	assert_int_equal(util_read_file("/proc/sys/kernel/ostype", buf, sizeof(buf)),
			 4); /* "Linux\n" cut */
	assert_string_equal(buf, "Linu");
	assert_int_equal(util_read_file("/dev/null", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(util_read_file("/nowhere", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(util_read_file("/", buf, sizeof(buf)), -EISDIR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sys_adds_the_cause),
		cmocka_unit_test(sign_of_the_code_does_not_matter),
		cmocka_unit_test(a_lost_code_is_still_a_failure),
		cmocka_unit_test(hint_is_appended),
		cmocka_unit_test(hint_needs_a_sentence),
		cmocka_unit_test(null_keeps_the_code),
		cmocka_unit_test(long_object_does_not_hide_the_cause),
		cmocka_unit_test(close_is_tolerant),
		cmocka_unit_test(read_file_ends_with_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
