/* SPDX-License-Identifier: MIT */
/*
 * bare_recvmmsg - what receiving costs without a tool around it: the loop that udp_sink is held against.
 *
 * The same system calls with the same arguments as `udp_sink --engine recvmmsg --batch N --buffer-size 4096`: blocking recvmmsg without flags,
 * control buffers of the size that IP_PKTINFO takes, re-armed for each message, a source address only when asked for; the same memory layout (page
 * aligned, touched before, an odd number of cache lines from buffer to buffer), so that only the tool differs. IPv4.
 *
 *   --statistics   publish counters as udp_sink does, once per batch (stats_publish of src/sink/stats.h): the difference between on and off is what the
 *                  instrument costs (R101)
 *
 * The window begins with the first datagram and ends after --duration; a timer signal interrupts the call, there is no clock in the loop. One JSON line
 * with the fields of udp_sink's sum record that a comparison needs. CPU time is CLOCK_THREAD_CPUTIME_ID, as there.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "sink/stats.h"

#define BUFFER 4096
#define STRIDE ((BUFFER / 64 | 1) * 64)
#define BATCH_MAX 1024

struct conf {
	long port, batch, cpu, duration_ms, rcvbuf;
	bool pktinfo, name, statistics;
};

struct buffers {
	struct mmsghdr hdr[BATCH_MAX];
	struct iovec iov[BATCH_MAX];
	struct sockaddr_storage name[BATCH_MAX];
	_Alignas(struct cmsghdr) char control[BATCH_MAX][CMSG_SPACE(sizeof(struct in_pktinfo))];
	char *data;
};

struct result {
	uint64_t datagrams, bytes, calls, cpu_ns, wall_ns;
};

static volatile sig_atomic_t over;
static struct stats_block block;

static void on_alarm(int number)
{
	(void)number;
	over = 1;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bare_recvmmsg: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int open_socket(const struct conf *conf)
{
	struct sockaddr_in local = { .sin_family = AF_INET, .sin_port = htons((uint16_t)conf->port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1, size = (int)conf->rcvbuf;
	struct timeval tick = { 0, 100000 }; /* as udp_sink under --wait block */

	if (fd < 0)
		die("socket");
	if (size && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		die("SO_RCVBUF");
	if (conf->pktinfo && setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one)))
		die("IP_PKTINFO");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick)))
		die("SO_RCVTIMEO");
	if (bind(fd, (struct sockaddr *)&local, sizeof(local)))
		die("bind");
	return fd;
}

static struct buffers *set_up(const struct conf *conf)
{
	struct buffers *b = calloc(1, sizeof(*b));

	if (b)
		b->data = aligned_alloc(4096, (size_t)BATCH_MAX * STRIDE);
	if (!b || !b->data)
		die("memory");
	memset(b->data, 0, (size_t)conf->batch * STRIDE);
	for (long i = 0; i < conf->batch; i++) {
		struct msghdr *h = &b->hdr[i].msg_hdr;

		b->iov[i] = (struct iovec){ b->data + i * STRIDE, BUFFER };
		h->msg_iov = &b->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = conf->name ? &b->name[i] : NULL;
		h->msg_control = conf->pktinfo ? b->control[i] : NULL;
		h->msg_namelen = conf->name ? sizeof(b->name[i]) : 0;
		h->msg_controllen = conf->pktinfo ? sizeof(b->control[i]) : 0;
	}
	return b;
}

static void publish(const struct result *r, unsigned n)
{
	static struct stats s;
	unsigned bucket = stats_fill_bucket(n);

	s.datagrams = s.buffers = r->datagrams;
	s.bytes = s.wire_bytes = r->bytes;
	s.calls = r->calls;
	s.fill[bucket]++;
	stats_publish(&block, &s, bucket, false);
}

/* Counts, and re-arms what the kernel wrote lengths into. */
static ALWAYS_INLINE void take(const struct conf *conf, struct buffers *b, unsigned n, struct result *r)
{
	for (unsigned i = 0; i < n; i++) {
		struct msghdr *h = &b->hdr[i].msg_hdr;

		r->bytes += b->hdr[i].msg_len;
		if (conf->name)
			h->msg_namelen = sizeof(b->name[i]);
		if (conf->pktinfo)
			h->msg_controllen = sizeof(b->control[i]);
	}
	r->datagrams += n;
}

static void start_window(const struct conf *conf, struct result *r)
{
	struct itimerval timer = { .it_value = { conf->duration_ms / 1000, conf->duration_ms % 1000 * 1000 } };

	r->wall_ns = now(CLOCK_MONOTONIC);
	r->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void receive(const struct conf *conf, int fd, struct buffers *b, struct result *r)
{
	while (!over) {
		int n = recvmmsg(fd, b->hdr, (unsigned)conf->batch, 0, NULL);

		r->calls++;
		if (n < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			die("recvmmsg");
		}
		if (!r->datagrams)
			start_window(conf, r);
		take(conf, b, (unsigned)n, r);
		if (conf->statistics)
			publish(r, (unsigned)n);
	}
	r->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - r->cpu_ns;
	r->wall_ns = now(CLOCK_MONOTONIC) - r->wall_ns;
}

static long number(const char *text, long low, long high, const char *option)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < low || value > high) {
		fprintf(stderr, "bare_recvmmsg: --%s %s: expected %ld to %ld\n", option, text, low, high);
		exit(2);
	}
	return value;
}

static void read_options(int argc, char **argv, struct conf *conf)
{
	static const struct option table[] = {
		{ "port", 1, NULL, 'p' },     { "batch", 1, NULL, 'b' },   { "cpu", 1, NULL, 'c' },
		{ "duration", 1, NULL, 'd' }, { "rcvbuf", 1, NULL, 'r' },  { "pktinfo", 0, NULL, 'i' },
		{ "name", 0, NULL, 'n' },     { "statistics", 0, NULL, 's' }, { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case 'p': conf->port = number(optarg, 1, 65535, "port"); break;
		case 'b': conf->batch = number(optarg, 1, BATCH_MAX, "batch"); break;
		case 'c': conf->cpu = number(optarg, 0, CPU_SETSIZE - 1, "cpu"); break;
		case 'd': conf->duration_ms = number(optarg, 1, 60000, "duration"); break;
		case 'r': conf->rcvbuf = number(optarg, 1, 1 << 30, "rcvbuf"); break;
		case 'i': conf->pktinfo = true; break;
		case 'n': conf->name = true; break;
		case 's': conf->statistics = true; break;
		default: exit(2);
		}
	}
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("--cpu");
}

int main(int argc, char **argv)
{
	struct conf conf = { .port = 6666, .batch = 64, .cpu = -1, .duration_ms = 400 };
	struct sigaction alarm = { .sa_handler = on_alarm }; /* no SA_RESTART: it interrupts the call */
	struct result r = { 0 };
	int fd;

	read_options(argc, argv, &conf);
	if (conf.cpu >= 0)
		pin(conf.cpu);
	sigaction(SIGALRM, &alarm, NULL);
	fd = open_socket(&conf);
	receive(&conf, fd, set_up(&conf), &r);
	printf("{\"type\":\"sum\",\"engine\":\"bare\",\"duration_s\":%.9f,\"total\":{\"datagrams\":%llu,\"bytes\":%llu,\"calls\":%llu},"
	       "\"cpu\":{\"cpu_ns\":%llu,\"ns_per_datagram\":%.4f,\"busy\":%.4f}}\n",
	       (double)r.wall_ns / 1e9, (unsigned long long)r.datagrams, (unsigned long long)r.bytes,
	       (unsigned long long)r.calls, (unsigned long long)r.cpu_ns, (double)r.cpu_ns / (double)r.datagrams,
	       (double)r.cpu_ns / (double)r.wall_ns);
	return 0;
}
