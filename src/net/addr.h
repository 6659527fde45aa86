/* SPDX-License-Identifier: MIT */
/*
 * addr - IPv4/IPv6 socket addresses: parse, print, compare, classify. Pure functions, any thread.
 */
#ifndef NET_ADDR_H
#define NET_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

struct addr {
	socklen_t len; /* bytes of the address in use; 0 = no address */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss; /* names given to the kernel have this size */
	};
};

/* Longest text of addr_format: "[" IPv6 "%" ifname "]:65535" and NUL. */
#define ADDR_TEXT 80

/* "1.2.3.4", "1.2.3.4:53", "::1", "[::1]:53", "fe80::1%eth0", "[fe80::1%eth0]:53", "*" = :: (0.0.0.0 under AF_INET);
 * "localhost" and other host names are refused (no resolver: a benchmark must not depend on one). port: used when
 * the text has none. family: AF_UNSPEC, or AF_INET / AF_INET6 to refuse the other. A link-local address without a
 * scope is refused here, with a sentence, instead of by a later EINVAL. An unknown interface name after '%' is
 * refused. */
int addr_parse(const char *text, int family, uint16_t port, struct addr *out, struct err *err);

/* ADDR:PORT, brackets for IPv6, scope as interface name. Mapped addresses are shown as IPv4 in "[::ffff:1.2.3.4]:53"
 * form. Returns buf. */
char *addr_format(const struct addr *addr, char *buf, size_t size);

/* Without the port: "::1%lo". Returns buf. */
char *addr_format_host(const struct addr *addr, char *buf, size_t size);

uint16_t addr_port(const struct addr *addr);
void addr_set_port(struct addr *addr, uint16_t port);

/* Same family, address, port and scope (scope only where both carry one). A mapped IPv4 address equals its IPv4
 * form. */
bool addr_equal(const struct addr *a, const struct addr *b);

/* The same without the port. */
bool addr_equal_host(const struct addr *a, const struct addr *b);

/* An IPv4 address inside an IPv6 sockaddr (::ffff:a.b.c.d). */
static inline bool addr_is_mapped(const struct addr *a)
{
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr);
}

/* The family of the packet, not of the socket: mapped counts as AF_INET. */
static inline int addr_packet_family(const struct addr *a)
{
	return addr_is_mapped(a) ? AF_INET : a->sa.sa_family;
}

bool addr_is_wildcard(const struct addr *a);
bool addr_is_loopback(const struct addr *a);
bool addr_is_multicast(const struct addr *a);

/* 32-bit hash of address, port and scope, for counting flows; not keyed, not for tables an attacker can fill. A few
 * ns. Equal addresses hash equal, as long as both or none carry a scope (what the kernel hands over always does
 * where it matters). The value differs between byte orders: never stored, never sent. */
uint32_t addr_hash(const struct addr *a);

/* Changes an IPv4 address to its mapped form (family AF_INET6) or back (AF_INET), for a socket of that family.
 * False, and nothing changed, when the address has no such form. */
bool addr_to_family(struct addr *a, int family);

/* From what cmsg gives: a 16-byte IPv6 address where IPv4 is stored mapped; it comes out as AF_INET. scope (an
 * interface index) is kept where the address needs one. */
void addr_from_in6(struct addr *out, const struct in6_addr *ip, uint16_t port, uint32_t scope);

#endif
