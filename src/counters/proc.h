/* SPDX-License-Identifier: MIT */
/*
 * proc - the kernel's text files about networking, read whole and in one go.
 *
 * "snmp" is $PROC_NET_SNMP, else $PROC_ROOT/net/snmp, else /proc/thread-self/net/snmp: the variables are those of iproute2's tools, so that a test, or somebody
 * with the files of another host, can feed what he has. /proc/thread-self is the namespace of the calling thread (proc(5)). Any thread.
 */
#ifndef COUNTERS_PROC_H
#define COUNTERS_PROC_H

#include <stddef.h>

#include "base/err.h"

/* A file's content, with a zero byte behind it; the memory is used again by the next read. */
struct proc_text {
	char *data;
	size_t size;
	size_t room;
};

/* name: below net/, such as "snmp" or "stat/nf_conntrack". Returns buf. */
char *proc_path(const char *name, char *buf, size_t size);

/* 0 or -errno: -ENOENT (without a sentence when err is NULL) where the file is not there. Lines may have any length. */
int proc_read(const char *name, struct proc_text *text, struct err *err);

void proc_free(struct proc_text *text);

#endif
