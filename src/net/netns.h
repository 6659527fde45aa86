/* SPDX-License-Identifier: MIT */
/*
 * netns - which network namespace this is. Kernel counters are per namespace: figures of two are not to be put together as if they were of one.
 */
#ifndef NET_NETNS_H
#define NET_NETNS_H

#include <stdint.h>

/* Number of the calling thread's namespace, the same for every process in it and for no other until the next boot (SO_NETNS_COOKIE, Linux 5.14).
 * 0 = the kernel does not tell. Any thread. */
uint64_t netns_cookie(void);

#endif
