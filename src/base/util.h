/* SPDX-License-Identifier: MIT */
/*
 * util - small things that have no better home: array length, branch hints, compiler attributes.
 * No state, any thread.
 */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PRINTF_LIKE(string, first) __attribute__((__format__(__printf__, string, first)))
#define UNUSED __attribute__((unused))
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Bytes that two counters of different writers must be apart: two cache lines, because adjacent lines are
 * prefetched as pairs on x86 (Intel SDM, "spatial prefetcher"). */
#define PAD_ALIGN 128

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* The one tolerant close of a descriptor: accepts -1, leaves -1 behind, keeps errno. */
void util_close(int *fd);

/* The first size - 1 bytes of a file, ended by NUL: for the small files of /proc and /sys. Returns the length or
 * -errno (buf is then empty or holds what came before the error). */
ssize_t util_read_file(const char *path, char *buf, size_t size);

/* Opens /dev/null on those of the descriptors 0, 1 and 2 that are closed, so that nothing else gets them: a socket would then be what the log is
 * written to. The wrong way round, so that using them fails as on a closed one. First thing in main. */
void util_standard_fds(void);

#endif
