/* SPDX-License-Identifier: MIT */
/* group - see group.h. */
#include "net/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static int in_use(const struct group_key *key, struct err *err)
{
	char text[ADDR_TEXT];

	return err_say(err, EADDRINUSE, "bind %s: in use by another udpsink whose "
		       "--threads group does not share its port: stop it, choose another port, "
		       "or run both with --reuse-port",
		       addr_format(key->addr, text, sizeof(text)));
}

/* The wildcard of a family, with the port of `of`. */
static struct addr wildcard(int family, const struct addr *of)
{
	struct addr any = { .len = family == AF_INET ? sizeof(any.in) : sizeof(any.in6) };

	any.sa.sa_family = (sa_family_t)family;
	addr_set_port(&any, addr_port(of));
	return any;
}

/* Addresses to look at, in the family of their packets. Returns how many. */
static unsigned addresses(const struct group_key *key, bool wildcards, struct addr out[3])
{
	bool any = addr_is_wildcard(key->addr);
	unsigned n = 0;

	out[n] = *key->addr;
	addr_to_family(&out[n++], AF_INET); /* leaves an IPv6 address alone */
	if (wildcards && !any)
		out[n++] = wildcard(addr_packet_family(key->addr), key->addr);
	if (any && key->dual)
		out[n++] = wildcard(AF_INET, key->addr);
	return n;
}

static socklen_t name_of(const struct addr *addr, bool lite, const char *device,
			 struct sockaddr_un *out)
{
	char text[ADDR_TEXT];
	int n;

	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	/* sun_path[0] stays 0: an abstract name, whose length is that of the address. */
	n = snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "udpsink/%s/%s/%s",
		     lite ? "udplite" : "udp", addr_format(addr, text, sizeof(text)),
		     device ? device : "");
	n = MIN(n, (int)sizeof(out->sun_path) - 2);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int open_unix(struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : err_sys(err, errno, "unix socket that marks a group of sockets");
}

static int add(struct group *group, const struct group_key *key, const struct addr *addr,
	       struct err *err)
{
	int *more = realloc(group->fd, (group->n + 1) * sizeof(*more));
	struct sockaddr_un name;
	socklen_t len = name_of(addr, key->lite, key->device, &name);
	int fd;

	if (!more)
		return err_sys(err, ENOMEM, "mark of a group of sockets");
	group->fd = more;
	fd = open_unix(err);
	if (fd < 0)
		return fd;
	group->fd[group->n++] = fd;
	if (!bind(fd, (struct sockaddr *)&name, len))
		return 0;
	if (errno == EADDRINUSE)
		return in_use(key, err);
	return err_sys(err, errno, "mark of a group: bind @%s", name.sun_path + 1);
}

int group_mark(struct group *group, const struct group_key *key, struct err *err)
{
	struct addr addr[3];
	unsigned n = addresses(key, false, addr);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = add(group, key, &addr[i], err);
	return rc;
}

/* connect(2) of a datagram socket tells whether the name is held, and leaves no trace. */
static int check_one(const struct group_key *key, const struct addr *addr, const char *device,
		     struct err *err)
{
	struct sockaddr_un name;
	socklen_t len = name_of(addr, key->lite, device, &name);
	int fd = open_unix(err), rc;

	if (fd < 0)
		return fd;
	rc = connect(fd, (struct sockaddr *)&name, len) ? -errno : 0;
	util_close(&fd);
	if (!rc)
		return in_use(key, err);
	if (rc == -ECONNREFUSED)
		return 0;
	return err_sys(err, rc, "mark of a group: connect @%s", name.sun_path + 1);
}

int group_check(const struct group_key *key, struct err *err)
{
	struct addr addr[3];
	unsigned n = addresses(key, true, addr);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		rc = check_one(key, &addr[i], NULL, err);
		if (!rc && key->device)
			rc = check_one(key, &addr[i], key->device, err);
	}
	return rc;
}

void group_close(struct group *group)
{
	while (group->n)
		util_close(&group->fd[--group->n]);
	free(group->fd);
	group->fd = NULL;
}
