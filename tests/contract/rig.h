/* SPDX-License-Identifier: MIT */
/*
 * rig - one engine on a few sockets, a sender, and payloads that can be told apart. For the contract tests.
 *
 * A check that fails names the cell of the matrix it happened in (rig->cell).
 */
#ifndef CONTRACT_RIG_H
#define CONTRACT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"

#define RIG_SOCKS 4

/* No wait of a test is longer. */
#define RIG_PATIENCE_NS (5000 * UINT64_C(1000000))

struct rig {
	char cell[128];
	struct sock sock[RIG_SOCKS];
	unsigned index[RIG_SOCKS];
	struct sock_set set;
	struct engine_conf conf;
	struct engine_run run;
	const struct engine_ops *ops;
	struct engine *engine;
	struct batch batch;
	uint64_t deadline;
};

/* Fails the test, with the cell, when the condition does not hold. */
#define CHECK(rig, condition)                                                                                           \
	do {                                                                                                            \
		if (!(condition))                                                                                       \
			fail_msg("[%s] %s:%d: %s", (rig)->cell, __FILE__, __LINE__, #condition);                        \
	} while (0)
#define CHECK_EQUAL(rig, a, b)                                                                                          \
	do {                                                                                                            \
		long long a_ = (long long)(a), b_ = (long long)(b);                                                     \
		if (a_ != b_)                                                                                           \
			fail_msg("[%s] %s:%d: %s = %lld, %s = %lld", (rig)->cell, __FILE__, __LINE__, #a, a_, #b, b_);  \
	} while (0)

/* A configuration that every engine takes; names the cell. */
void rig_init(struct rig *rig, const struct engine_ops *ops, enum engine_wait wait, unsigned batch, size_t buffer);
void rig_cell(struct rig *rig, const char *format, ...) PRINTF_LIKE(2, 3);
const char *rig_wait_name(enum engine_wait wait);

/* Another socket, bound to `text` and any port, with the options in want. Also makes room for control data and, where the engine can,
 * asks for all of it. */
struct sock *rig_socket(struct rig *rig, const char *text, unsigned want);

/* prepare and open with the first nsocks sockets. */
void rig_start(struct rig *rig, unsigned nsocks);

/* One recv with this limit, into rig->batch: checked against the contract. Returns what it returned. */
int rig_recv(struct rig *rig, unsigned limit);

/* Releases, closes, and closes the sockets. */
void rig_stop(struct rig *rig);

/* Patience: restarts it, and says whether there is some left. */
void rig_hurry(struct rig *rig);
bool rig_waiting(const struct rig *rig);

/* A UDP socket connected to `host` at the port of `to`, with this TTL and TOS (0: as it comes). */
int rig_sender(struct rig *rig, const char *host, const struct sock *to, int ttl, int tos);

/* Sends one datagram of this size with the pattern of `key`. */
void rig_send(struct rig *rig, int fd, size_t size, unsigned key);

/* The pattern: byte i of the payload of `key`. */
static inline unsigned char rig_byte(unsigned key, size_t i)
{
	return (unsigned char)(key * 131 + i * 7 + (i >> 8));
}
bool rig_payload(const unsigned char *data, size_t len, unsigned key, size_t from);

/* The local address of a socket. */
struct addr rig_name(int fd);

/* What a test function gets as its state. */
struct rig_case {
	const struct engine_ops *ops;
	enum engine_wait wait;
	int variant;
};
struct rig_suite {
	struct CMUnitTest test[256];
	struct rig_case *cases[256];
	size_t n;
};

/* A test for each engine on sockets (with all of caps), each wait mode and each variant (NULL: one without a name), called
 * "NAME: engine wait variant". */
void rig_add(struct rig_suite *suite, const char *name, CMUnitTestFunction function, unsigned caps, const char *const *variants);
void rig_add_waits(struct rig_suite *suite, const char *name, CMUnitTestFunction function, unsigned caps,
		   const char *const *variants, enum engine_wait first, enum engine_wait last);

/* Runs all, or those whose name matches argv[1]. */
int rig_run(struct rig_suite *suite, const char *group, int argc, char **argv);

#endif
