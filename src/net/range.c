/* SPDX-License-Identifier: MIT */
#include "net/range.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/util.h"

/* An address as two 64-bit numbers; IPv4 in the lower. */
struct wide {
	uint64_t high, low;
};

static struct wide widen(const struct addr *a)
{
	struct wide w = { 0 };

	if (a->sa.sa_family == AF_INET) {
		w.low = ntohl(a->in.sin_addr.s_addr);
		return w;
	}
	memcpy(&w.high, a->in6.sin6_addr.s6_addr, 8);
	memcpy(&w.low, a->in6.sin6_addr.s6_addr + 8, 8);
	return (struct wide){ be64toh(w.high), be64toh(w.low) };
}

static void narrow(struct addr *a, struct wide w)
{
	uint64_t high = htobe64(w.high), low = htobe64(w.low);

	if (a->sa.sa_family == AF_INET) {
		a->in.sin_addr.s_addr = htonl((uint32_t)w.low);
		return;
	}
	memcpy(a->in6.sin6_addr.s6_addr, &high, 8);
	memcpy(a->in6.sin6_addr.s6_addr + 8, &low, 8);
}

static int has_port(const char *text, struct err *err)
{
	return err_say(err, EINVAL, "address range '%s': ports do not belong here", text);
}

/* Left part of "A/24" or "A-B" into buf. */
static int split(const char *text, const char *at, char *buf, size_t size, struct err *err)
{
	size_t n = (size_t)(at - text);

	if (n >= size)
		return err_say(err, EINVAL, "address range '%s': expected ADDR/PREFIX or FIRST-LAST", text);
	memcpy(buf, text, n);
	buf[n] = '\0';
	return 0;
}

/* Bits of w behind the first `prefix` of `bits`. */
static bool has_host_bits(struct wide w, unsigned prefix, unsigned bits)
{
	unsigned host = bits - prefix;

	if (host >= 64)
		return w.low || (host > 64 && w.high << (128 - host));
	return host && w.low << (64 - host);
}

static int parse_prefix(const char *text, const char *slash, int family, struct range *out, struct err *err)
{
	char buf[ADDR_TEXT];
	uint64_t prefix;
	unsigned bits;
	int rc = split(text, slash, buf, sizeof(buf), err);

	if (!rc)
		rc = addr_parse(buf, family, 0, &out->first, err);
	if (rc)
		return rc;
	bits = out->first.sa.sa_family == AF_INET ? 32 : 128;
	if (num_count(slash + 1, &prefix) || prefix > bits)
		return err_say(err, EINVAL, "address range '%s': the prefix length must be 0 to %u", text, bits);
	if (has_host_bits(widen(&out->first), (unsigned)prefix, bits))
		return err_say(err, EINVAL, "address range '%s': the address has bits behind the prefix", text);
	out->n = bits - prefix >= 64 ? UINT64_MAX : UINT64_C(1) << (bits - prefix);
	return 0;
}

static int parse_ends(const char *text, const char *dash, int family, struct range *out, struct err *err)
{
	char buf[ADDR_TEXT];
	struct addr last;
	struct wide a, b;
	int rc = split(text, dash, buf, sizeof(buf), err);

	if (!rc)
		rc = addr_parse(buf, family, 0, &out->first, err);
	if (!rc)
		rc = addr_parse(dash + 1, AF_UNSPEC, 0, &last, err);
	if (rc)
		return rc;
	if (addr_port(&last))
		return has_port(text, err);
	if (out->first.sa.sa_family != last.sa.sa_family)
		return err_say(err, EINVAL, "address range '%s': it goes from one family to another", text);
	if (last.sa.sa_family == AF_INET6 && out->first.in6.sin6_scope_id != last.in6.sin6_scope_id)
		return err_say(err, EINVAL, "address range '%s': its ends have different scopes", text);
	a = widen(&out->first);
	b = widen(&last);
	if (b.high < a.high || (b.high == a.high && b.low < a.low))
		return err_say(err, EINVAL, "address range '%s': it ends before it begins", text);
	b.high -= a.high + (b.low < a.low);
	b.low -= a.low;
	out->n = b.high || b.low == UINT64_MAX ? UINT64_MAX : b.low + 1;
	return 0;
}

int range_parse(const char *text, int family, struct range *out, struct err *err)
{
	const char *slash = strchr(text, '/'), *dash = strchr(text, '-');
	int rc;

	*out = (struct range){ .n = 1 };
	if (slash)
		rc = parse_prefix(text, slash, family, out, err);
	else if (dash && addr_parse(text, family, 0, &out->first, NULL)) /* else the '-' is part of an interface's name */
		rc = parse_ends(text, dash, family, out, err);
	else
		rc = addr_parse(text, family, 0, &out->first, err);
	return !rc && addr_port(&out->first) ? has_port(text, err) : rc;
}

void range_at(const struct range *range, uint64_t i, struct addr *out)
{
	struct wide w = widen(&range->first);

	*out = range->first;
	w.low += i;
	w.high += w.low < i;
	narrow(out, w);
}

static bool is_port(const char *text, uint64_t *out)
{
	return !num_count(text, out) && *out >= 1 && *out <= 65535;
}

int range_parse_ports(const char *option, const char *text, struct range_ports *out, struct err *err)
{
	const char *dash = strchr(text, '-');
	char left[8];
	uint64_t first, last;
	size_t n = dash ? (size_t)(dash - text) : strlen(text);
	bool good = n < sizeof(left);

	if (good) {
		memcpy(left, text, n);
		left[n] = '\0';
		good = is_port(left, &first) && is_port(dash ? dash + 1 : left, &last) && first <= last;
	}
	if (!good)
		return err_say(err, EINVAL, "--%s %s: expected PORT or FIRST-LAST, 1 to 65535", option, text);
	*out = (struct range_ports){ (uint16_t)first, (uint32_t)(last - first + 1) };
	return 0;
}
