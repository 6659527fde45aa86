/* SPDX-License-Identifier: MIT */
/*
 * victim - makes the calls that the fault rig can make fail, and says what came back. For the rig's own tests.
 *
 *   victim names                 the calls, one per line
 *   victim call NAME TIMES       one line per time: "ok" or the errno
 *   victim option LEVEL NAME     setsockopt(LEVEL, NAME, int 1): "ok" or the errno
 *   victim messages N            what sendmmsg and recvmmsg return for N messages
 *   victim gso                   sendmsg with and without UDP_SEGMENT
 *   victim clock TIMES           seconds of CLOCK_REALTIME since the first look, monotonic time taken out
 *   victim cat PATH              first line of a file
 *   victim pause MS NAME         call NAME before and after MS milliseconds
 *   victim workers RECEIVES AT   threads sink-0 and sink-1 receive; sink-1 allocates before call AT, and both in the beginning and the end
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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

#include "errname.h"
#include "rules.h"

static int pair[2]; /* connected datagram sockets */
static char data[64];

/* ------------------------------------------------------------------ one small use of each call */

static int close_fd(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

static struct sockaddr_in loopback(unsigned port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static int with_udp(int (*use)(int, const struct sockaddr *, socklen_t), unsigned port)
{
	struct sockaddr_in to = loopback(port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc = use(fd, (struct sockaddr *)&to, sizeof(to)), code = errno;

	close(fd);
	errno = code;
	return rc;
}

static int try_socket(void) { return close_fd(socket(AF_INET, SOCK_DGRAM, 0)); }
static int try_bind(void) { return with_udp(bind, 0); }
static int try_connect(void) { return with_udp(connect, 9); }

static int try_setsockopt(void)
{
	int one = 1;

	return setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
}

static int try_getsockopt(void)
{
	int value;
	socklen_t len = sizeof(value);

	return getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &value, &len);
}

static int try_name(int (*get)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	return get(pair[0], (struct sockaddr *)&name, &len);
}

static int try_getsockname(void) { return try_name(getsockname); }
static int try_getpeername(void) { return try_name(getpeername); }

/* Queues a datagram for the receive calls. */
static int feed(void)
{
	return write(pair[1], "x", 1) == 1 ? pair[0] : -1;
}

static struct msghdr message(struct iovec *iov)
{
	*iov = (struct iovec){ data, 1 };
	return (struct msghdr){ .msg_iov = iov, .msg_iovlen = 1 };
}

static int try_recv(void) { return (int)recv(feed(), data, sizeof(data), MSG_DONTWAIT); }
static int try_recvfrom(void) { return (int)recvfrom(feed(), data, sizeof(data), MSG_DONTWAIT, NULL, NULL); }
static int try_read(void) { return (int)read(feed(), data, sizeof(data)); }
static int try_send(void) { return (int)send(pair[1], "x", 1, MSG_DONTWAIT); }
static int try_sendto(void) { return (int)sendto(pair[1], "x", 1, MSG_DONTWAIT, NULL, 0); }
static int try_write(void) { return (int)write(pair[1], "x", 1); }

static int try_recvmsg(void)
{
	struct iovec iov;
	struct msghdr m = message(&iov);

	return (int)recvmsg(feed(), &m, MSG_DONTWAIT);
}

static int try_sendmsg(void)
{
	struct iovec iov;
	struct msghdr m = message(&iov);

	return (int)sendmsg(pair[1], &m, MSG_DONTWAIT);
}

static int try_recvmmsg(void)
{
	struct iovec iov;
	struct mmsghdr m = { .msg_hdr = message(&iov) };

	return recvmmsg(feed(), &m, 1, MSG_DONTWAIT, NULL);
}

static int try_sendmmsg(void)
{
	struct iovec iov;
	struct mmsghdr m = { .msg_hdr = message(&iov) };

	return sendmmsg(pair[1], &m, 1, MSG_DONTWAIT);
}

static int try_poll(void) { return poll(NULL, 0, 0); }
static int try_ppoll(void) { return ppoll(NULL, 0, &(struct timespec){ 0 }, NULL); }
static int try_epoll_create1(void) { return close_fd(epoll_create1(0)); }
static int try_eventfd(void) { return close_fd(eventfd(0, 0)); }

static int with_epoll(bool wait)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0), code;
	int rc = wait ? epoll_wait(fd, &event, 1, 0) : epoll_ctl(fd, EPOLL_CTL_ADD, pair[0], &event);

	code = errno;
	close(fd);
	errno = code;
	return rc;
}

static int try_epoll_wait(void) { return with_epoll(true); }
static int try_epoll_ctl(void) { return with_epoll(false); }

static int try_sched_getaffinity(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set);
}

static int try_sched_setaffinity(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	return sched_setaffinity(0, sizeof(set), &set);
}

static void *nothing(void *arg) { return arg; }

static int try_pthread_create(void)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, nothing, NULL);

	if (!rc)
		pthread_join(thread, NULL);
	errno = rc;
	return rc ? -1 : 0;
}

static int try_clock_gettime(void) { return clock_gettime(CLOCK_REALTIME, &(struct timespec){ 0 }); }
static int try_gettimeofday(void) { return gettimeofday(&(struct timeval){ 0 }, NULL); }
static int try_getrandom(void) { return (int)getrandom(data, sizeof(data), 0); }

static int try_mmap(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : munmap(p, 4096);
}

/* volatile: the compiler may not leave the pair out. */
static int give_back(void *p)
{
	void *volatile kept = p;

	free(kept);
	return p ? 0 : -1;
}

static int try_malloc(void) { return give_back(malloc(100)); }
static int try_calloc(void) { return give_back(calloc(10, 10)); }

static int try_realloc(void)
{
	void *volatile first = malloc(10); /* realloc(NULL, n) would be compiled as malloc */
	void *p = realloc(first, 100);

	if (!p)
		free(first);
	return give_back(p);
}

static int try_aligned_alloc(void) { return give_back(aligned_alloc(64, 128)); }

static int try_open(void) { return close_fd(open("/dev/null", O_RDONLY)); }
static int try_openat(void) { return close_fd(openat(AT_FDCWD, "/dev/null", O_RDONLY)); }

static int try_fopen(void)
{
	FILE *f = fopen("/dev/null", "r");

	return f ? fclose(f) : -1;
}

static int try_opendir(void)
{
	DIR *d = opendir("/");

	return d ? closedir(d) : -1;
}

#define TRY(name) { #name, try_##name },

static const struct {
	const char *name;
	int (*make)(void);
} calls[] = { FAULT_CALLS(TRY) };

/* ------------------------------------------------------------------ commands */

static int say(int rc)
{
	const char *name = errname_of(errno);

	if (rc >= 0)
		puts("ok");
	else if (name)
		puts(name);
	else
		printf("errno %d\n", errno);
	fflush(stdout);
	return 0;
}

static int call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return say(calls[i].make());
	return 2;
}

static int cmd_names(char **args)
{
	(void)args;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		puts(calls[i].name);
	return 0;
}

static int cmd_call(char **args)
{
	int rc = 0;

	for (int i = 0; i < atoi(args[1]) && !rc; i++)
		rc = call(args[0]);
	return rc;
}

static int cmd_option(char **args)
{
	int one = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);

	return say(setsockopt(fd, atoi(args[0]), atoi(args[1]), &one, sizeof(one)));
}

static int cmd_messages(char **args)
{
	struct iovec iov;
	struct mmsghdr m[16];
	int n = atoi(args[0]);

	for (int i = 0; i < 16; i++)
		m[i] = (struct mmsghdr){ .msg_hdr = message(&iov) };
	if (n > 16)
		return 2;
	for (int i = 0; i < n; i++)
		feed();
	printf("recvmmsg %d\n", recvmmsg(pair[0], m, (unsigned)n, MSG_DONTWAIT, NULL));
	printf("sendmmsg %d\n", sendmmsg(pair[1], m, (unsigned)n, MSG_DONTWAIT));
	return 0;
}

static int cmd_gso(char **args)
{
	struct sockaddr_in to = loopback(9);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))] = { 0 };
	struct iovec iov = { data, 20 };
	struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	(void)args;
	c->cmsg_level = SOL_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
	memcpy(CMSG_DATA(c), &(uint16_t){ 10 }, sizeof(uint16_t));
	say((int)sendmsg(fd, &m, 0));
	m.msg_control = NULL;
	m.msg_controllen = 0;
	return say((int)sendmsg(fd, &m, 0));
}

static int cmd_clock(char **args)
{
	struct timespec mono, wall;
	long first = 0;

	for (int i = 0; i < atoi(args[0]); i++) {
		clock_gettime(CLOCK_MONOTONIC, &mono);
		clock_gettime(CLOCK_REALTIME, &wall);
		first = i ? first : wall.tv_sec - mono.tv_sec;
		printf("%ld\n", (long)(wall.tv_sec - mono.tv_sec) - first);
	}
	return 0;
}

static int cmd_cat(char **args)
{
	char line[200];
	FILE *f = fopen(args[0], "r");

	if (!f)
		return say(-1);
	fputs(fgets(line, sizeof(line), f) ? line : "(empty)\n", stdout);
	return fclose(f);
}

static int cmd_pause(char **args)
{
	int rc = call(args[1]);

	usleep((useconds_t)atoi(args[0]) * 1000);
	return rc ? rc : call(args[1]);
}

struct job {
	int fd[2], receives, at;
	unsigned index;
};

static void *work(void *arg)
{
	struct job *job = arg;
	char name[16], buffer[8];

	snprintf(name, sizeof(name), "sink-%u", job->index);
	pthread_setname_np(pthread_self(), name);
	give_back(malloc(10));
	for (int i = 1; i <= job->receives; i++) {
		if (i == job->at)
			try_mmap(), give_back(malloc(10));
		if (send(job->fd[1], "x", 1, 0) != 1 || recv(job->fd[0], buffer, sizeof(buffer), 0) != 1)
			exit(1);
	}
	give_back(malloc(10));
	return NULL;
}

static int cmd_workers(char **args)
{
	struct job job[2];
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++) {
		job[i] = (struct job){ .receives = atoi(args[0]), .at = i ? atoi(args[1]) : -1, .index = i };
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, job[i].fd) || pthread_create(&thread[i], NULL, work, &job[i]))
			return 1;
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static const struct {
	const char *name;
	int nargs;
	int (*run)(char **args);
} commands[] = {
	{ "names", 0, cmd_names },       { "call", 2, cmd_call },   { "option", 2, cmd_option },
	{ "messages", 1, cmd_messages }, { "gso", 0, cmd_gso },     { "clock", 1, cmd_clock },
	{ "cat", 1, cmd_cat },           { "pause", 2, cmd_pause }, { "workers", 2, cmd_workers },
};

int main(int argc, char **argv)
{
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 1;
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, argv[1]) == 0 && commands[i].nargs == argc - 2)
			return commands[i].run(argv + 2);
	fputs("victim: see the comment in victim.c for its commands\n", stderr);
	return 2;
}
