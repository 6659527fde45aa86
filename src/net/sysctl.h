/* SPDX-License-Identifier: MIT */
/*
 * sysctl - values under /proc/sys, by their usual names ("net.ipv4.ip_early_demux").
 *
 * Names of net.* mean the network namespace of the calling thread. As in sysctl(8), a '/' in a name stands for a dot
 * (interfaces such as eth0.5). Any thread.
 */
#ifndef NET_SYSCTL_H
#define NET_SYSCTL_H

#include "base/err.h"

/* The text of the file, without its last newline. 0 or -errno; no sentence. A text that does not fit is cut. */
int sysctl_read(const char *name, char *buf, size_t size);

/* The first number of the file. 0 or -errno (-ENOENT also where a container hides it); no sentence. */
int sysctl_read_int(const char *name, int *out);

/* 0 or -errno, with a sentence that names the path, the errno and what is needed. */
int sysctl_write_int(const char *name, int value, struct err *err);

#endif
