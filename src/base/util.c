/* SPDX-License-Identifier: MIT */
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>

void util_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd); /* also on EINTR Linux has released the descriptor: never again */
	*fd = -1;
	errno = saved;
}

ssize_t util_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 1;
	int rc = 0;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	while (n && used < size - 1) {
		n = read(fd, buf + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = -errno;
			break;
		}
		used += n;
	}
	util_close(&fd);
	buf[used] = '\0';
	return rc ? rc : (ssize_t)used;
}

void util_standard_fds(void)
{
	/* The lowest that is free is the one that open takes. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}
