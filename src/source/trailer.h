/* SPDX-License-Identifier: MIT */
/*
 * trailer - tells the receiver's check (udp_sink --check-sequence) how many numbers each flow had, so that what was lost at the end shows too.
 *
 * A datagram with the header only: kind SEQHDR_TRAILER, sequence = the first number that was not used. Sent three times with pauses between, because
 * a queue that was full at the end of the run loses the first. To the first destination, from each flow's socket.
 */
#ifndef SOURCE_TRAILER_H
#define SOURCE_TRAILER_H

#include "source/flows.h"

/* Main, after the threads have ended. Takes 11 ms. Returns how many the kernel accepted: three for each flow, or fewer. */
uint64_t trailer_send(const struct source_conf *conf, const struct flows *flows);

#endif
