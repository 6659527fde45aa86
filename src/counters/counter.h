/* SPDX-License-Identifier: MIT */
/*
 * counter - what a counter of the kernel has grown by between two readings. The width belongs to the source, which says it in its header. Any thread.
 */
#ifndef COUNTERS_COUNTER_H
#define COUNTERS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * 32 bits: modulo 2^32, of the lower halves; *wrapped: it went through zero. More than 2^32 between two readings cannot be told.
 * 64 bits: none wraps in practice. One that went backwards was set to zero: the increment is not known, 0 is returned and *wrapped is true, which
 * is what nstat(8) calls overflow.
 */
uint64_t counter_increment(uint64_t from, uint64_t to, unsigned bits, bool *wrapped);

/* Per second; 0 over no time. */
double counter_rate(uint64_t increment, uint64_t ns);

#endif
