/* SPDX-License-Identifier: MIT */
/* sockset_own - the inside of a sock_set; for sockset.c and sockset_others.c. */
#ifndef NET_SOCKSET_OWN_H
#define NET_SOCKSET_OWN_H

#include <pthread.h>

#include "net/group.h"
#include "net/sock.h"

struct sockset_own {
	struct sock_conf conf; /* of the sockets; strings stay the caller's */
	struct group group;
	pthread_mutex_t lock;  /* held while a socket is added */
};

#endif
