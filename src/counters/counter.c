/* SPDX-License-Identifier: MIT */
#include "counters/counter.h"

#include "base/clock.h"

uint64_t counter_increment(uint64_t from, uint64_t to, unsigned bits, bool *wrapped)
{
	if (bits == 32) {
		*wrapped = (uint32_t)to < (uint32_t)from;
		return (uint32_t)(to - from);
	}
	*wrapped = to < from;
	return *wrapped ? 0 : to - from;
}

double counter_rate(uint64_t increment, uint64_t ns)
{
	return ns ? (double)increment * (double)NSEC_PER_SEC / (double)ns : 0;
}
