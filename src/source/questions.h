/* SPDX-License-Identifier: MIT */
/*
 * questions - DNS queries as datagrams, made before the run: --dns NAME, or --dns-file FILE.
 *
 * Ids are 0, and where each query is to have a name of its own there is a first label of QUESTIONS_PREFIX digits to be written over: asked.c does both. The
 * types of --dns-type come in turn, in proportion to their weights and spread out as evenly as can be.
 */
#ifndef SOURCE_QUESTIONS_H
#define SOURCE_QUESTIONS_H

#include "net/dns.h"
#include "source/messages.h"

#define QUESTIONS_PREFIX 12 /* hexadecimal digits */
#define QUESTIONS_TYPES 16  /* entries of --dns-type */
#define QUESTIONS_ROUND 10000 /* weights of --dns-type add up to so much at most */

struct questions_conf {
	bool random;         /* a first label that is another one in each query */
	struct dns_query query; /* all but name and type */
};

/* name: as for dns_name_parse; types: "A", "A:8,AAAA:2" with whole weights. -EINVAL with a sentence that names the option. */
int questions_of_name(const char *name, const char *types, const struct questions_conf *conf, struct messages *out, struct err *err);

/* Lines "name type" as dnsperf reads them; empty ones and those that begin with '#' or ';' are passed over, and "name" alone asks for A. */
int questions_of_file(const char *path, const struct questions_conf *conf, struct messages *out, struct err *err);

#endif
