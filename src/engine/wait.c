/* SPDX-License-Identifier: MIT */
#include "engine/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"

/* Rounds of a recv that may sleep: one over what was left, one after the sleep. */
#define POLL_ROUNDS 2

/* Sockets that one epoll_wait names at most. */
#define EPOLL_EVENTS 64

/* epoll_event.data of the eventfd; no position is so large. */
#define WAKE_EVENT UINT32_MAX

static int watch(struct wait *wait, int fd, uint32_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = data };

	return epoll_ctl(wait->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int allocate(struct wait *wait, struct err *err)
{
	wait->sock = calloc(wait->max, sizeof(*wait->sock));
	wait->ready = calloc(MAX(wait->max, EPOLL_EVENTS), sizeof(*wait->ready));
	wait->poll = calloc((size_t)wait->max + 1, sizeof(*wait->poll));
	if (!wait->sock || !wait->ready || !wait->poll)
		return err_sys(err, ENOMEM, "memory for waiting on %u sockets", wait->max);
	return 0;
}

static int open_descriptors(struct wait *wait, bool epoll, struct err *err)
{
	wait->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (wait->event_fd < 0)
		return err_sys(err, errno, "eventfd");
	wait->poll[0] = (struct pollfd){ .fd = wait->event_fd, .events = POLLIN };
	if (!epoll)
		return 0;
	wait->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (wait->epoll_fd < 0)
		return err_sys(err, errno, "epoll_create1");

	int rc = watch(wait, wait->event_fd, WAKE_EVENT);

	return rc < 0 ? err_sys(err, rc, "epoll_ctl on the eventfd") : 0;
}

static int append(struct wait *wait, const struct sock_set *set, unsigned sock)
{
	int fd = set->sock[sock].fd;

	if (wait->n == wait->max)
		return -ENOSPC;

	int rc = wait->epoll_fd >= 0 ? watch(wait, fd, wait->n) : 0;

	if (rc < 0)
		return rc;
	wait->sock[wait->n] = sock;
	wait->poll[1 + wait->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	wait->n++;
	return 0;
}

static int append_all(struct wait *wait, const struct engine_run *run, const struct engine_slot *slot, struct err *err)
{
	for (unsigned i = 0; i < slot->nsocks; i++) {
		int rc = append(wait, run->set, slot->socks[i]);

		if (rc < 0)
			return err_sys(err, rc, "waiting on socket %u", slot->socks[i]);
	}
	return 0;
}

int wait_open(struct wait *wait, const struct engine_run *run, const struct engine_slot *slot, bool epoll, struct err *err)
{
	*wait = (struct wait)WAIT_INIT;
	wait->mode = run->conf->wait;
	if (epoll && wait->mode == ENGINE_WAIT_BLOCK)
		wait->mode = ENGINE_WAIT_POLL;
	wait->rounds = wait->mode == ENGINE_WAIT_SPIN ? WAIT_SPIN_POLLS : POLL_ROUNDS;
	wait->left = true;
	wait->max = MAX(MAX(slot->max_socks, slot->nsocks), 1);
	wait->timeout_ns = wait_timeout(run->conf);
	wait->tid = (pid_t)syscall(SYS_gettid);

	if (wait->mode == ENGINE_WAIT_BLOCK && slot->nsocks != 1)
		return err_say(err, EINVAL, "blocking in the receive call needs one socket per thread, not %u", slot->nsocks);

	int rc = allocate(wait, err);

	if (!rc)
		rc = open_descriptors(wait, epoll, err);
	if (!rc)
		rc = append_all(wait, run, slot, err);
	if (rc < 0)
		wait_close(wait);
	return rc;
}

int wait_add(struct wait *wait, const struct sock_set *set, unsigned sock)
{
	return wait->mode == ENGINE_WAIT_BLOCK ? -ENOTSUP : append(wait, set, sock);
}

static int round_all(struct wait *wait)
{
	for (unsigned i = 0; i < wait->n; i++)
		wait->ready[i] = i;
	wait->nready = wait->n;
	return (int)wait->n;
}

static int round_poll(struct wait *wait, uint64_t sleep_ns, uint64_t *waited_ns)
{
	struct timespec timeout = { .tv_sec = (time_t)(sleep_ns / NSEC_PER_SEC), .tv_nsec = (long)(sleep_ns % NSEC_PER_SEC) };
	int found = ppoll(wait->poll, (nfds_t)wait->n + 1, &timeout, NULL);

	if (found < 0)
		return -errno;
	if (!found)
		*waited_ns = sleep_ns;
	if (found && wait->poll[0].revents)
		wait_obey(wait);
	for (unsigned i = 0; found && i < wait->n; i++)
		if (wait->poll[1 + i].revents)
			wait->ready[wait->nready++] = i;
	return (int)wait->nready;
}

static int round_epoll(struct wait *wait, uint64_t sleep_ns, uint64_t *waited_ns)
{
	struct epoll_event event[EPOLL_EVENTS];
	int found = epoll_wait(wait->epoll_fd, event, EPOLL_EVENTS, (int)(sleep_ns / NSEC_PER_MSEC));

	if (found < 0)
		return -errno;
	if (!found)
		*waited_ns = sleep_ns;
	for (int i = 0; i < found; i++) {
		if (event[i].data.u32 == WAKE_EVENT)
			wait_obey(wait);
		else
			wait->ready[wait->nready++] = event[i].data.u32;
	}
	return (int)wait->nready;
}

int wait_round(struct wait *wait, uint64_t *waited_ns)
{
	bool hurry = wait->left || wait->mode == ENGINE_WAIT_SPIN;
	uint64_t sleep_ns = hurry ? 0 : ENGINE_TICK_NS;

	wait->at = 0;
	wait->nready = 0;
	wait->left = false;
	if (wait->epoll_fd >= 0)
		return round_epoll(wait, sleep_ns, waited_ns);
	/* A single socket that was not seen empty needs no question to the kernel. */
	if (wait->mode == ENGINE_WAIT_SPIN || (hurry && wait->n == 1))
		return round_all(wait);
	return round_poll(wait, sleep_ns, waited_ns);
}

void wait_wake(struct wait *wait)
{
	const uint64_t one = 1;
	int saved = errno;

	atomic_store_explicit(&wait->woken, 1, memory_order_relaxed);
	/* Fails only with EAGAIN: the counter is at its maximum, so the descriptor is readable anyway. */
	ssize_t done UNUSED = write(wait->event_fd, &one, sizeof(one));

	/* By number, not by pthread_t: a wake after the join is allowed, and pthread_kill would not be. */
	if (wait->mode == ENGINE_WAIT_BLOCK)
		syscall(SYS_tgkill, getpid(), wait->tid, engine_wake_signal());
	errno = saved;
}

bool wait_obey(struct wait *wait)
{
	uint64_t count;
	int saved = errno;

	atomic_store_explicit(&wait->woken, 0, memory_order_relaxed);
	/* Nothing to read: the waker is between its two steps; the descriptor then ends one more wait, which does no harm. */
	if (read(wait->event_fd, &count, sizeof(count)) < 0)
		errno = saved;
	wait->woke = true;
	return true;
}

void wait_close(struct wait *wait)
{
	util_close(&wait->epoll_fd);
	util_close(&wait->event_fd);
	free(wait->sock);
	free(wait->ready);
	free(wait->poll);
	*wait = (struct wait)WAIT_INIT;
}
