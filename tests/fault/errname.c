/* SPDX-License-Identifier: MIT */
#include "errname.h"

#include <errno.h>
#include <string.h>

#define ERRNO(name) { #name, name }

static const struct {
	const char *name;
	int code;
} table[] = {
	ERRNO(E2BIG),         ERRNO(EACCES),        ERRNO(EADDRINUSE),    ERRNO(EADDRNOTAVAIL), ERRNO(EAFNOSUPPORT),
	ERRNO(EAGAIN),        ERRNO(EALREADY),      ERRNO(EBADF),         ERRNO(EBUSY),         ERRNO(ECONNREFUSED),
	ERRNO(ECONNRESET),    ERRNO(EDESTADDRREQ),  ERRNO(EEXIST),        ERRNO(EFAULT),        ERRNO(EHOSTUNREACH),
	ERRNO(EINPROGRESS),   ERRNO(EINTR),         ERRNO(EINVAL),        ERRNO(EIO),           ERRNO(EISCONN),
	ERRNO(EISDIR),        ERRNO(ELOOP),         ERRNO(EMFILE),        ERRNO(EMSGSIZE),      ERRNO(ENETDOWN),
	ERRNO(ENETUNREACH),   ERRNO(ENFILE),        ERRNO(ENOBUFS),       ERRNO(ENODEV),        ERRNO(ENOENT),
	ERRNO(ENOMEM),        ERRNO(ENOPROTOOPT),   ERRNO(ENOSPC),        ERRNO(ENOSYS),        ERRNO(ENOTCONN),
	ERRNO(ENOTSOCK),      ERRNO(ENXIO),         ERRNO(EOPNOTSUPP),    ERRNO(EPERM),         ERRNO(EPIPE),
	ERRNO(EPROTONOSUPPORT), ERRNO(ERANGE),      ERRNO(EROFS),         ERRNO(ESRCH),         ERRNO(ETIMEDOUT),
};

int errname_parse(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strlen(table[i].name) == len && memcmp(table[i].name, text, len) == 0)
			return table[i].code;
	return 0;
}

const char *errname_of(int code)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].code == code)
			return table[i].name;
	return NULL;
}
