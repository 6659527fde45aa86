/* SPDX-License-Identifier: MIT */
#include "counters/ethtool.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "counters/counter.h"

/* The kernel writes as many entries as the driver has by then, whatever room was said to be there: so many may come between two questions. */
#define SPARE 1024
#define ATTEMPTS 3

static int ask(int fd, const char *device, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	return ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
}

/* ETHTOOL_GSSET_INFO, or what there was before Linux 2.6.34. */
static int count(int fd, const char *device, unsigned *n)
{
	union { /* the number of statistics follows the struct */
		struct ethtool_sset_info head;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} info = { .head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = UINT64_C(1) << ETH_SS_STATS } };
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	uint32_t size = 0;
	int ret = ask(fd, device, &info);

	if (!ret) {
		memcpy(&size, info.room + sizeof(info.head), sizeof(size));
		*n = info.head.sset_mask ? size : 0;
		return 0;
	}
	if (ret == -EOPNOTSUPP)
		ret = ask(fd, device, &driver);
	*n = ret ? 0 : driver.n_stats;
	return ret;
}

int ethtool_take(struct ethtool *e, const struct ethtool_gstrings *names, const struct ethtool_stats *values)
{
	unsigned n = MIN(names->len, values->n_stats);

	e->n = 0;
	if (n > e->room) {
		struct ethtool_stat *stat = realloc(e->stat, n * sizeof(*stat));

		if (!stat)
			return -ENOMEM;
		e->stat = stat;
		e->room = n;
	}
	for (; e->n < n; e->n++) {
		struct ethtool_stat *s = &e->stat[e->n];

		*s = (struct ethtool_stat){ .value = values->data[e->n] };
		memcpy(s->name, names->data + e->n * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
	}
	return 0;
}

/* -EAGAIN: the driver had another number of statistics meanwhile, so that names and values do not belong together. */
static int take(struct ethtool *e, int fd)
{
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	unsigned n;
	int ret = count(fd, e->device, &n);

	if (ret || !n)
		return ret ? ret : -EOPNOTSUPP;
	names = calloc(1, sizeof(*names) + (n + SPARE) * (size_t)ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + (n + SPARE) * sizeof(values->data[0]));
	ret = names && values ? 0 : -ENOMEM;
	if (!ret) {
		*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n };
		ret = ask(fd, e->device, names);
	}
	if (!ret) {
		*values = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = n };
		ret = ask(fd, e->device, values);
	}
	if (!ret)
		ret = names->len == values->n_stats ? ethtool_take(e, names, values) : -EAGAIN;
	free(names);
	free(values);
	return ret;
}

int ethtool_read(struct ethtool *e, const char *device, struct err *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = -EAGAIN;

	if (fd < 0 && errno == EAFNOSUPPORT)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, errno, "socket to ask for the statistics of %s", device);
	snprintf(e->device, sizeof(e->device), "%s", device);
	for (unsigned i = 0; i < ATTEMPTS && ret == -EAGAIN; i++)
		ret = take(e, fd);
	close(fd);
	if (ret == -EOPNOTSUPP)
		return err_say(err, EOPNOTSUPP, "%s: its driver keeps no statistics of its own (ethtool -S)", device);
	return ret ? err_sys(err, ret, "%s: statistics of its driver", device) : 0;
}

bool ethtool_since(const struct ethtool *from, const struct ethtool *to, unsigned i, unsigned *hint, uint64_t *increment, bool *wrapped)
{
	const struct ethtool_stat *s = &to->stat[i];

	for (unsigned tried = 0; tried < from->n; tried++) {
		unsigned at = (*hint + tried) % from->n;

		if (strcmp(from->stat[at].name, s->name))
			continue;
		*increment = counter_increment(from->stat[at].value, s->value, 64, wrapped);
		*hint = at + 1;
		return true;
	}
	return false;
}

void ethtool_free(struct ethtool *e)
{
	free(e->stat);
	*e = (struct ethtool){ 0 };
}
