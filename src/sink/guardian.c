/* SPDX-License-Identifier: MIT */
#include "sink/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
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

/* Takes the lock; what an earlier run left there becomes the value to restore. Returns the descriptor. */
static int open_state(struct guardian *g, struct err *err)
{
	char text[64];
	int fd, n, ip, udp;

	name_state(g);
	fd = open(g->state, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "--early-demux: state file %s", g->state);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		util_close(&fd);
		return err_say(err, EBUSY, "--early-demux: another udp_sink holds the setting in this network namespace (%s is locked)",
			       g->state);
	}
	n = (int)read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	if (sscanf(text, "%d %d", &ip, &udp) == 2) {
		log_notice("%s: an earlier run ended without restoring; %s=%d %s=%d will be restored", g->state, IP_DEMUX, ip,
			   UDP_DEMUX, udp);
		g->ip_before = ip;
		g->udp_before = udp;
	}
	n = snprintf(text, sizeof(text), "%d %d\n", g->ip_before, g->udp_before);
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n || fsync(fd)) {
		n = err_sys(err, errno, "--early-demux: write to state file %s", g->state);
		util_close(&fd);
		return n;
	}
	return fd;
}

static int restore(const struct guardian *g, struct err *err)
{
	int rc = sysctl_write_int(IP_DEMUX, g->ip_before, err);
	int rc2 = sysctl_write_int(UDP_DEMUX, g->udp_before, err);

	return rc ? rc : rc2;
}

/* The child: nothing of the parent's stays open but the pipe and the locked state file; no signal but SIGKILL ends it early. */
static void guard(const struct guardian *g, int pipe, int state)
{
	char byte;
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int sig = 1; sig < SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(pipe, 3);
	dup2(state, 4);
	syscall(SYS_close_range, 5U, ~0U, 0U);
	while (read(3, &byte, 1) < 0 && errno == EINTR)
		;
	if (restore(g, NULL) == 0)
		unlink(g->state);
	_exit(0);
}

static int spawn(struct guardian *g, int state, struct err *err)
{
	int ends[2], low;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "--early-demux: pipe");
	/* Above 4, so that the child's dup2 to 3 and 4 cannot hit each other. */
	low = ends[0];
	ends[0] = fcntl(low, F_DUPFD_CLOEXEC, 10);
	util_close(&low);
	state = fcntl(state, F_DUPFD_CLOEXEC, 10);
	g->child = fork();
	if (g->child == 0)
		guard(g, ends[0], state);
	util_close(&ends[0]);
	util_close(&state);
	g->pipe = ends[1];
	if (g->child < 0)
		return err_sys(err, errno, "--early-demux: fork of the guardian");
	return 0;
}

int guardian_start(struct guardian *g, enum conf_demux mode, struct err *err)
{
	int rc, state, value = mode == CONF_DEMUX_ON;

	*g = (struct guardian){ .pipe = -1, .child = -1 };
	read_values(&g->ip, &g->udp);
	g->ip_before = g->ip;
	g->udp_before = g->udp;
	if (mode == CONF_DEMUX_KEEP)
		return 0;
	if (g->ip < 0 || g->udp < 0)
		return err_say(err, ENOENT, "--early-demux: cannot read %s and %s of this network namespace", IP_DEMUX, UDP_DEMUX);
	state = open_state(g, err);
	if (state < 0)
		return state;
	rc = spawn(g, state, err);
	util_close(&state);
	if (rc)
		return rc;
	g->holds = true;
	rc = sysctl_write_int(IP_DEMUX, value, err);
	if (!rc)
		rc = sysctl_write_int(UDP_DEMUX, value, err);
	if (rc)
		guardian_stop(g);
	read_values(&g->ip, &g->udp);
	return rc;
}

void guardian_stop(struct guardian *g)
{
	if (!g->holds)
		return;
	util_close(&g->pipe);
	while (waitpid(g->child, NULL, 0) < 0 && errno == EINTR)
		;
	g->holds = false;
}
