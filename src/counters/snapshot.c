/* SPDX-License-Identifier: MIT */
#include "counters/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

int snapshot_read(struct snapshot *s, const struct snapshot_want *want, struct err *err)
{
	int ret = 0;

	if (want->devices && !s->ethtool) {
		s->ethtool = calloc(want->devices, sizeof(*s->ethtool));
		if (!s->ethtool)
			return err_sys(err, ENOMEM, "memory for the statistics of %u devices", want->devices);
		s->devices = want->devices;
	}
	s->mono_ns = clock_mono();
	if (want->mib)
		ret = mib_read(&s->mib, err);
	if (!ret && want->softnet)
		ret = softnet_read(&s->softnet, err);
	for (unsigned i = 0; i < s->devices && !ret; i++)
		ret = ethtool_read(&s->ethtool[i], want->device[i], err);
	return ret;
}

void snapshot_free(struct snapshot *s)
{
	mib_free(&s->mib);
	softnet_free(&s->softnet);
	for (unsigned i = 0; i < s->devices; i++)
		ethtool_free(&s->ethtool[i]);
	free(s->ethtool);
	*s = (struct snapshot){ 0 };
}
