/* SPDX-License-Identifier: MIT */
/* sockset - opening a set of sockets in a test, or seeing it refused. After <cmocka.h>. */
#ifndef TESTS_SOCKSET_H
#define TESTS_SOCKSET_H

#include <string.h>

#include "net/sockset.h"
#include "udp.h"

/* A configuration of one or two addresses; the array belongs to the caller. */
static inline struct sockset_conf conf_of(const struct addr *listen, unsigned n, unsigned slots)
{
	return (struct sockset_conf){
		.sock = plain, .listen = listen, .nlisten = n, .slots = slots
	};
}

static inline void open_ok(struct sock_set *set, const struct sockset_conf *conf)
{
	struct err err = ERR_INIT;

	if (sockset_open(set, conf, &err))
		fail_msg("%s", err.text);
}

/* Refused with this code; nothing stays behind. */
static inline void open_refused(const struct sockset_conf *conf, int code, const char *says)
{
	struct err err = ERR_INIT;
	struct sock_set set;

	assert_int_equal(sockset_open(&set, conf, &err), -code);
	if (!strstr(err.text, says))
		fail_msg("'%s' lacks '%s'", err.text, says);
	assert_null(set.sock);
	assert_int_equal(set.n, 0);
	sockset_close(&set);
}

static inline int add_connected(struct sock_set *set, const struct sock *listener, const struct addr *local, const struct addr *peer,
				struct err *err)
{
	const struct sockset_flow flow = { .listener = listener, .local = local, .peer = peer };

	return sockset_add_connected(set, &flow, err);
}

#endif
