/* SPDX-License-Identifier: MIT */
#include "source/answers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/sock_buffer.h"
#include "source/asked.h"

#define BATCH 64
#define ANSWER 512        /* bytes kept of one: header and question */
/* Asked for each flow: some 5000 answers. The kernel grants less where net.core.rmem_max says so; drops are counted. */
#define RCVBUF (4u << 20)
#define WAIT_MS 20        /* so soon the end is noticed */
#define LOOK_NS 5000000   /* main looks so often whether all are there */

struct reader {
	struct answers *team;
	pthread_t thread;
	int epoll;
	atomic_uint_least64_t done; /* answered + late, for main while it waits */
	struct answers_counts counts;
	struct mmsghdr message[BATCH];
	struct iovec iov[BATCH];
	unsigned char data[BATCH][ANSWER];
};

struct answers {
	const struct source_conf *conf;
	struct flows *flows;
	struct reader *reader;
	struct asked *asked;  /* by thread; what flows->asked is */
	unsigned n, started;
	atomic_bool stop;
	bool signalled;
	uint64_t sent;
	uint64_t end_ns;      /* when waiting ended */
};

/* One datagram that came to flow f. */
static void take(struct reader *r, unsigned f, const unsigned char *data, size_t size, uint64_t now_ns)
{
	const struct answers *a = r->team;
	struct answers_counts *c = &r->counts;
	struct dns_answer answer;
	uint64_t due_ns, latency;

	if (!dns_answer_read(data, size, &answer)) {
		c->malformed++;
		return;
	}
	if (!asked_match(&a->asked[f % a->n], f, &answer, &due_ns)) {
		c->unexpected++;
		return;
	}
	latency = clock_elapsed(due_ns, now_ns);
	c->rcode[answer.rcode]++;
	c->truncated += answer.truncated;
	if (latency > a->conf->dns_timeout_ns) {
		c->late++;
	} else {
		c->latency_min_ns = c->answered ? MIN(c->latency_min_ns, latency) : latency;
		c->latency_sum_ns += latency;
		c->answered++;
		hist_record(&c->latency, latency);
	}
	atomic_store_explicit(&r->done, c->answered + c->late, memory_order_relaxed);
}

/* Some of what is queued for flow f; epoll tells of the rest once the others had their turn. An error of the network (ECONNREFUSED) is taken off by the call
 * and is no reason to stop. */
static void drain(struct reader *r, unsigned f)
{
	const struct answers *a = r->team;
	int got = recvmmsg(a->flows->flow[f].fd, r->message, BATCH, MSG_DONTWAIT, NULL);
	uint64_t now = clock_mono();

	for (int i = 0; i < got; i++)
		take(r, f, r->data[i], MIN(r->message[i].msg_len, (unsigned)ANSWER), now);
}

static void *thread_main(void *data)
{
	struct reader *r = data;
	struct epoll_event ready[BATCH];

	prctl(PR_SET_NAME, "answers");
	while (!atomic_load(&r->team->stop)) {
		int n = epoll_wait(r->epoll, ready, BATCH, WAIT_MS);

		for (int i = 0; i < n; i++)
			drain(r, ready[i].data.u32);
	}
	return NULL;
}

static int watch_flows(struct reader *r, unsigned index, struct err *err)
{
	const struct answers *a = r->team;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return err_sys(err, errno, "epoll for the answers");
	for (unsigned f = index; f < a->flows->n; f += a->n) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = f };
		struct sock_buffer buffer;
		int ret = sock_buffer_set(a->flows->flow[f].fd, SOCK_BUFFER_RCV, RCVBUF, false, &buffer, err);

		if (ret)
			return ret;
		if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, a->flows->flow[f].fd, &e))
			return err_sys(err, errno, "watching for the answers of flow %u", f);
	}
	return 0;
}

static int start_reader(struct answers *a, unsigned index, struct err *err)
{
	const struct source_conf *conf = a->conf;
	struct reader *r = &a->reader[index];
	sigset_t all, old;
	int ret;

	r->team = a;
	for (unsigned i = 0; i < BATCH; i++) {
		r->iov[i] = (struct iovec){ r->data[i], ANSWER };
		r->message[i].msg_hdr = (struct msghdr){ .msg_iov = &r->iov[i], .msg_iovlen = 1 };
	}
	ret = asked_init(&a->asked[index], &conf->messages, (a->flows->n - index + a->n - 1) / a->n, index, a->n, conf->dns_random,
			 conf->seed, err);
	if (!ret)
		ret = watch_flows(r, index, err);
	if (ret)
		return ret;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&r->thread, NULL, thread_main, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return err_sys(err, ret, "starting a thread for the answers");
	a->started++;
	return 0;
}

int answers_start(struct answers **out, const struct source_conf *conf, struct flows *flows, struct err *err)
{
	struct answers *a;
	int ret = 0;

	*out = NULL;
	if (!conf->dns)
		return 0;
	*out = a = calloc(1, sizeof(*a));
	if (!a)
		return err_sys(err, ENOMEM, "memory for the answers");
	*a = (struct answers){ .conf = conf, .flows = flows, .n = (unsigned)conf->threads };
	a->reader = calloc(a->n, sizeof(*a->reader));
	a->asked = calloc(a->n, sizeof(*a->asked));
	if (!a->reader || !a->asked)
		return err_sys(err, ENOMEM, "memory for the answers");
	for (unsigned i = 0; i < a->n; i++)
		a->reader[i].epoll = -1;
	for (unsigned i = 0; i < a->n && !ret; i++)
		ret = start_reader(a, i, err);
	flows->asked = a->asked;
	return ret;
}

static void end_readers(struct answers *a)
{
	atomic_store(&a->stop, true);
	for (unsigned i = 0; i < a->started; i++)
		pthread_join(a->reader[i].thread, NULL);
	a->started = 0;
}

/* Queries without an answer so far. */
static uint64_t missing(const struct answers *a)
{
	uint64_t done = 0;

	for (unsigned i = 0; i < a->n; i++)
		done += atomic_load_explicit(&a->reader[i].done, memory_order_relaxed) + atomic_load_explicit(&a->asked[i].lost, memory_order_relaxed);
	return a->sent > done ? a->sent - done : 0;
}

void answers_finish(struct answers *a, uint64_t sent, bool signalled, bool (*pause)(uint64_t ns))
{
	uint64_t end;

	if (!a)
		return;
	a->sent = sent;
	a->signalled = signalled;
	end = clock_mono() + a->conf->dns_timeout_ns;
	while (!a->signalled && missing(a) && clock_mono() < end)
		a->signalled = pause(MIN(end, clock_mono() + LOOK_NS));
	end_readers(a);
	a->end_ns = clock_mono();
}

static void add(struct answers_counts *sum, const struct answers_counts *c)
{
	if (c->answered)
		sum->latency_min_ns = sum->answered ? MIN(sum->latency_min_ns, c->latency_min_ns) : c->latency_min_ns;
	sum->latency_sum_ns += c->latency_sum_ns;
#define X(name, help) sum->name += c->name;
	ANSWERS_COUNTERS(X)
#undef X
	for (unsigned i = 0; i < DNS_RCODES; i++)
		sum->rcode[i] += c->rcode[i];
	hist_add(&sum->latency, &c->latency);
}

void answers_sum(const struct answers *a, struct answers_sum *out)
{
	uint64_t left, since_ns = clock_elapsed(a->conf->dns_timeout_ns, a->end_ns);

	*out = (struct answers_sum){ .asked = a->sent };
	for (unsigned i = 0; i < a->n; i++) {
		add(&out->counts, &a->reader[i].counts);
		out->lost += atomic_load(&a->asked[i].lost);
		out->outstanding += a->signalled ? asked_waiting(&a->asked[i], since_ns) : 0;
	}
	left = missing(a);
	out->outstanding = MIN(out->outstanding, left);
	out->lost += left - out->outstanding;
	for (unsigned i = 0; i < a->flows->n; i++) {
		struct sock_memory m;

		if (!sock_memory(a->flows->flow[i].fd, &m))
			out->socket_drops += m.drops;
	}
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	end_readers(a);
	for (unsigned i = 0; i < a->n && a->reader && a->asked; i++) {
		util_close(&a->reader[i].epoll);
		asked_free(&a->asked[i]);
	}
	a->flows->asked = NULL;
	free(a->reader);
	free(a->asked);
	free(a);
}
