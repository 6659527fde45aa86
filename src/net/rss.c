/* SPDX-License-Identifier: MIT */
#include "net/rss.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* Hash functions are bits, of which this is the first: ETH_RSS_HASH_TOP of the kernel's include/linux/ethtool.h, "toeplitz" of ETH_SS_RSS_HASH_FUNCS. */
#define TOEPLITZ 1

int rss_standard(struct rss *out, unsigned queues, struct err *err)
{
	*out = (struct rss){ .queues = queues, .key = toeplitz_standard, .n = RSS_TABLE };
	while (out->n < queues)
		out->n *= 2;
	out->table = calloc(out->n, sizeof(*out->table));
	if (!out->table)
		return err_sys(err, ENOMEM, "memory for an indirection table");
	for (unsigned i = 0; i < out->n; i++)
		out->table[i] = i % queues;
	return 0;
}

/* Each queue has an entry, and no other queue has one. */
static int check_table(const struct rss *rss, const char *device, const uint32_t *table, unsigned n, struct err *err)
{
	bool seen[RSS_QUEUES_MOST] = { false };

	for (unsigned i = 0; i < n; i++) {
		if (table[i] >= rss->queues)
			return err_say(err, EINVAL, "%s: its indirection table has queue %u too, which is not one of the first %u (ethtool -x %s)", device,
				       table[i], rss->queues, device);
		seen[table[i]] = true;
	}
	for (unsigned q = 0; q < rss->queues; q++)
		if (!seen[q])
			return err_say(err, EINVAL, "%s: its indirection table does not have queue %u of %u (ethtool -x %s)", device, q, rss->queues,
				       device);
	return 0;
}

static int take_table(struct rss *rss, const char *device, const uint32_t *table, unsigned n, struct err *err)
{
	uint32_t *copy;
	int ret = check_table(rss, device, table, n, err);

	if (ret)
		return ret;
	copy = realloc(rss->table, n * sizeof(*copy));
	if (!copy)
		return err_sys(err, ENOMEM, "memory for an indirection table");
	memcpy(copy, table, n * sizeof(*copy));
	rss->table = copy;
	rss->n = n;
	rss->own_table = true;
	return 0;
}

int rss_take(struct rss *rss, const char *device, const struct ethtool_rxfh *answer, struct err *err)
{
	const unsigned char *key = (const unsigned char *)(answer->rss_config + answer->indir_size);

	if (answer->hfunc && answer->hfunc != TOEPLITZ)
		return err_say(err, EOPNOTSUPP, "%s: its hash function is not Toeplitz (ethtool -x %s)", device, device);
	/* The byte that later kernels call input_xfrm: addresses and ports are changed before they are hashed, so that both directions are alike. */
	if (((const unsigned char *)answer)[offsetof(struct ethtool_rxfh, hfunc) + 1])
		return err_say(err, EOPNOTSUPP, "%s: its hash is symmetric, which is not computed here (ethtool -x %s)", device, device);
	if (answer->key_size >= TOEPLITZ_KEY && answer->key_size <= TOEPLITZ_KEY_MOST) {
		rss->key.len = answer->key_size;
		memcpy(rss->key.byte, key, answer->key_size);
		rss->own_key = true;
	}
	return answer->indir_size ? take_table(rss, device, answer->rss_config, answer->indir_size, err) : 0;
}

static int ask(int fd, const char *device, struct ethtool_rxfh *question)
{
	struct ifreq request = { .ifr_data = (void *)question };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	question->cmd = ETHTOOL_GRSSH;
	return ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
}

/* First how large, then what. *out: to be freed; NULL: the device does not tell. */
static int ask_all(const char *device, struct ethtool_rxfh **out)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ethtool_rxfh sizes = { 0 };
	int ret = fd < 0 ? -errno : ask(fd, device, &sizes);

	*out = NULL;
	if (!ret && sizes.indir_size <= RSS_TABLE_MOST && sizes.key_size <= TOEPLITZ_KEY_MOST && sizes.indir_size + sizes.key_size) {
		*out = calloc(1, sizeof(**out) + sizes.indir_size * sizeof(uint32_t) + sizes.key_size);
		ret = *out ? 0 : -ENOMEM;
		if (!ret) {
			(*out)->indir_size = sizes.indir_size;
			(*out)->key_size = sizes.key_size;
			ret = ask(fd, device, *out);
		}
	}
	util_close(&fd);
	return ret;
}

int rss_read(struct rss *rss, const char *device, struct err *err)
{
	struct ethtool_rxfh *answer;
	int ret;

	if (!if_nametoindex(device))
		return err_sys(err, errno, "%s: not a device of this host and network namespace", device);
	ret = ask_all(device, &answer);
	if (ret == -EOPNOTSUPP)
		ret = 0;
	else if (ret)
		err_sys(err, ret, "%s: reading its hash key and indirection table (ETHTOOL_GRSSH)", device);
	else if (answer)
		ret = rss_take(rss, device, answer, err);
	free(answer);
	return ret;
}

void rss_free(struct rss *rss)
{
	free(rss->table);
	*rss = (struct rss){ 0 };
}
