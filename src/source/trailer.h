/* SPDX-License-Identifier: MIT */
/*
 * trailer - tells the receiver how many datagrams there were, so that what was lost at the end shows too.
 *
 * A datagram with the header only: kind SEQHDR_TRAILER, sequence = the first number of the flow that was not used, and the sums of the whole run (struct
 * seqhdr_sums), so that one trailer of any flow is enough to know. Sent three times with pauses between, because
 * a queue that was full at the end of the run loses the first. To the first destination, from each flow's socket.
 */
#ifndef SOURCE_TRAILER_H
#define SOURCE_TRAILER_H

#include "net/seqhdr.h"
#include "source/flows.h"

/* Main, after the threads have ended. Takes 11 ms. sums: datagrams of all threads, and segments. Returns how many the kernel accepted: three for each flow, or fewer. */
uint64_t trailer_send(const struct source_conf *conf, const struct flows *flows, const struct seqhdr_sums *sums);

#endif
