/* SPDX-License-Identifier: MIT */
/*
 * dev - /proc/net/dev: packets and bytes of every interface of the network namespace. Counters of 64 bits on a 64-bit kernel. Any thread.
 */
#ifndef COUNTERS_DEV_H
#define COUNTERS_DEV_H

#include <net/if.h>
#include <stdint.h>

#include "counters/proc.h"

/* The columns of the file (net/core/net-procfs.c, dev_seq_printf_stats). */
enum dev_column {
	DEV_RX_BYTES, DEV_RX_PACKETS, DEV_RX_ERRS, DEV_RX_DROP, DEV_RX_FIFO, DEV_RX_FRAME, DEV_RX_COMPRESSED, DEV_RX_MULTICAST,
	DEV_TX_BYTES, DEV_TX_PACKETS, DEV_TX_ERRS, DEV_TX_DROP, DEV_TX_FIFO, DEV_TX_COLLS, DEV_TX_CARRIER, DEV_TX_COMPRESSED,
	DEV_COLUMNS
};

struct dev_entry {
	char name[IF_NAMESIZE];
	uint64_t value[DEV_COLUMNS];
};

struct dev {
	struct dev_entry *entry; /* owned */
	unsigned n, room;
	struct proc_text text;
};

/* Takes the place of what *d held; zeroed before the first. 0 or -errno with a sentence; ends with dev_free also on failure. */
int dev_read(struct dev *d, struct err *err);

/* NULL: there is no such interface. */
const struct dev_entry *dev_find(const struct dev *d, const char *name);

void dev_free(struct dev *d);

#endif
