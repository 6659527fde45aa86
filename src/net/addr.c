/* SPDX-License-Identifier: MIT */
/* addr - see addr.h. */
#include "net/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text split into its parts, before anything is looked at more closely. */
struct parts {
	char host[64];
	char scope[IF_NAMESIZE + 1]; /* with room to see that a name is too long */
	const char *port;            /* NULL = none */
	bool bracket;
};

static int refuse(struct err *err, const char *text, const char *why)
{
	return err_say(err, EINVAL, "address '%s': %s", text, why);
}

#define NO_ADDRESS "is no IPv4 or IPv6 address (host names are not looked up)"

/* Copies text[0..n) where it fits. */
static bool take(char *out, size_t size, const char *text, size_t n)
{
	if (n >= size)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

/* "HOST%SCOPE" without brackets and port. */
static int split_scope(const char *whole, const char *text, size_t n, struct parts *out,
		       struct err *err)
{
	const char *percent = memchr(text, '%', n);
	size_t host = percent ? (size_t)(percent - text) : n;

	out->scope[0] = '\0';
	if (!host)
		return refuse(err, whole, "has no address in it; '*' stands for all of them");
	if (!take(out->host, sizeof(out->host), text, host))
		return refuse(err, whole, NO_ADDRESS);
	if (percent &&
	    (host + 1 == n || !take(out->scope, sizeof(out->scope), percent + 1, n - host - 1)))
		return refuse(err, whole, "there must be an interface name after '%'");
	return 0;
}

static int split(const char *text, struct parts *out, struct err *err)
{
	const char *colon = strchr(text, ':');
	const char *end;

	memset(out, 0, sizeof(*out));
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return refuse(err, text, "wants the form [IPv6]:PORT");
		out->bracket = true;
		out->port = end[1] ? end + 2 : NULL;
		return split_scope(text, text + 1, (size_t)(end - text) - 1, out, err);
	}
	if (colon && !strchr(colon + 1, ':'))
		out->port = colon + 1; /* one colon: a port; more of them: a bare IPv6 address */
	return split_scope(text, text, out->port ? (size_t)(colon - text) : strlen(text), out, err);
}

static int parse_port(const char *whole, const char *text, uint16_t *port, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value = digits && digits <= 5 ? strtoul(text, NULL, 10) : 65536;

	if (text[digits] || value > 65535)
		return refuse(err, whole, "the port must be a number from 0 to 65535");
	*port = (uint16_t)value;
	return 0;
}

/* Name or number of an interface that exists. */
static int parse_scope(const char *whole, const char *scope, uint32_t *out, struct err *err)
{
	char name[IF_NAMESIZE];
	unsigned long index;
	char *end;

	*out = if_nametoindex(scope);
	if (*out)
		return 0;
	index = strtoul(scope, &end, 10);
	if (scope[0] >= '0' && scope[0] <= '9' && !*end && index <= UINT32_MAX &&
	    if_indextoname((unsigned)index, name)) {
		*out = (uint32_t)index;
		return 0;
	}
	return err_say(err, ENODEV, "address '%s': there is no interface '%s' here (see 'ip link')",
		       whole, scope);
}

static bool needs_scope(const struct in6_addr *ip)
{
	return IN6_IS_ADDR_LINKLOCAL(ip) || IN6_IS_ADDR_MC_LINKLOCAL(ip) ||
	       IN6_IS_ADDR_MC_NODELOCAL(ip);
}

static int parse_host(const char *whole, const struct parts *parts, int family, struct addr *out,
		      struct err *err)
{
	bool star = !strcmp(parts->host, "*") && !parts->bracket && !parts->scope[0];

	if (star && family == AF_INET) {
		out->in.sin_family = AF_INET;
		out->len = sizeof(out->in);
		return 0;
	}
	if (star || inet_pton(AF_INET6, parts->host, &out->in6.sin6_addr) == 1) {
		out->in6.sin6_family = AF_INET6;
		out->len = sizeof(out->in6);
		if (parts->scope[0])
			return parse_scope(whole, parts->scope, &out->in6.sin6_scope_id, err);
		if (needs_scope(&out->in6.sin6_addr))
			return refuse(err, whole, "link-local: needs its interface, ADDRESS%DEV");
		return 0;
	}
	if (parts->bracket)
		return refuse(err, whole, "what stands in brackets is no IPv6 address");
	if (inet_pton(AF_INET, parts->host, &out->in.sin_addr) != 1)
		return refuse(err, whole, NO_ADDRESS);
	if (parts->scope[0])
		return refuse(err, whole, "only an IPv6 address takes '%INTERFACE'");
	out->in.sin_family = AF_INET;
	out->len = sizeof(out->in);
	return 0;
}

int addr_parse(const char *text, int family, uint16_t port, struct addr *out, struct err *err)
{
	struct parts parts;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = split(text, &parts, err);
	if (!rc && parts.port)
		rc = parse_port(text, parts.port, &port, err);
	if (!rc)
		rc = parse_host(text, &parts, family, out, err);
	if (!rc && family != AF_UNSPEC && out->sa.sa_family != family)
		rc = refuse(err, text,
			    family == AF_INET ? "is no IPv4 address, and -4 asks for one"
					      : "is no IPv6 address, and -6 asks for one");
	if (rc) {
		out->len = 0;
		return rc;
	}
	addr_set_port(out, port);
	return 0;
}

/* inet_ntop never fails for a family it knows and a buffer of this size. */
static const char *host_text(const struct addr *addr, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN] = "-", name[IF_NAMESIZE];
	uint32_t scope = addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_scope_id : 0;

	if (addr->len && addr->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &addr->in.sin_addr, ip, sizeof(ip));
	else if (addr->len && addr->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &addr->in6.sin6_addr, ip, sizeof(ip));
	if (!scope)
		snprintf(buf, size, "%s", ip);
	else if (if_indextoname(scope, name))
		snprintf(buf, size, "%s%%%s", ip, name);
	else
		snprintf(buf, size, "%s%%%u", ip, scope);
	return buf;
}

char *addr_format_host(const struct addr *addr, char *buf, size_t size)
{
	char text[ADDR_TEXT];

	snprintf(buf, size, "%s", host_text(addr, text, sizeof(text)));
	return buf;
}

char *addr_format(const struct addr *addr, char *buf, size_t size)
{
	char host[ADDR_TEXT - 8]; /* without "[]:65535" */
	bool six = addr->sa.sa_family == AF_INET6;

	host_text(addr, host, sizeof(host));
	if (!addr->len)
		snprintf(buf, size, "%s", host);
	else
		snprintf(buf, size, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "",
			 addr_port(addr));
	return buf;
}

uint16_t addr_port(const struct addr *addr)
{
	/* sin_port and sin6_port lie at the same place. */
	return ntohs(addr->in.sin_port);
}

void addr_set_port(struct addr *addr, uint16_t port)
{
	addr->in.sin_port = htons(port);
}

void addr_from_in6(struct addr *out, const struct in6_addr *ip, uint16_t port, uint32_t scope)
{
	memset(out, 0, sizeof(*out));
	if (IN6_IS_ADDR_V4MAPPED(ip)) {
		out->len = sizeof(out->in);
		out->in.sin_family = AF_INET;
		memcpy(&out->in.sin_addr, &ip->s6_addr[12], 4);
	} else {
		out->len = sizeof(out->in6);
		out->in6.sin6_family = AF_INET6;
		out->in6.sin6_addr = *ip;
		out->in6.sin6_scope_id = needs_scope(ip) ? scope : 0;
	}
	addr_set_port(out, port);
}

bool addr_to_family(struct addr *a, int family)
{
	struct addr from = *a;

	if (a->sa.sa_family == family)
		return true;
	if (family == AF_INET && addr_is_mapped(a)) {
		addr_from_in6(a, &from.in6.sin6_addr, addr_port(&from), 0);
		return true;
	}
	if (family != AF_INET6 || a->sa.sa_family != AF_INET)
		return false;
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->in6);
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_addr.s6_addr[10] = 0xff;
	a->in6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&a->in6.sin6_addr.s6_addr[12], &from.in.sin_addr, 4);
	addr_set_port(a, addr_port(&from));
	return true;
}

/* Address bytes in the family of the packet: 4 or 16 of them, 0 for no address. */
static size_t ip_bytes(const struct addr *a, const unsigned char **bytes)
{
	if (!a->len)
		return 0;
	if (a->sa.sa_family == AF_INET) {
		*bytes = (const unsigned char *)&a->in.sin_addr;
		return 4;
	}
	*bytes = a->in6.sin6_addr.s6_addr;
	if (!addr_is_mapped(a))
		return 16;
	*bytes += 12;
	return 4;
}

static uint32_t scope_of(const struct addr *a)
{
	return addr_packet_family(a) == AF_INET6 ? a->in6.sin6_scope_id : 0;
}

bool addr_equal_host(const struct addr *a, const struct addr *b)
{
	const unsigned char *x = NULL, *y = NULL;
	size_t n = ip_bytes(a, &x);

	if (n != ip_bytes(b, &y))
		return false;
	if (!n)
		return true;
	if (memcmp(x, y, n))
		return false;
	return !scope_of(a) || !scope_of(b) || scope_of(a) == scope_of(b);
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
	return addr_equal_host(a, b) && (!a->len || addr_port(a) == addr_port(b));
}

bool addr_is_wildcard(const struct addr *a)
{
	static const unsigned char zero[16];
	const unsigned char *ip = NULL;
	size_t n = ip_bytes(a, &ip);

	return n && !memcmp(ip, zero, n);
}

bool addr_is_loopback(const struct addr *a)
{
	const unsigned char *ip = NULL;
	size_t n = ip_bytes(a, &ip);

	return n == 4 ? ip[0] == 127 : n == 16 && IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
}

bool addr_is_multicast(const struct addr *a)
{
	const unsigned char *ip = NULL;
	size_t n = ip_bytes(a, &ip);

	return n == 4 ? (ip[0] & 0xf0) == 0xe0 : n == 16 && ip[0] == 0xff;
}

/* The finaliser of MurmurHash3 (Austin Appleby, public domain): every input bit reaches every output bit. */
static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

uint32_t addr_hash(const struct addr *a)
{
	const unsigned char *ip = NULL;
	size_t n = ip_bytes(a, &ip);
	uint64_t word[2] = { 0, 0 };

	if (!n)
		return 0;
	memcpy(word, ip, n);
	return (uint32_t)mix(mix(word[0] ^ (uint64_t)addr_port(a) << 48) ^ word[1] ^
			     (uint64_t)scope_of(a) << 32);
}
