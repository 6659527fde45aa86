/* SPDX-License-Identifier: MIT */
/* io_uring: a batch of IORING_OP_SENDMSG requests, handed over and waited for by one io_uring_enter(2).
 *
 * The requests are linked (IOSQE_IO_LINK): each begins when the one before has been accepted, and the first that is refused cancels those behind it. So what
 * was accepted is a prefix, as with sendmmsg(2), and numbers stay without gaps. Requests that are not linked would go on behind a refusal.
 *
 * Measured on Linux 6.18, batches of 32 over loopback, one CPU, 15 interleaved rounds, datagrams per CPU time as a multiple of sendmmsg's (medians):
 *                                18 bytes, nobody reads   18 bytes, a reader   1472 bytes, nobody reads
 *   not linked                   0.89                     0.87                 0.89
 *   linked                       0.82                     0.81                 0.82
 *   linked, CQE_SKIP_SUCCESS     0.80                     0.77                 0.80
 * (A registered file adds 0.01 to each; it would need a table of all flows.) Nothing that io_uring has makes plain sends cheaper than sendmmsg(2), which is
 * why --sender auto does not choose it, and the order that links give costs 0.07. Skipping the completions of what was accepted does not pay either: what
 * costs is that each request of a chain is begun by task work of its own. With zero copy over loopback, where everything is copied all the same: 0.61.
 *
 * MSG_DONTWAIT keeps the kernel from parking a request that finds the send buffer full: the wait for room is ours, so that a stop ends it. */
#include <stdatomic.h>
#include <stdlib.h>

#include "net/sysctl.h"
#include "source/tx.h"

#ifdef HAVE_LIBURING
#include <liburing.h>
#include <poll.h>

#include "base/clock.h"

/* linux/io_uring.h of Linux 6.2; liburing 2.3 is older. */
#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE (1U << 3)
#define IORING_NOTIF_USAGE_ZC_COPIED (1U << 31)
#endif

#define MOST 1024            /* messages per call, as sendmmsg(2) */
#define WAIT_MS 50           /* for room, and for notifications, between looks for a stop */
#define NOTHING UINT64_MAX   /* user_data of a request that stands for none of the batch */

struct outcome {
	int result;          /* bytes, or -errno */
	bool copied;         /* zero copy: it was not */
};

struct uring {
	struct io_uring ring;
	bool ready;          /* the ring has to be closed */
	uint8_t op;
	uint16_t flags;      /* of the operation */
	unsigned room;       /* messages of a batch */
	struct outcome *outcome; /* owned; as many */
	unsigned results;    /* still to come */
	int notices;         /* still to come: until then the kernel reads the slots */
};

/* The first that this kernel has. */
static int set_up(struct io_uring *ring, unsigned entries)
{
	static const unsigned setups[] = {
		IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* Linux 6.1 */
		IORING_SETUP_SUBMIT_ALL, /* Linux 5.18 */
		0,
	};
	int ret = -EINVAL;

	for (unsigned i = 0; i < ARRAY_SIZE(setups) && ret == -EINVAL; i++)
		ret = io_uring_queue_init(entries, ring, setups[i]);
	return ret;
}

static int refuse(int error, struct err *err)
{
	const char *others = "another sender does without, such as sendmmsg";
	int disabled = 0;

	if (error == -ENOSYS)
		return err_sys(err, error, "--sender uring: this kernel has no io_uring, or a seccomp filter hides it; %s: io_uring_setup", others);
	if (error == -ENOMEM)
		return err_sys(err, error, "--sender uring: before Linux 5.12 its memory counts as locked (ulimit -l); %s: io_uring_setup", others);
	if (error != -EPERM)
		return err_sys(err, error, "--sender uring: io_uring_setup");
	if (!sysctl_read_int("kernel.io_uring_disabled", &disabled) && disabled)
		return err_sys(err, error, "--sender uring: the sysctl kernel.io_uring_disabled is %d: 0 lets everybody use it; %s: io_uring_setup",
			       disabled, others);
	return err_sys(err, error, "--sender uring: a seccomp filter forbids it, as those of containers do; %s: io_uring_setup", others);
}

/* Zero copy with notifications that tell whether data was copied. Asked without a descriptor: what the kernel does not know it refuses first. */
static bool has_zerocopy(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct msghdr none = { 0 };
	struct io_uring_cqe *cqe;

	io_uring_prep_sendmsg(sqe, -1, &none, 0);
	sqe->opcode = IORING_OP_SENDMSG_ZC;
	sqe->ioprio = IORING_SEND_ZC_REPORT_USAGE;
	return io_uring_submit(ring) == 1 && !io_uring_wait_cqe(ring, &cqe) && cqe->res == -EBADF;
}

int tx_uring_check(bool zerocopy, struct err *err)
{
	struct io_uring ring;
	int ret = set_up(&ring, 2);

	if (ret)
		return refuse(ret, err);
	if (zerocopy && !has_zerocopy(&ring))
		ret = err_say(err, EOPNOTSUPP, "--zerocopy: this kernel's io_uring has no IORING_OP_SENDMSG_ZC that tells what was copied (Linux 6.2); "
			      "leave it out");
	io_uring_queue_exit(&ring);
	return ret;
}

static int open_ring(struct tx *tx, const struct tx_conf *conf, struct err *err)
{
	struct uring *u = calloc(1, sizeof(*u));
	int ret;

	tx->own = u;
	if (u) {
		u->op = conf->zerocopy ? IORING_OP_SENDMSG_ZC : IORING_OP_SENDMSG;
		u->flags = conf->zerocopy ? IORING_SEND_ZC_REPORT_USAGE : 0;
		u->room = MIN(tx->payload.slots, MOST);
		u->outcome = calloc(u->room, sizeof(*u->outcome));
	}
	if (!u || !u->outcome)
		return err_sys(err, ENOMEM, "memory for a ring");
	/* There is room for twice as many completions: with zero copy each message has two. */
	ret = set_up(&u->ring, u->room);
	if (ret)
		return refuse(ret, err);
	u->ready = true;
	io_uring_register_ring_fd(&u->ring); /* a little faster where the kernel has it */
	return 0;
}

static void close_ring(struct tx *tx)
{
	struct uring *u = tx->own;

	if (!u)
		return;
	if (u->notices > 0)
		tx->payload.data = NULL; /* not freed: a stuck device queue still holds it, and nothing else may be written there */
	if (u->ready)
		io_uring_queue_exit(&u->ring);
	free(u->outcome);
	free(u);
}

static void prepare(struct uring *u, int fd, const struct mmsghdr *message, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring); /* as many as `room` are there: none is left from before */

		io_uring_prep_sendmsg(sqe, fd, &message[i].msg_hdr, MSG_DONTWAIT);
		sqe->opcode = u->op;
		sqe->ioprio = u->flags;
		sqe->flags = i + 1 < n ? IOSQE_IO_LINK : 0;
		sqe->user_data = i;
		u->outcome[i] = (struct outcome){ .result = -ECANCELED };
	}
	u->results = n;
}

/* Takes what has come. */
static void collect(struct uring *u)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	io_uring_for_each_cqe(&u->ring, head, cqe) {
		struct outcome *o = cqe->user_data == NOTHING ? NULL : &u->outcome[cqe->user_data];

		n++;
		if (cqe->flags & IORING_CQE_F_NOTIF) {
			u->notices--;
			o->copied = (uint32_t)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED;
			continue;
		}
		u->results--;
		u->notices += (cqe->flags & IORING_CQE_F_MORE) != 0;
		if (o)
			o->result = cqe->res;
	}
	io_uring_cq_advance(&u->ring, n);
}

/* The kernel had no memory for all requests: the chain ends in front of the rest, which must not go out without it. */
static void give_up_rest(struct uring *u)
{
	struct io_uring_sq *sq = &u->ring.sq;
	unsigned n = io_uring_sq_ready(&u->ring);

	for (unsigned i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = &sq->sqes[(*sq->khead + i) & sq->ring_mask];

		io_uring_prep_nop(sqe);
		sqe->flags = 0;
		sqe->user_data = NOTHING;
	}
}

/* Hands the requests over and waits for all results. With another error than these the ring is of no use any more, and results stay out. */
static void submit(struct uring *u, struct tx_result *result)
{
	int ret = 0;

	while (u->results && (ret >= 0 || ret == -EINTR || ret == -EAGAIN || ret == -EBUSY)) {
		ret = io_uring_submit_and_wait(&u->ring, u->results);
		result->calls++;
		collect(u);
		if (UNLIKELY(io_uring_sq_ready(&u->ring)))
			give_up_rest(u);
	}
}

/* Until the kernel has done with the slots, which are written anew for the next batch; a stop ends the wait. */
static void await_notices(struct tx *tx, struct uring *u, struct tx_result *result)
{
	struct __kernel_timespec limit = { .tv_nsec = WAIT_MS * NSEC_PER_MSEC };
	struct io_uring_cqe *cqe;

	while (u->notices > 0) {
		int ret = io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &limit, NULL);

		result->calls++;
		collect(u);
		if (ret == -ETIME && tx->stop && atomic_load_explicit(tx->stop, memory_order_relaxed))
			return;
	}
}

/* What was accepted is a prefix of the n messages. */
static void account(const struct uring *u, unsigned n, struct tx_result *result)
{
	while (result->messages < n && u->outcome[result->messages].result >= 0)
		result->copied += u->outcome[result->messages++].copied;
	if (result->messages < n)
		result->error = -u->outcome[result->messages].result;
	if (result->error == ECANCELED)
		result->error = EAGAIN; /* the requests came to nothing before one was sent: give_up_rest, or no memory */
	if (u->results)
		result->error = EBADF;
}

static void send_chain(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result)
{
	struct uring *u = tx->own;
	struct pollfd room = { .fd = flow->fd, .events = POLLOUT };
	unsigned n;

	end = MIN(end, first + u->room * tx->segments);
	n = tx_cut(tx, first, end);
	prepare(u, flow->fd, &tx->message[first / tx->segments], n);
	submit(u, result);
	await_notices(tx, u, result);
	account(u, n, result);
	result->sent = MIN(result->messages * tx->segments, end - first);
	tx_uncut(tx, end);
	if (result->error == EAGAIN)
		poll(&room, 1, WAIT_MS);
}

#else /* no liburing */

int tx_uring_check(bool zerocopy UNUSED, struct err *err)
{
	return err_say(err, EOPNOTSUPP, "--sender uring: this program was built without liburing (configure --with-liburing); "
		       "another sender does without, such as sendmmsg");
}

static int open_ring(struct tx *tx UNUSED, const struct tx_conf *conf, struct err *err)
{
	return tx_uring_check(conf->zerocopy, err);
}

#define close_ring NULL
#define send_chain NULL

#endif

const struct tx_ops tx_uring = {
	.name = "uring",
	.caps = TX_GSO | TX_BATCH | TX_ADDRESS,
	.open = open_ring,
	.close = close_ring,
	.send = send_chain,
};
