/* SPDX-License-Identifier: MIT */
/*
 * child - part of a test in a process of its own, which may lose privileges, filter its system calls, or enter a
 * private network namespace. cmocka's assertions do not work across processes: the child uses CHILD_CHECK and
 * returns.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

/* What the child function returns. */
enum { CHILD_OK = 0, CHILD_FAILED = 1, CHILD_SKIP = 77 };

#define CHILD_CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return CHILD_FAILED; \
		} \
	} while (0)

/* Runs it and returns its result; 128 + signal when it was killed. */
static inline int child_run(int (*run)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(run()); /* not _exit: leaks are looked for too */
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return CHILD_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline bool child_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	util_close(&fd);
	return ok;
}

/* A network namespace of the child's own, in which it is root, with lo up. False: not possible here. */
static inline bool child_enter_netns(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	char map[64];
	unsigned uid = getuid(), gid = getgid();
	bool ok;
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	ok = child_write("/proc/self/setgroups", "deny") && child_write("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	if (!ok || !child_write("/proc/self/gid_map", map))
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ok = fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	ok = ok && !ioctl(fd, SIOCSIFFLAGS, &ifr);
	util_close(&fd);
	return ok;
}

/* From here on setsockopt(2) with this name fails with this errno, as in a sandbox. */
static inline bool child_refuse_sockopt(unsigned level, unsigned name, unsigned code)
{
	/* The lower 32 bits of the second and third argument; on machines that pass socket calls through
	 * socketcall(2) nothing is caught, and the test sees it. */
	const unsigned low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, level, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, name, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(rules), .filter = rules };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A test that runs in a child, and is skipped with this reason where the child cannot get what it needs. After
 * <cmocka.h> and tap.h. */
#define IN_CHILD(test, child, why) \
	static void test(void **state) \
	{ \
		int rc = child_run(child); \
\
		(void)state; \
		if (rc == CHILD_SKIP) \
			TAP_SKIP("%s", why); \
		assert_int_equal(rc, CHILD_OK); \
	}

#define NETNS "no user and network namespace can be made here"
#define SECCOMP "no seccomp filter can be set here"

#endif
