/* SPDX-License-Identifier: MIT */
/* conf_uring - --sender uring, which a build or a kernel may lack, and --zerocopy. */
#include <errno.h>

#include "source/conf.h"
#include "source/tx.h"

int conf_check_uring(const struct source_conf *conf, struct err *err)
{
	if (conf->zerocopy && conf->sender != TX_URING)
		return err_say(err, EINVAL, "--zerocopy: only --sender uring sends without a copy");
	return conf->sender == TX_URING ? tx_uring_check(conf->zerocopy, err) : 0;
}
