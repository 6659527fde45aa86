/* SPDX-License-Identifier: MIT */
/*
 * libfault.so - the calls that can be made to fail (LD_PRELOAD). What fails when: rules.h.
 *
 * Each wrapper is one WRAP line: what the call looks like, which arguments filters may look at (by the names in N and T), what it returns when it
 * fails, and what an action other than an errno changes beforehand.
 */
/* The wrappers have the plain names and prototypes, whatever the user's flags make of them. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "next.h"
#include "rules.h"

#define N(name) { #name, (long)(name), NULL }
#define T(name) { #name, 0, name }
#define NONE { NULL, 0, NULL }
#define LIST(...) (const struct fault_arg[]){ __VA_ARGS__, NONE }

/* The action for this call, or NULL. Only in the last expansion: LIST brings bare commas. */
#define ACTION(name, args) (rules_for[FAULT_##name] ? rules_match(FAULT_##name, LIST args) : NULL)

/* symbol: the function; name: the call of FAULT_CALLS that it stands for. `prepare` may use `act`. */
#define WRAP(type, symbol, name, params, values, args, failed, prepare)                            \
	type symbol params                                                                         \
	{                                                                                          \
		static void *slot;                                                                 \
		type(*real) params = (type(*) params)next_find(&slot, #symbol);                    \
		const struct fault_action *act = ACTION(name, args);                                \
												   \
		if (act && act->kind == FAULT_ERRNO) {                                             \
			errno = (int)act->value;                                                   \
			return failed;                                                             \
		}                                                                                  \
		prepare;                                                                           \
		return real values;                                                                \
	}

#define PLAIN(type, name, params, values, args) WRAP(type, name, name, params, values, args, -1, )

/* ------------------------------------------------------------------ sockets */

PLAIN(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
      (N(domain), N(type), N(protocol)))
PLAIN(int, bind, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len), (N(fd)))
PLAIN(int, connect, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len), (N(fd)))
PLAIN(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
      (fd, level, name, value, len), (N(fd), N(level), N(name)))
PLAIN(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
      (fd, level, name, value, len), (N(fd), N(level), N(name)))
PLAIN(int, getsockname, (int fd, struct sockaddr *to, socklen_t *len), (fd, to, len), (N(fd)))
PLAIN(int, getpeername, (int fd, struct sockaddr *to, socklen_t *len), (fd, to, len), (N(fd)))

/* ------------------------------------------------------------------ receive */

PLAIN(ssize_t, recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags),
      (N(fd), N(len), N(flags)))
PLAIN(ssize_t, recvfrom,
      (int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len),
      (fd, data, len, flags, from, from_len), (N(fd), N(len), N(flags)))
PLAIN(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags),
      (N(fd), N(flags)))
WRAP(int, recvmmsg, recvmmsg,
     (int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout),
     (fd, msgs, n, flags, timeout), (N(fd), N(n), N(flags)), -1,
     if (act && act->value < (long)n) n = (unsigned)act->value)
PLAIN(ssize_t, read, (int fd, void *data, size_t len), (fd, data, len), (N(fd), N(len)))

/* ------------------------------------------------------------------ send */

/* Does the message carry UDP_SEGMENT (GSO)? */
static long has_gso(const struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c))
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_SEGMENT)
			return 1;
	return 0;
}

PLAIN(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags),
      (N(fd), N(len), N(flags)))
PLAIN(ssize_t, sendto,
      (int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len),
      (fd, data, len, flags, to, to_len), (N(fd), N(len), N(flags)))
PLAIN(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags),
      (N(fd), N(flags), { "gso", has_gso(msg), NULL }))
WRAP(int, sendmmsg, sendmmsg, (int fd, struct mmsghdr *msgs, unsigned n, int flags),
     (fd, msgs, n, flags),
     (N(fd), N(n), N(flags), { "gso", n ? has_gso(&msgs[0].msg_hdr) : 0, NULL }), -1,
     if (act && act->value < (long)n) n = (unsigned)act->value)
PLAIN(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len), (N(fd), N(len)))

/* ------------------------------------------------------------------ waiting, threads */

PLAIN(int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout), (N(n), N(timeout)))
PLAIN(int, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
      (fds, n, timeout, mask), (N(n)))
PLAIN(int, epoll_create1, (int flags), (flags), (N(flags)))
PLAIN(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout),
      (N(fd), N(n), N(timeout)))
PLAIN(int, epoll_ctl, (int fd, int op, int target, struct epoll_event *event), (fd, op, target, event),
      (N(fd), N(op), N(target)))
PLAIN(int, eventfd, (unsigned value, int flags), (value, flags), (N(value), N(flags)))
PLAIN(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set),
      (N(pid), N(size)))
PLAIN(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set),
      (N(pid), N(size)))
WRAP(int, pthread_create, pthread_create,
     (pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg), (out, attr, run, arg),
     (NONE), (int)act->value, )
PLAIN(ssize_t, getrandom, (void *data, size_t len, unsigned flags), (data, len, flags), (N(len)))

/* ------------------------------------------------------------------ time */

/* These change the result, so that the call comes first. */
#define JUMPS(name, params, values, args, wall)                                                    \
	int name params                                                                            \
	{                                                                                          \
		static void *slot;                                                                 \
		int(*real) params = (int(*) params)next_find(&slot, #name);                        \
		const struct fault_action *act = ACTION(name, args);                                \
		int rc = act && act->kind == FAULT_ERRNO ? -1 : real values;                       \
												   \
		if (rc)                                                                            \
			errno = act ? (int)act->value : errno;                                     \
		else if (act && (wall))                                                            \
			out->tv_sec += act->value;                                                 \
		return rc;                                                                         \
	}

JUMPS(clock_gettime, (clockid_t clock, struct timespec *out), (clock, out), (N(clock)), clock == CLOCK_REALTIME)
JUMPS(gettimeofday, (struct timeval *restrict out, void *restrict zone), (out, zone), (NONE), true)

/* ------------------------------------------------------------------ memory */

#define ALLOCATES(name, params, values, args) WRAP(void *, name, name, params, values, args, NULL, )

WRAP(void *, mmap, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), (N(len), N(flags), N(fd)), MAP_FAILED, )
ALLOCATES(malloc, (size_t size), (size), (N(size)))
ALLOCATES(calloc, (size_t n, size_t size), (n, size), (N(n), N(size)))
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size), (N(alignment), N(size)))
WRAP(void *, realloc, realloc, (void *p, size_t size), (p, size), (N(size)), NULL,
     if (next_is_early(p)) return next_move(p, size))

void free(void *p)
{
	static void *slot;

	if (!next_is_early(p))
		((void (*)(void *))next_find(&slot, "free"))(p);
}

/* ------------------------------------------------------------------ files */

#define OTHER_FILE if (act && act->kind == FAULT_FILE) path = act->file
#define MODE(flags)                                                                                \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
		va_list list;                                                                      \
		va_start(list, flags);                                                             \
		mode = va_arg(list, mode_t);                                                       \
		va_end(list);                                                                      \
	}                                                                                          \
	OTHER_FILE

WRAP(int, open, open, (const char *path, int flags, ...), (path, flags, mode), (T(path), N(flags)), -1, MODE(flags))
WRAP(int, openat, openat, (int fd, const char *path, int flags, ...), (fd, path, flags, mode), (T(path), N(flags)), -1,
     MODE(flags))
WRAP(FILE *, fopen, fopen, (const char *path, const char *how), (path, how), (T(path)), NULL, OTHER_FILE)
WRAP(DIR *, opendir, opendir, (const char *path), (path), (T(path)), NULL, OTHER_FILE)

/* The names that _FILE_OFFSET_BITS=64 makes of these; the same functions where off_t has 64 bits. */
#if defined(__LP64__) && defined(__GLIBC__)
WRAP(int, open64, open, (const char *path, int flags, ...), (path, flags, mode), (T(path), N(flags)), -1, MODE(flags))
WRAP(int, openat64, openat, (int fd, const char *path, int flags, ...), (fd, path, flags, mode), (T(path), N(flags)), -1,
     MODE(flags))
WRAP(FILE *, fopen64, fopen, (const char *path, const char *how), (path, how), (T(path)), NULL, OTHER_FILE)
WRAP(void *, mmap64, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), (N(len), N(flags), N(fd)), MAP_FAILED, )
#endif

/* The names that _FORTIFY_SOURCE makes: the last argument is the size of the buffer, which the next function checks. */
#ifdef __GLIBC__
ssize_t __read_chk(int fd, void *data, size_t len, size_t size);
ssize_t __recv_chk(int fd, void *data, size_t len, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t size);

WRAP(ssize_t, __read_chk, read, (int fd, void *data, size_t len, size_t size), (fd, data, len, size),
     (N(fd), N(len)), -1, )
WRAP(ssize_t, __recv_chk, recv, (int fd, void *data, size_t len, size_t size, int flags),
     (fd, data, len, size, flags), (N(fd), N(len), N(flags)), -1, )
WRAP(ssize_t, __recvfrom_chk, recvfrom,
     (int fd, void *data, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len),
     (fd, data, len, size, flags, from, from_len), (N(fd), N(len), N(flags)), -1, )
WRAP(int, __poll_chk, poll, (struct pollfd *fds, nfds_t n, int timeout, size_t size), (fds, n, timeout, size),
     (N(n), N(timeout)), -1, )
WRAP(int, __ppoll_chk, ppoll,
     (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t size),
     (fds, n, timeout, mask, size), (N(n)), -1, )
#endif
