/* SPDX-License-Identifier: MIT */
#include "sink/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "net/sysctl.h"

#define IP_DEMUX "net.ipv4.ip_early_demux"
#define UDP_DEMUX "net.ipv4.udp_early_demux"

static void read_values(int *ip, int *udp)
{
	if (sysctl_read_int(IP_DEMUX, ip))
		*ip = -1;
	if (sysctl_read_int(UDP_DEMUX, udp))
		*udp = -1;
}

/* One file per network namespace, in the first directory that a runtime state belongs to. */
static void name_state(struct guardian *g)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct stat ns = { 0 };

	stat("/proc/self/ns/net", &ns);
	if (!dir || access(dir, W_OK))
		dir = access("/run", W_OK) ? "/tmp" : "/run";
	snprintf(g->state, sizeof(g->state), "%.64s/udpsink-early-demux-%lu", dir, (unsigned long)ns.st_ino);
}

/* "1 0": two values that these settings can have (they are one byte in the kernel). */
static bool parse_state(char *text, int *ip, int *udp)
{
	char *rest = text, *first = strsep(&rest, " "), *second = strsep(&rest, " \n");
	uint64_t a, b;

	if (!second || num_count(first, &a) || num_count(second, &b) || a > UINT8_MAX || b > UINT8_MAX)
		return false;
	*ip = (int)a;
	*udp = (int)b;
	return true;
}

/* What an earlier run left there becomes the value to restore; then the file says what we will restore. */
static int use_state(struct guardian *g, int fd, struct err *err)
{
	char text[64];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[MAX(n, 0)] = '\0';
	if (parse_state(text, &g->ip_before, &g->udp_before))
		log_notice("%s: an earlier run ended without restoring; %s=%d %s=%d will be restored", g->state, IP_DEMUX,
			   g->ip_before, UDP_DEMUX, g->udp_before);
	n = snprintf(text, sizeof(text), "%d %d\n", g->ip_before, g->udp_before);
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n || fsync(fd))
		return err_sys(err, errno, "--early-demux: write to state file %s", g->state);
	return 0;
}

/* Takes the lock. Returns the descriptor. */
static int open_state(struct guardian *g, struct err *err)
{
	int fd, rc;

	name_state(g);
	fd = open(g->state, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "--early-demux: state file %s", g->state);
	if (flock(fd, LOCK_EX | LOCK_NB))
		rc = err_say(err, EBUSY, "--early-demux: another udp_sink holds the setting in this network namespace (%s is locked)",
			     g->state);
	else
		rc = use_state(g, fd, err);
	if (rc)
		util_close(&fd);
	return rc ? rc : fd;
}

/* A setting that has its value already needs no right to write it. */
static int put_back(const char *name, int value, struct err *err)
{
	int now;

	return !sysctl_read_int(name, &now) && now == value ? 0 : sysctl_write_int(name, value, err);
}

/* Both values, and then the state file has nothing to say any more. */
static int restore(const struct guardian *g, struct err *err)
{
	int rc = put_back(IP_DEMUX, g->ip_before, err);
	int rc2 = put_back(UDP_DEMUX, g->udp_before, rc ? NULL : err);

	rc = rc ? rc : rc2;
	if (!rc)
		unlink(g->state);
	return rc;
}

/* The child: nothing of the parent's stays open but the line to it and the locked state file; no signal but SIGKILL ends it early. Says when it
 * has left the parent's session. */
static void guard(const struct guardian *g, int line, int state)
{
	char byte = 0;
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int sig = 1; sig < SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(line, 3);
	dup2(state, 4);
	syscall(SYS_close_range, 5U, ~0U, 0U);
	if (write(3, &byte, 1) == 1)
		while (read(3, &byte, 1) < 0 && errno == EINTR)
			;
	_exit(restore(g, NULL) ? 1 : 0);
}

/* Returns when the child is out of reach of signals for our process group. */
static int spawn(struct guardian *g, struct err *err)
{
	int ends[2], line, state;
	sigset_t all, old;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "--early-demux: socketpair");
	g->line = ends[0];
	/* Above 4, so that the child's dup2 to 3 and 4 cannot hit each other. */
	line = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
	state = fcntl(g->lock, F_DUPFD_CLOEXEC, 10);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	g->child = fork();
	if (g->child == 0)
		guard(g, line, state);
	sigprocmask(SIG_SETMASK, &old, NULL);
	util_close(&ends[1]);
	util_close(&line);
	util_close(&state);
	if (g->child < 0)
		return err_sys(err, errno, "--early-demux: fork of the guardian");
	if (recv(g->line, &byte, 1, MSG_WAITALL) != 1)
		return err_say(err, ECHILD, "--early-demux: the guardian ended at once; nothing was changed");
	return 0;
}

int guardian_start(struct guardian *g, enum conf_demux mode, struct err *err)
{
	int rc, value = mode == CONF_DEMUX_ON;

	*g = (struct guardian){ .line = -1, .lock = -1, .child = -1 };
	read_values(&g->ip, &g->udp);
	g->ip_before = g->ip;
	g->udp_before = g->udp;
	if (mode == CONF_DEMUX_KEEP)
		return 0;
	if (g->ip < 0 || g->udp < 0)
		return err_say(err, ENOENT, "--early-demux: cannot read %s and %s of this network namespace", IP_DEMUX, UDP_DEMUX);
	g->lock = open_state(g, err);
	if (g->lock < 0)
		return g->lock;
	g->holds = true;
	rc = spawn(g, err);
	if (!rc)
		rc = sysctl_write_int(IP_DEMUX, value, err);
	if (!rc)
		rc = sysctl_write_int(UDP_DEMUX, value, err);
	if (rc)
		guardian_stop(g);
	read_values(&g->ip, &g->udp);
	return rc;
}

/* The child has restored. Where it could not (it was killed), we do it. */
void guardian_stop(struct guardian *g)
{
	struct err err = ERR_INIT;
	int status = -1;

	if (!g->holds)
		return;
	util_close(&g->line);
	while (g->child > 0 && waitpid(g->child, &status, 0) < 0 && errno == EINTR)
		;
	if (status && restore(g, &err))
		log_error("%s", err.text);
	util_close(&g->lock);
	g->holds = false;
}
