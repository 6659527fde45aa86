/* SPDX-License-Identifier: MIT */
/*
 * target - did the run keep the rate that was asked for, and if not, why. Main thread, on a complete sum.
 */
#ifndef SOURCE_TARGET_H
#define SOURCE_TARGET_H

#include "source/report.h"

/* More than this beside the target is a miss. */
#define TARGET_TOLERANCE 0.01
/* Shorter runs are not judged: what may be caught up with (PACER_CATCHUP_NS) is more than the tolerance of them. */
#define TARGET_LEAST_NS (PACER_CATCHUP_NS * 100)

enum target { TARGET_UNKNOWN, TARGET_MET, TARGET_MISSED };

/* TARGET_UNKNOWN: no rate was asked for, a signal ended the run, or it was too short to tell. */
enum target target_verdict(const struct report *r);

/* Of a miss: one sentence with the cause, where that is known. Returns buf. */
char *target_sentence(const struct report *r, char *buf, size_t size);

#endif
