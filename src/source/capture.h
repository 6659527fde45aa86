/* SPDX-License-Identifier: MIT */
/*
 * capture - the UDP payloads of a capture file (pcap, pcapng), with their times: --pcap.
 */
#ifndef SOURCE_CAPTURE_H
#define SOURCE_CAPTURE_H

#include <stdbool.h>

#include "net/unwrap.h"
#include "source/messages.h"

/* What was in the file. */
struct capture_facts {
	uint64_t packets;             /* that passed the filter */
	uint64_t found[UNWRAP_N];     /* of these, by what they are; UNWRAP_UDP is what is sent */
	uint64_t too_large;           /* of the UDP ones, more than SIZE_MAX_PAYLOAD: not sent */
	uint64_t backwards;           /* times before the one before them: taken for that one */
	uint64_t span_ns;             /* from the first datagram to the last */
	bool truncated;               /* the file ends within a packet */
};

/* Reads all of `file`, "-" for standard input, into *out with times (messages_free frees them also after a failure). filter: in the words of
 * pcap-filter(7), or NULL. Main thread. -EOPNOTSUPP without libpcap, -ENOENT and the like, -EINVAL: nothing in it that could be sent. */
int capture_load(const char *file, const char *filter, struct messages *out, struct capture_facts *facts, struct err *err);

/* "12 packets were left out: 10 not UDP, 2 fragments"; empty when none was. Returns buf. */
char *capture_left_out(const struct capture_facts *facts, char *buf, size_t size);

#endif
