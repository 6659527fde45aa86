/* SPDX-License-Identifier: MIT */
/*
 * seqhdr - the header that udp_source writes at the start of the payload and udp_sink checks. Network byte order.
 *
 *   0        2     3     4          8         10                18                26
 *   | magic  | ver | kind | run id  | stream  | sequence number | send time stamp |
 *
 * The first 18 bytes (a minimum Ethernet frame carries 18 bytes of UDP payload) are always there when the payload
 * has room; the time stamp only from 26 bytes on (flag in ver). Shorter payloads carry no header. Pure functions,
 * any thread.
 */
#ifndef NET_SEQHDR_H
#define NET_SEQHDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQHDR_MAGIC 0x5544 /* "UD" */
#define SEQHDR_SHORT 18     /* bytes without time stamp */
#define SEQHDR_FULL 26      /* bytes with time stamp */

enum seqhdr_kind { SEQHDR_DATA = 0, SEQHDR_TRAILER = 1 };

struct seqhdr {
	uint8_t kind;       /* enum seqhdr_kind */
	bool stamped;
	uint32_t run;       /* random per run of a source: strays of another run are recognised */
	uint16_t stream;    /* flow number modulo 65536; sequence numbers are per stream */
	uint64_t sequence;  /* from 0 */
	uint64_t stamp_ns;  /* CLOCK_REALTIME of the (scheduled) send, 0 when not stamped. */
};

/* Writes as much as fits; returns bytes written: 0, SEQHDR_SHORT or SEQHDR_FULL. */
size_t seqhdr_write(void *payload, size_t size, const struct seqhdr *header);

/* Returns true when the payload starts with a header of this version; never reads past size. */
bool seqhdr_read(const void *payload, size_t size, struct seqhdr *header);

/* What a trailer says behind the first 18 bytes, of the whole run, all streams:
 *
 *   18         26                  34        42         44              46       48               50
 *   | datagrams | trailers before it | network | segments | to come after | probes | their messages |
 */
#define SEQHDR_TRAILER_SIZE 50
struct seqhdr_sums {
	uint64_t datagrams; /* that the source's kernel accepted; trailers are not in it */
	uint64_t trailers;  /* that it accepted before this one */
	uint64_t netns;     /* its network namespace, see net/netns.h; 0 = not known */
	uint16_t segments;  /* datagrams per message at the end: 1 = plain, more = UDP_SEGMENT */
	uint16_t after;     /* trailers that will be tried after this one, at most 65535 */
	uint16_t probes;    /* datagrams that it sent to itself in that namespace, before the run... */
	uint16_t messages;  /* ...and in how many messages */
};

/* The whole trailer, or 0 bytes where there is no room. header: kind, stamp are set here. */
size_t seqhdr_write_trailer(void *payload, size_t size, const struct seqhdr *header, const struct seqhdr_sums *sums);

/* False when the payload is no trailer, or was cut before its end. */
bool seqhdr_read_trailer(const void *payload, size_t size, struct seqhdr_sums *sums);

/* The header of the kernel's pktgen (net/core/pktgen.c struct pktgen_hdr): magic 0xbe9be955, sequence, seconds,
 * microseconds, each 32 bit. The kernel writes network byte order; some senders wrote host order, so both are
 * recognised. */
#define PKTGENHDR_MAGIC 0xbe9be955u
#define PKTGENHDR_SIZE 16
struct pktgenhdr {
	uint32_t sequence, sec, usec;
	bool swapped; /* was in little-endian order */
};
bool pktgenhdr_read(const void *payload, size_t size, struct pktgenhdr *header);
size_t pktgenhdr_write(void *payload, size_t size, const struct pktgenhdr *header);

#endif
