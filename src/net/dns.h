/* SPDX-License-Identifier: MIT */
/*
 * dns - DNS messages as they are on the wire, as far as asking and answering over UDP needs it. RFC 1035 (header, names, question), RFC 6891 (EDNS, DO:
 * RFC 3225), RFC 7873 (cookies), RFC 3597 (TYPEnnn). Pure functions, any thread.
 */
#ifndef NET_DNS_H
#define NET_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_HEADER 12
#define DNS_NAME_MOST 255    /* bytes on the wire, the root's zero among them */
#define DNS_LABEL_MOST 63
#define DNS_QUESTION_TAIL 4  /* type and class behind the name */
#define DNS_COOKIE 8         /* of a client */
#define DNS_OPT 11           /* an empty OPT record */
#define DNS_QUERY_MOST (DNS_HEADER + DNS_NAME_MOST + DNS_QUESTION_TAIL + DNS_OPT + 4 + DNS_COOKIE)

/* RCODEs that have a place of their own: 0 to 23, the last of RFC 7873; and one for all above. */
#define DNS_RCODES 25

struct dns_name {
	unsigned char data[DNS_NAME_MOST];
	size_t size;
};

/* "www.example.net", with or without the last point; "." is the root; "\." and "\003" stand for bytes. The case is kept. -EINVAL: a label is empty or longer than
 * 63 bytes, the name longer than 255, or a bad escape. */
int dns_name_parse(const char *text, struct dns_name *out);

/* "A", "aaaa", "TYPE65". -EINVAL: none that is known. */
int dns_type_parse(const char *text, uint16_t *out);

/* "NOERROR"; those without a name are "RCODE11" and so on, those beyond the last place "OTHER". */
const char *dns_rcode_name(unsigned rcode);

struct dns_query {
	struct dns_name name;
	uint16_t type;
	bool recurse;        /* RD */
	uint16_t edns;       /* UDP size that is offered; 0 = no OPT record */
	bool dnssec;         /* DO; with edns */
	const unsigned char *cookie; /* DNS_COOKIE bytes; NULL = none; with edns */
};

/* Writes a query of class IN with id 0. Returns its bytes, at most DNS_QUERY_MOST, which is what `to` has room for. */
size_t dns_query_write(unsigned char *to, const struct dns_query *q);

/* The id of a message, which is its first two bytes. */
void dns_id_put(unsigned char *message, uint16_t id);

struct dns_answer {
	uint16_t id;
	unsigned rcode;      /* below DNS_RCODES; with the upper bits of the OPT record, where that comes right behind the question: an answer whose code
	                        needs them (BADVERS, BADCOOKIE) has no other records */
	bool truncated;      /* TC */
	const unsigned char *question; /* name, type, class; within the message */
	size_t question_size;
};

/* False when it is no answer with one question, written out, in it. */
bool dns_answer_read(const unsigned char *message, size_t size, struct dns_answer *out);

/* Are these two questions of `size` bytes the same, letters in either case? */
bool dns_same_question(const unsigned char *a, const unsigned char *b, size_t size);

/* Bytes of the question that begins at p, at most `size`; 0: it is not whole, or its name is compressed. */
size_t dns_question_size(const unsigned char *p, size_t size);

#endif
