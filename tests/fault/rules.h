/* SPDX-License-Identifier: MIT */
/*
 * rules - which calls of libfault.so go wrong, and how. From the environment:
 *
 *   FAULT=RULE[,RULE...]        RULE = CALL:ACTION[@WHEN][%EVERY][?FILTER[&FILTER...]]
 *
 *   CALL     a name of FAULT_CALLS
 *   ACTION   ERRNO             fail with it, without making the call
 *            short=N           sendmmsg, recvmmsg: handle at most N messages
 *            jump=SECONDS      clock_gettime, gettimeofday: add this (may be negative) to the time of the wall clock
 *            file=PATH         open, fopen, ...: open this file instead
 *   WHEN     N | N- | N-M      only the Nth call, from the Nth on, the Nth to the Mth. Calls that the filters let through are counted, from 1,
 *                              in the whole process. With a unit (500ms, 2s) N and M are times since the start of the program.
 *   EVERY    N                 of these, only each Nth (the first of them is the Nth)
 *   FILTER   KEY=NUMBER        the call's argument of that name (see calls.c), "0x" is understood
 *            path=TEXT         open, fopen, ...: exactly this path
 *            thread=NAME       the calling thread's name
 *
 *   setsockopt:EPERM?level=1&name=33    recvmmsg:EINTR@3-%2    sendmsg:EPERM@1s-2s    open:ENOENT?path=/proc/cpuinfo
 *
 *   FAULT_REPORT=FILE           at exit, one line per rule: calls counted, tab, faults made, tab, the rule. A test that injects a
 *                               fault looks there, to be sure that it happened.
 *
 * A rule that cannot be read ends the program with status 99 and a sentence. The first rule that applies is the one that acts.
 * Rules do not change after the start; their counters are atomic: any thread.
 */
#ifndef FAULT_RULES_H
#define FAULT_RULES_H

#include <stdbool.h>

#define FAULT_CALLS(X)                                                                                                 \
	X(socket) X(bind) X(connect) X(setsockopt) X(getsockopt) X(getsockname) X(getpeername)                         \
	X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(read)                                                             \
	X(send) X(sendto) X(sendmsg) X(sendmmsg) X(write)                                                              \
	X(poll) X(ppoll) X(epoll_create1) X(epoll_wait) X(epoll_ctl) X(eventfd)                                        \
	X(sched_setaffinity) X(sched_getaffinity) X(pthread_create) X(clock_gettime) X(gettimeofday) X(getrandom)      \
	X(mmap) X(malloc) X(calloc) X(realloc) X(aligned_alloc)                                                        \
	X(open) X(openat) X(fopen) X(opendir)

#define FAULT_ENUM(name) FAULT_##name,
enum fault_call { FAULT_CALLS(FAULT_ENUM) FAULT_CALL_COUNT };

struct fault_action {
	enum { FAULT_ERRNO, FAULT_SHORT, FAULT_JUMP, FAULT_FILE } kind;
	long value;       /* errno, messages, seconds */
	const char *file;
};

/* One argument of a call as filters see it. An array of them ends with key NULL. */
struct fault_arg {
	const char *key;
	long value;
	const char *text; /* NULL: a number */
};

/* Is there any rule for this call? */
extern bool rules_for[FAULT_CALL_COUNT];

/* Counts the call and says what to do with it; NULL = nothing. */
const struct fault_action *rules_match(enum fault_call call, const struct fault_arg *args);

#endif
