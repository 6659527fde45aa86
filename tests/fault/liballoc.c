/* SPDX-License-Identifier: MIT */
/*
 * liballoc.so - does a worker allocate in its steady state? (LD_PRELOAD)
 *
 * Counts malloc, calloc, realloc, aligned_alloc, posix_memalign, free, mmap, munmap, brk and sbrk of each thread other than main. The steady state of a
 * thread is what lies between its receive calls, from the 1000th (ALLOC_AFTER) to the last: recv, recvfrom, recvmsg, recvmmsg, read,
 * epoll_wait and poll count as receive calls. What a thread does behind its last receive call is its end, and is not counted, because counts are
 * kept aside until the next receive call confirms them.
 *
 * At exit one line per thread that reached the steady state goes to the file ALLOC_REPORT:
 *   NAME <tab> receive calls <tab> allocations <tab> frees <tab> mappings <tab> unmappings
 * A thread that never got there has no line: a test must look for the lines it expects.
 *
 * Each thread writes its own entry only; main reads them when the process ends, after the threads were joined.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"

#define THREADS_MAX 1024

enum kind { ALLOCATE, FREE, MAP, UNMAP, KINDS };

struct thread {
	char name[16]; /* as prctl gives it, at the start of the steady state */
	uint64_t receives;
	uint64_t aside[KINDS], confirmed[KINDS];
};

static struct thread threads[THREADS_MAX];
static atomic_uint started;
static uint64_t after = 1000;
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void load(void)
{
	const char *text = getenv("ALLOC_AFTER");

	if (text)
		after = strtoull(text, NULL, 10);
}

static void received(void)
{
	if (!self) {
		unsigned i;

		if (syscall(SYS_gettid) == getpid())
			return;
		i = atomic_fetch_add(&started, 1);
		if (i >= THREADS_MAX)
			return;
		self = &threads[i];
	}
	if (++self->receives == after)
		prctl(PR_GET_NAME, self->name);
	for (unsigned k = 0; k < KINDS; k++) {
		self->confirmed[k] += self->aside[k];
		self->aside[k] = 0;
	}
}

static void counted(enum kind kind)
{
	if (self && self->receives >= after)
		self->aside[kind]++;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("ALLOC_REPORT");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	for (unsigned i = 0; i < THREADS_MAX && i < started; i++)
		if (threads[i].receives >= after)
			fprintf(out, "%s\t%ju\t%ju\t%ju\t%ju\t%ju\n", threads[i].name, (uintmax_t)threads[i].receives,
				(uintmax_t)threads[i].confirmed[ALLOCATE], (uintmax_t)threads[i].confirmed[FREE],
				(uintmax_t)threads[i].confirmed[MAP], (uintmax_t)threads[i].confirmed[UNMAP]);
	fclose(out);
}

#define WRAP(type, name, params, values, note)                                                     \
	type name params                                                                           \
	{                                                                                          \
		static void *slot;                                                                 \
												   \
		note;                                                                              \
		return ((type(*) params)next_find(&slot, #name)) values;                           \
	}

WRAP(void *, malloc, (size_t size), (size), counted(ALLOCATE))
WRAP(void *, calloc, (size_t n, size_t size), (n, size), counted(ALLOCATE))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), counted(ALLOCATE))
WRAP(int, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size), counted(ALLOCATE))
WRAP(void *, realloc, (void *p, size_t size), (p, size),
     counted(ALLOCATE); if (next_is_early(p)) return next_move(p, size))
WRAP(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), counted(MAP))
WRAP(int, munmap, (void *at, size_t len), (at, len), counted(UNMAP))
WRAP(int, brk, (void *end), (end), counted(MAP))
WRAP(void *, sbrk, (intptr_t by), (by), counted(MAP))

void free(void *p)
{
	static void *slot;

	counted(FREE);
	if (!next_is_early(p))
		((void (*)(void *))next_find(&slot, "free"))(p);
}

WRAP(ssize_t, recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags), received())
WRAP(ssize_t, recvfrom,
     (int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len),
     (fd, data, len, flags, from, from_len), received())
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags), received())
WRAP(int, recvmmsg, (int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout),
     (fd, msgs, n, flags, timeout), received())
WRAP(ssize_t, read, (int fd, void *data, size_t len), (fd, data, len), received())
WRAP(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), received())
WRAP(int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout), received())

#ifdef __GLIBC__
/* Other names of the same calls: 64-bit offsets, and _FORTIFY_SOURCE. */
ssize_t __read_chk(int fd, void *data, size_t len, size_t size);
ssize_t __recv_chk(int fd, void *data, size_t len, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);

WRAP(ssize_t, __read_chk, (int fd, void *data, size_t len, size_t size), (fd, data, len, size), received())
WRAP(ssize_t, __recv_chk, (int fd, void *data, size_t len, size_t size, int flags), (fd, data, len, size, flags),
     received())
WRAP(ssize_t, __recvfrom_chk,
     (int fd, void *data, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len),
     (fd, data, len, size, flags, from, from_len), received())
WRAP(int, __poll_chk, (struct pollfd *fds, nfds_t n, int timeout, size_t size), (fds, n, timeout, size), received())
#ifdef __LP64__
WRAP(void *, mmap64, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), counted(MAP))
#endif
#endif
