/* SPDX-License-Identifier: MIT */
/*
 * reasons - why the kernel dropped UDP packets to our ports, in our network namespace: counted by a BPF program on the tracepoint kfree_skb (bpf/reasons.bpf.c).
 *
 * What counts is the destination port, whatever the address: packets that this host sends to such a port and loses on the way out too. Needs Linux 5.17 or
 * later with type information (CONFIG_DEBUG_INFO_BTF), and CAP_BPF and CAP_PERFMON outside of user namespaces. Nothing is pinned: the program goes away with the
 * last descriptor, however the process ends. Control thread.
 */
#ifndef COUNTERS_REASONS_H
#define COUNTERS_REASONS_H

#include <stdint.h>

#include "base/err.h"
#include "bpf/reasons_map.h"

struct reasons; /* NULL: not asked for */

struct reasons_conf {
	const uint16_t *ports; /* host order */
	unsigned n;
	uint8_t protocol;      /* IPPROTO_UDP or IPPROTO_UDPLITE */
};

struct reason_count {
	char name[48];            /* without SKB_DROP_REASON_, from the running kernel; of a subsystem's reasons it tells the subsystem only: "OPENVSWITCH_5" */
	uint32_t reason;          /* number; changes from kernel to kernel */
	enum reasons_scope scope;
	uint64_t packets;
	uint64_t datagrams;       /* segments of super-packets; means nothing with REASONS_UNPARSED */
};

struct reason_list {
	struct reason_count *count; /* owned; sorted by scope, then most packets first */
	unsigned n;
	uint64_t missed;            /* drops of anybody that the program could not look at: they came while it was busy on that CPU, or its map was full */
};

/* Counts from here on. -EOPNOTSUPP: built without BPF, not permitted, or not with this kernel: the sentence says what is missing and what to do. */
int reasons_open(struct reasons **out, const struct reasons_conf *conf, struct err *err);

/* Since reasons_open. On success the list is the caller's: reasons_list_free. */
int reasons_read(struct reasons *r, struct reason_list *out, struct err *err);

/* NULL is fine. */
void reasons_close(struct reasons *r);

/* Takes what was counted before, of the same struct reasons, out of *now, and sorts it again. */
void reasons_list_since(struct reason_list *now, const struct reason_list *before);

/* The order of struct reason_list; reasons without packets are left out. */
void reasons_list_sort(struct reason_list *list);

void reasons_list_free(struct reason_list *list);

#endif
