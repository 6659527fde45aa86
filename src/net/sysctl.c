/* SPDX-License-Identifier: MIT */
/* sysctl - see sysctl.h. */
#include "net/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 160

static int path_of(const char *name, char path[PATH_SIZE])
{
	int n = snprintf(path, PATH_SIZE, "/proc/sys/");

	if (strlen(name) >= PATH_SIZE - (size_t)n)
		return -ENAMETOOLONG;
	for (; *name; name++)
		path[n++] = *name == '.' ? '/' : *name == '/' ? '.' : *name;
	path[n] = '\0';
	return 0;
}

int sysctl_read(const char *name, char *buf, size_t size)
{
	char path[PATH_SIZE];
	ssize_t n = path_of(name, path);

	buf[0] = '\0';
	if (!n)
		n = util_read_file(path, buf, size);
	if (n > 0 && buf[n - 1] == '\n')
		buf[n - 1] = '\0';
	return n < 0 ? (int)n : 0;
}

int sysctl_read_int(const char *name, int *out)
{
	char text[64], *end;
	int rc = sysctl_read(name, text, sizeof(text));
	long value;

	if (rc)
		return rc;
	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text)
		return -EINVAL;
	if (errno || value < INT_MIN || value > INT_MAX)
		return -ERANGE;
	*out = (int)value;
	return 0;
}

static const char *needed(int code)
{
	switch (code) {
	case EACCES:
	case EPERM:
		return "this needs root, or a network namespace of one's own (unshare -Urn)";
	case EROFS:
		return "/proc/sys is mounted read-only here, as containers do";
	case ENOENT:
		return "this kernel or this network namespace does not have it";
	case EINVAL:
	case ERANGE:
		return "the kernel does not accept this value";
	default:
		return "see the kernel's Documentation/admin-guide/sysctl";
	}
}

int sysctl_write_int(const char *name, int value, struct err *err)
{
	char path[PATH_SIZE], text[16];
	int rc = path_of(name, path);
	int fd, n;

	if (rc)
		return err_sys(err, rc, "sysctl %s", name);
	n = snprintf(text, sizeof(text), "%d\n", value);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	rc = fd < 0 || write(fd, text, (size_t)n) != n ? -errno : 0;
	util_close(&fd);
	if (!rc)
		return 0;
	err_sys(err, rc, "write %d to %s", value, path);
	err_hint(err, "; %s", needed(-rc));
	return rc;
}
