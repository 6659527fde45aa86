/* SPDX-License-Identifier: MIT */
#include "net/dns.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/util.h"

#define CLASS_IN 1
#define TYPE_OPT 41
#define OPTION_COOKIE 10

/* Bits of the header's second word. */
#define QR 0x8000
#define TC 0x0200
#define RD 0x0100
#define DO 0x8000 /* of an OPT record */

/* IANA, DNS parameters: those that servers are asked for. */
static const struct {
	const char *name;
	uint16_t type;
} types[] = {
	{ "A", 1 },	  { "NS", 2 },	    { "CNAME", 5 },  { "SOA", 6 },    { "PTR", 12 },	{ "HINFO", 13 },     { "MX", 15 },	{ "TXT", 16 },
	{ "AAAA", 28 },	  { "LOC", 29 },    { "SRV", 33 },   { "NAPTR", 35 }, { "DNAME", 39 },	{ "DS", 43 },	     { "SSHFP", 44 },	{ "RRSIG", 46 },
	{ "NSEC", 47 },	  { "DNSKEY", 48 }, { "NSEC3", 50 }, { "TLSA", 52 },  { "CDS", 59 },	{ "CDNSKEY", 60 },   { "SVCB", 64 },	{ "HTTPS", 65 },
	{ "SPF", 99 },	  { "IXFR", 251 },  { "AXFR", 252 }, { "ANY", 255 },  { "URI", 256 },	{ "CAA", 257 },
};

static const char *const rcodes[DNS_RCODES] = {
	"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",	 "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET",	"NOTAUTH",   "NOTZONE", "RCODE11", "RCODE12",
	"RCODE13", "RCODE14", "RCODE15",  "BADVERS",  "BADKEY",	 "BADTIME", "BADMODE",	"BADNAME", "BADALG",	"BADTRUNC", "BADCOOKIE", "OTHER",
};

static void put16(unsigned char *to, unsigned value)
{
	to[0] = (unsigned char)(value >> 8);
	to[1] = (unsigned char)value;
}

static unsigned get16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* One byte of a name; *text moves behind it. False: a bad escape. */
static bool next_byte(const char **text, unsigned char *out)
{
	const char *p = *text;
	unsigned value = 0;

	if (*p != '\\') {
		*out = (unsigned char)*p;
		*text = p + 1;
		return true;
	}
	p++;
	if (!isdigit((unsigned char)*p)) {
		*out = (unsigned char)*p;
		*text = p + 1;
		return *p != '\0';
	}
	for (unsigned i = 0; i < 3; i++, p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		value = value * 10 + (unsigned)(*p - '0');
	}
	*out = (unsigned char)value;
	*text = p;
	return value < 256;
}

/* A label and the point behind it. */
static bool next_label(const char **text, struct dns_name *out)
{
	size_t start = out->size++, length = 0;

	while (**text && **text != '.') {
		/* One byte is kept for the root. */
		if (length == DNS_LABEL_MOST || out->size >= DNS_NAME_MOST - 1 || !next_byte(text, &out->data[out->size]))
			return false;
		out->size++;
		length++;
	}
	out->data[start] = (unsigned char)length;
	if (**text == '.')
		(*text)++;
	return length > 0;
}

int dns_name_parse(const char *text, struct dns_name *out)
{
	out->size = 0;
	if (!strcmp(text, "."))
		text++;
	else if (!*text)
		return -EINVAL;
	while (*text)
		if (out->size >= DNS_NAME_MOST - 1 || !next_label(&text, out))
			return -EINVAL;
	out->data[out->size++] = 0;
	return 0;
}

int dns_type_parse(const char *text, uint16_t *out)
{
	uint64_t n;

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcasecmp(types[i].name, text)) {
			*out = types[i].type;
			return 0;
		}
	}
	if (strncasecmp(text, "TYPE", 4) || text[4 + strspn(text + 4, "0123456789")] || num_count(text + 4, &n) || n > UINT16_MAX)
		return -EINVAL;
	*out = (uint16_t)n;
	return 0;
}

const char *dns_rcode_name(unsigned rcode)
{
	return rcodes[MIN(rcode, DNS_RCODES - 1)];
}

/* The OPT record: root, type, the size in place of the class, flags in place of the TTL. */
static size_t put_opt(unsigned char *to, const struct dns_query *q)
{
	size_t options = q->cookie ? 4 + DNS_COOKIE : 0;

	to[0] = 0;
	put16(to + 1, TYPE_OPT);
	put16(to + 3, q->edns);
	put16(to + 5, 0);
	put16(to + 7, q->dnssec ? DO : 0);
	put16(to + 9, (unsigned)options);
	if (q->cookie) {
		put16(to + DNS_OPT, OPTION_COOKIE);
		put16(to + DNS_OPT + 2, DNS_COOKIE);
		memcpy(to + DNS_OPT + 4, q->cookie, DNS_COOKIE);
	}
	return DNS_OPT + options;
}

size_t dns_query_write(unsigned char *to, const struct dns_query *q)
{
	unsigned char *p = to + DNS_HEADER;

	memset(to, 0, DNS_HEADER);
	put16(to + 2, q->recurse ? RD : 0);
	put16(to + 4, 1);            /* questions */
	put16(to + 10, q->edns > 0); /* additional records */
	memcpy(p, q->name.data, q->name.size);
	p += q->name.size;
	put16(p, q->type);
	put16(p + 2, CLASS_IN);
	p += DNS_QUESTION_TAIL;
	if (q->edns)
		p += put_opt(p, q);
	return (size_t)(p - to);
}

void dns_id_put(unsigned char *message, uint16_t id)
{
	put16(message, id);
}

size_t dns_question_size(const unsigned char *p, size_t size)
{
	size_t at = 0;

	while (at < size && at < DNS_NAME_MOST && p[at]) {
		if (p[at] > DNS_LABEL_MOST)
			return 0;
		at += (size_t)p[at] + 1;
	}
	at += 1 + DNS_QUESTION_TAIL;
	return at <= size && at <= DNS_NAME_MOST + DNS_QUESTION_TAIL ? at : 0;
}

/* Bits 4 to 11 of the RCODE: from an OPT record at p that is the first of all records. */
static unsigned upper_rcode(const unsigned char *message, const unsigned char *p, const unsigned char *end)
{
	bool first = !get16(message + 6) && !get16(message + 8) && get16(message + 10);

	return first && end - p >= DNS_OPT && !p[0] && get16(p + 1) == TYPE_OPT ? p[5] : 0;
}

bool dns_answer_read(const unsigned char *message, size_t size, struct dns_answer *out)
{
	unsigned flags;

	if (size < DNS_HEADER)
		return false;
	flags = get16(message + 2);
	out->id = (uint16_t)get16(message);
	out->rcode = flags & 15;
	out->truncated = flags & TC;
	out->question = message + DNS_HEADER;
	out->question_size = dns_question_size(out->question, size - DNS_HEADER);
	if (!(flags & QR) || get16(message + 4) != 1 || !out->question_size)
		return false;
	out->rcode |= upper_rcode(message, out->question + out->question_size, message + size) << 4;
	out->rcode = MIN(out->rcode, DNS_RCODES - 1);
	return true;
}

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

bool dns_same_question(const unsigned char *a, const unsigned char *b, size_t size)
{
	size_t name = size - DNS_QUESTION_TAIL;

	/* Lengths of labels are below the letters. */
	for (size_t i = 0; i < name; i++)
		if (lower(a[i]) != lower(b[i]))
			return false;
	return !memcmp(a + name, b + name, DNS_QUESTION_TAIL);
}
