/* SPDX-License-Identifier: MIT */
/* sock_buffer - see sock_buffer.h. */
#include "net/sock_buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "net/sysctl.h"

/* The kernel books twice the value asked, for its own overhead (socket(7)), and takes an int. */
#define LARGEST (INT_MAX / 2)

static const struct side {
	const char *option, *sysctl;
	int plain, force;
} sides[] = {
	[SOCK_BUFFER_RCV] = { "--rcvbuf", "net.core.rmem_max", SO_RCVBUF, SO_RCVBUFFORCE },
	[SOCK_BUFFER_SND] = { "--sndbuf", "net.core.wmem_max", SO_SNDBUF, SO_SNDBUFFORCE },
};

bool sock_buffer_shortfall(const struct sock_buffer *b, char *text, size_t size)
{
	char limit[64] = "";

	text[0] = '\0';
	if (b->granted >= b->asked)
		return false;
	if (b->limit)
		snprintf(limit, sizeof(limit), ", which is %" PRIu64 " now", b->limit);
	snprintf(text, size,
		 "asked for %" PRIu64 " bytes, granted %" PRIu64 "; the limit is %s%s: raise it, "
		 "or run with CAP_NET_ADMIN",
		 b->asked, b->granted, b->sysctl, limit);
	return true;
}

int sock_buffer_set(int fd, enum sock_buffer_side which, uint64_t asked, bool strict,
		    struct sock_buffer *out, struct err *err)
{
	const struct side *side = &sides[which];
	int value = (int)MIN(asked, (uint64_t)LARGEST), limit;
	socklen_t len = sizeof(value);
	char text[240];

	*out = (struct sock_buffer){ .asked = asked, .sysctl = side->sysctl };
	if (!sysctl_read_int(side->sysctl, &limit) && limit > 0)
		out->limit = (uint64_t)limit;
	if (asked) {
		out->forced = !setsockopt(fd, SOL_SOCKET, side->force, &value, sizeof(value));
		if (!out->forced && setsockopt(fd, SOL_SOCKET, side->plain, &value, sizeof(value)))
			return err_sys(err, errno, "%s %" PRIu64, side->option, asked);
	}
	if (getsockopt(fd, SOL_SOCKET, side->plain, &value, &len))
		return err_sys(err, errno, "%s: read back", side->option);
	out->granted = (uint64_t)value / 2;
	if (strict && sock_buffer_shortfall(out, text, sizeof(text)))
		return err_say(err, ENOBUFS, "%s: %s", side->option, text);
	return 0;
}
