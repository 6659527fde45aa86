/* SPDX-License-Identifier: MIT */
/* sockset_others - who else is bound to an address; see sockset.h. */
#include "net/sockset.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "net/sockset_own.h"

/* One line of /proc/net/udp or udp6. The kernel prints an address as 32-bit words of its memory, each in hex of the
 * host's byte order, and the port as a number. False for the heading and for what is not understood. */
static bool parse_line(const char *line, int family, struct addr *local, unsigned long *inode)
{
	char ip[33];
	unsigned port;
	size_t words = family == AF_INET ? 1 : 4;
	uint32_t word[4];

	memset(local, 0, sizeof(*local));
	if (sscanf(line, " %*u: %32[0-9A-F]:%4X %*s %*s %*s %*s %*s %*s %*s %lu", ip, &port,
		   inode) != 3 ||
	    strlen(ip) != 8 * words)
		return false;
	for (size_t i = 0; i < words; i++)
		if (sscanf(ip + 8 * i, "%8X", &word[i]) != 1)
			return false;
	local->sa.sa_family = (sa_family_t)family;
	local->len = family == AF_INET ? sizeof(local->in) : sizeof(local->in6);
	if (family == AF_INET)
		memcpy(&local->in.sin_addr, word, 4);
	else
		memcpy(&local->in6.sin6_addr, word, 16);
	addr_set_port(local, (uint16_t)port);
	return true;
}

static bool is_ours(const struct sock_set *set, unsigned long inode)
{
	unsigned n = atomic_load_explicit(&set->n, memory_order_acquire);
	struct stat st;

	for (unsigned i = 0; i < n; i++)
		if (!fstat(set->sock[i].fd, &st) && st.st_ino == inode)
			return true;
	return false;
}

static int count(const struct sock_set *set, const struct addr *addr, int family, bool lite)
{
	char path[64], line[256];
	unsigned long inode;
	struct addr local;
	int others = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/thread-self/net/udp%s%s", lite ? "lite" : "",
		 family == AF_INET6 ? "6" : "");
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (parse_line(line, family, &local, &inode) && addr_equal(&local, addr) &&
		    !is_ours(set, inode))
			others++;
	fclose(f);
	return others;
}

int sockset_others(const struct sock_set *set, const struct addr *local)
{
	bool lite = set->own && set->own->conf.lite;
	int four = count(set, local, AF_INET, lite), six = count(set, local, AF_INET6, lite);

	/* A kernel without IPv6 has no second file. */
	if (four < 0 && six < 0)
		return -1;
	return MAX(four, 0) + MAX(six, 0);
}
