/* SPDX-License-Identifier: MIT */
/*
 * deny - runs a command in which named system calls fail with named errors (seccomp; no privilege needed).
 *
 *   deny SYSCALL:ERRNO [SYSCALL:ERRNO...] [--] COMMAND [ARGUMENT...]
 *
 * For what no preload library sees: statically linked programs, system calls made without the C library, and what a sandbox really does.
 * The filter holds from before the exec on, in all threads and children. Names are those of the kernel (recv(3) is recvfrom).
 * Exit status 125: deny itself failed; 77: this kernel or sandbox allows no filters; else that of the command.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errname.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

#define CALL(name) { #name, SYS_##name }

static const struct {
	const char *name;
	unsigned number;
} table[] = {
	/* clang-format off */
	CALL(socket), CALL(bind), CALL(connect), CALL(setsockopt), CALL(getsockopt), CALL(getsockname), CALL(getpeername),
	CALL(recvfrom), CALL(recvmsg), CALL(recvmmsg), CALL(read), CALL(sendto), CALL(sendmsg), CALL(sendmmsg), CALL(write),
	CALL(ppoll), CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait), CALL(eventfd2), CALL(timerfd_create), CALL(signalfd4),
	CALL(sched_setaffinity), CALL(sched_getaffinity), CALL(sched_setscheduler), CALL(clone), CALL(clock_nanosleep),
	CALL(mmap), CALL(mlockall), CALL(openat), CALL(prctl), CALL(prlimit64), CALL(capset), CALL(setns), CALL(unshare),
	CALL(getrandom), CALL(bpf), CALL(perf_event_open), CALL(pidfd_open), CALL(tgkill),
	/* clang-format on */
#ifdef SYS_poll /* old forms that newer architectures do without */
	CALL(poll), CALL(epoll_wait), CALL(epoll_create), CALL(eventfd), CALL(open),
#endif
#ifdef SYS_clone3
	CALL(clone3),
#endif
#ifdef SYS_io_uring_setup
	CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register),
#endif
};

#define RULES_MAX 32

static _Noreturn void usage(const char *what, const char *object)
{
	fprintf(stderr, "deny: %s%s\nusage: deny SYSCALL:ERRNO... [--] COMMAND [ARGUMENT...]\n", what, object);
	exit(125);
}

/* Appends "this number: fail with this error". Returns the new length. */
static unsigned short add_rule(struct sock_filter *code, unsigned short n, const char *rule)
{
	const char *colon = strchr(rule, ':');
	int error = errname_parse(colon + 1, strlen(colon + 1));

	if (!error)
		usage("no such error: ", rule);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strncmp(table[i].name, rule, (size_t)(colon - rule)) == 0 && !table[i].name[colon - rule]) {
			code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, table[i].number, 0, 1);
			code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
			return n;
		}
	usage("no such system call: ", rule);
}

static void install(struct sock_filter *code, unsigned short n)
{
	struct sock_fprog program = { n, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fprintf(stderr, "deny: the kernel takes no seccomp filter: %s\n", strerror(errno));
		exit(77);
	}
}

int main(int argc, char **argv)
{
	struct sock_filter code[5 + 2 * RULES_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), /* another ABI: its numbers mean other calls */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short n = 4;
	int i = 1;

	for (; i < argc && strchr(argv[i], ':'); i++) {
		if (n + 3 > (int)(sizeof(code) / sizeof(code[0])))
			usage("too many rules", "");
		n = add_rule(code, n, argv[i]);
	}
	if (i == 1)
		usage("no rule", "");
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	if (i >= argc)
		usage("no command", "");
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	install(code, n);
	execvp(argv[i], argv + i);
	fprintf(stderr, "deny: %s: %s\n", argv[i], strerror(errno));
	return 125;
}

#else

int main(void)
{
	fputs("deny: no table of system calls for this architecture\n", stderr);
	return 77;
}

#endif
