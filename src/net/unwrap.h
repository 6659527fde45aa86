/* SPDX-License-Identifier: MIT */
/*
 * unwrap - from a captured frame to the UDP payload in it: link header with VLAN tags, IPv4 with options, IPv6 with extension headers, UDP.
 *
 * Formats: IEEE 802.3 and 802.1Q/ad; tcpdump.org/linktypes (LINUX_SLL, LINUX_SLL2, NULL); RFC 791, RFC 8200, RFC 4302, RFC 768. Nothing is put together:
 * a fragment is no datagram. Reads no byte beyond what was captured. Pure functions, any thread.
 */
#ifndef NET_UNWRAP_H
#define NET_UNWRAP_H

#include <stddef.h>
#include <stdint.h>

enum unwrap_link { UNWRAP_ETHERNET, UNWRAP_IP, UNWRAP_SLL, UNWRAP_SLL2, UNWRAP_NULL /* BSD loopback: four bytes */ };

enum unwrap {
	UNWRAP_UDP,      /* the payload was found, whole */
	UNWRAP_OTHER,    /* not IP, or not UDP */
	UNWRAP_FRAGMENT, /* of a UDP datagram */
	UNWRAP_CUT,      /* the capture does not hold all of it (its snap length) */
	UNWRAP_BAD,      /* lengths that contradict each other */
	UNWRAP_N
};

/* What each is called in reports. */
extern const char *const unwrap_name[UNWRAP_N];

struct unwrap_payload {
	const unsigned char *data; /* within the frame */
	size_t size;
};

/* frame: `captured` bytes of it. Packets that a sending host captured before segmentation (IPv4 total length or UDP length 0) reach to the frame's end, so
 * `wire` is its full length. *out is set for UNWRAP_UDP only. */
enum unwrap unwrap_udp(enum unwrap_link link, const void *frame, size_t captured, size_t wire, struct unwrap_payload *out);

#endif
