/* SPDX-License-Identifier: MIT */
/*
 * mib - the protocol counters of the network namespace under the names and in the order of nstat(8): /proc/net/sctp/snmp, snmp, snmp6
 * and netstat.
 *
 * In the two-line tables a name is the text before the colon and the column's title: "Udp:" and "InDatagrams" are UdpInDatagrams. What is a setting and not a counter
 * is left out, as by nstat. They are per namespace, and counters of the kernel's unsigned long: 64 bits wide on a 64-bit kernel.
 *
 * The file snmp has to be there. Without snmp6 (no IPv6 in this kernel) has_ipv6 is false and what is named Ip6..., Udp6... is unknown; without
 * netstat the same with has_extended; without sctp/snmp (module not loaded) its names. The files are read one after the other: under traffic they
 * differ by what came in between. Control thread.
 */
#ifndef COUNTERS_MIB_H
#define COUNTERS_MIB_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/proc.h"

struct mib_entry {
	const char *name; /* owned by the mib */
	uint64_t value;
};

struct mib {
	struct mib_entry *entry; /* owned */
	unsigned n, room;
	char *names;             /* owned: every name with a zero byte */
	size_t names_size, names_room;
	struct proc_text text;   /* of the file read last */
	bool has_ipv6, has_extended;
};

/* Takes the place of what *m held; zeroed before the first. -EINVAL: a file is not what its name says. Ends with mib_free also on failure. */
int mib_read(struct mib *m, struct err *err);

/* False: there is no such counter. */
bool mib_get(const struct mib *m, const char *name, uint64_t *value);

void mib_free(struct mib *m);

#endif
