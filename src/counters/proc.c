/* SPDX-License-Identifier: MIT */
#include "counters/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

char *proc_path(const char *name, char *buf, size_t size)
{
	char variable[64] = "PROC_NET_";
	size_t at = 9;
	const char *root = getenv("PROC_ROOT"), *whole;

	for (const char *p = name; *p && at < sizeof(variable) - 1; p++)
		variable[at++] = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
	whole = getenv(variable);
	if (whole)
		snprintf(buf, size, "%s", whole);
	else
		snprintf(buf, size, "%s/net/%s", root ? root : "/proc/thread-self", name);
	return buf;
}

static int grow(struct proc_text *text)
{
	size_t room = text->room ? 2 * text->room : 16384;
	char *data = realloc(text->data, room);

	if (!data)
		return -ENOMEM;
	text->data = data;
	text->room = room;
	return 0;
}

static int read_all(int fd, struct proc_text *text)
{
	ssize_t n;

	text->size = 0;
	do {
		if (text->room - text->size < 2 && grow(text))
			return -ENOMEM;
		n = read(fd, text->data + text->size, text->room - text->size - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		text->size += n > 0 ? (size_t)n : 0;
	} while (n);
	text->data[text->size] = '\0';
	return 0;
}

int proc_read(const char *name, struct proc_text *text, struct err *err)
{
	char path[512];
	int fd = open(proc_path(name, path, sizeof(path)), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	ret = read_all(fd, text);
	close(fd);
	return ret ? err_sys(err, ret, "%s", path) : 0;
}

void proc_free(struct proc_text *text)
{
	free(text->data);
	*text = (struct proc_text){ 0 };
}
