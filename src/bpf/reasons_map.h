/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * reasons_map - what the BPF program of reasons.bpf.c and counters/reasons.c have in common: the map's key and value. For both compilers.
 */
#ifndef BPF_REASONS_MAP_H
#define BPF_REASONS_MAP_H

#define REASONS_MAP_ENTRIES 1024 /* reasons of Linux 6.18: 130, and those of subsystems; in three scopes */

/* Whose packet it was; in this order in reports. */
enum reasons_scope {
	REASONS_OURS,              /* UDP to our port in our network namespace */
	REASONS_NAMESPACE_UNKNOWN, /* UDP to our port; neither the device nor a socket is known any more */
	REASONS_UNPARSED,          /* not of another namespace; no port to be read: not the first fragment, headers cut or wrong */
};

struct reasons_key {
	unsigned int scope, reason;
};

/* Of one CPU. */
struct reasons_value {
	unsigned long long packets, datagrams;
};

#endif
