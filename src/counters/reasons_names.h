/* SPDX-License-Identifier: MIT */
/*
 * reasons_names - the running kernel's names of drop reasons, and what its tracepoint hands over, from its type information (/sys/kernel/btf/vmlinux): both
 * change from kernel to kernel. Only in builds with BPF. Any thread, one at a time.
 */
#ifndef COUNTERS_REASONS_NAMES_H
#define COUNTERS_REASONS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct btf;
struct btf_type;

struct reasons_names {
	struct btf *btf; /* owned */
	const struct btf_type *reason;    /* enum skb_drop_reason */
	const struct btf_type *subsystem; /* enum skb_drop_reason_subsys; NULL: this kernel has none */
	bool has_socket;                  /* the tracepoint hands over the receiving socket */
};

/* -EOPNOTSUPP: the kernel has no type information, or gives no reasons. */
int reasons_names_open(struct reasons_names *out, struct err *err);

/* The name without SKB_DROP_REASON_, or one made of the number ("OPENVSWITCH_5", "REASON_200"). False: this is no drop (SKB_CONSUMED). */
bool reasons_names_get(const struct reasons_names *n, uint32_t reason, char *buf, size_t size);

void reasons_names_close(struct reasons_names *n);

#endif
