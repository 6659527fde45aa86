/* SPDX-License-Identifier: MIT */
/*
 * gso - what UDP_SEGMENT really does on this host: how many segments a message may hold, and whether they arrive as they were sent.
 */
#ifndef SOURCE_GSO_H
#define SOURCE_GSO_H

struct gso_probe {
	unsigned limit;  /* datagrams per message; 1 = GSO is of no use here */
	char why[160];   /* then: the reason */
	unsigned messages, datagrams; /* sent on the way: they show in the host's UDP counters */
};

/* Sends messages of equal segments, and with a short last one, between two sockets of its own on loopback, and compares what arrives. family: AF_INET or AF_INET6. A
 * few ms; any thread; leaves nothing open. */
void gso_probe(int family, struct gso_probe *out);

#endif
