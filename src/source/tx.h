/* SPDX-License-Identifier: MIT */
/*
 * tx - the senders: one small table of operations, one file per system call.
 *
 * A sender takes datagrams out of the slots of struct payload, in order, and says how many the kernel accepted. It knows nothing of counting and
 * pacing: those are worker.c. Adding a sender: a file tx_NAME.c, an entry in tx_table, enum tx_index and TX_NAMES.
 */
#ifndef SOURCE_TX_H
#define SOURCE_TX_H

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "source/dst.h"
#include "source/flows.h"
#include "source/payload.h"

/* Order of tx_table, and of the choices of --sender. */
enum tx_index { TX_SENDMMSG, TX_SENDMSG, TX_SENDTO, TX_SEND, TX_WRITE, TX_SEGMENT, TX_URING, TX_RAW, TX_AUTO };
#define TX_NAMES "sendmmsg|sendmsg|sendto|send|write|gso|uring|raw|auto"

enum tx_cap {
	TX_GSO = 1 << 0,     /* a message may hold several datagrams (UDP_SEGMENT control message) */
	TX_BATCH = 1 << 1,   /* one system call takes several messages */
	TX_ADDRESS = 1 << 2, /* each message may have a destination of its own */
	TX_ALWAYS = 1 << 3,  /* the address goes with each message, on a connected socket too */
	TX_PACKETS = 1 << 4, /* writes the IP packets itself: any source, fragments, bad ones */
};

/* What one call of send did. Either sent > 0 or error != 0 (both: error belongs to the datagram behind the last one sent). */
struct tx_result {
	unsigned sent;     /* datagrams accepted, a prefix of those given */
	unsigned messages; /* messages accepted: what UdpOutDatagrams counts; TX_PACKETS: packets */
	unsigned calls;    /* system calls made */
	unsigned copied;   /* zero copy: of the accepted messages those of which the kernel copied the data all the same */
	int error;         /* positive errno, 0 = none. sendmmsg does not tell the error behind a short count: it shows
	                      itself at the next call, or not at all when it was of the passing kind */
	/* TX_PACKETS */
	unsigned fragments;      /* of the packets */
	/* of the sent datagrams: */
	unsigned incomplete;     /* no receiver can put them together */
	unsigned bad[BAD_KINDS];
	uint64_t missing;        /* bytes of payload that did not go out */
};

struct tx;
struct tx_conf;

struct tx_ops {
	const char *name;
	unsigned caps; /* enum tx_cap */
	/* Memory of its own, tx->own; close also after a failure. NULL: none. Worker thread. */
	int (*open)(struct tx *tx, const struct tx_conf *conf, struct err *err);
	void (*close)(struct tx *tx);
	/* Sends slots first..end-1 as this flow. *result is zeroed by the caller. Worker thread. first is a multiple of tx->segments. Called again with the
	 * first that was not sent, until that is refused: an error other than EINTR and EAGAIN. */
	void (*send)(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result);
};

extern const struct tx_ops tx_sendmmsg, tx_sendmsg, tx_sendto, tx_send, tx_write, tx_segment, tx_uring, tx_raw;

/* In tx_uring.c: 0 when this build and this kernel have the sender uring, with zero copy where that is asked for. Leaves nothing behind. Any thread. */
int tx_uring_check(bool zerocopy, struct err *err);

/* All senders, by enum tx_index; TX_AUTO has none. */
extern const struct tx_ops *const tx_table[];

/* Control messages: a time, and UDP_SEGMENT. */
struct tx_control {
	alignas(size_t) unsigned char data[CMSG_SPACE(sizeof(uint64_t)) + CMSG_SPACE(sizeof(uint16_t))]; /* aligned as struct cmsghdr */
};

/* One thread's sender with its memory. */
struct tx {
	const struct tx_ops *ops;
	struct payload payload;
	unsigned segments;       /* datagrams per message in force; 1 = plain */
	const atomic_bool *stop; /* as in struct tx_conf */
	struct addr *name;       /* destination of each slot; NULL: that of the connected socket; owned */
	void *own;               /* of ops->open */
	/* TX_GSO senders: message k holds slots k * segments and on */
	struct mmsghdr *message; /* one per slot, so that a GSO batch can be sent plain without allocating; owned */
	struct iovec *iov;       /* the same number; owned */
	bool timed;              /* each message has a time of its own: SCM_TXTIME */
	struct tx_control *control; /* timed: one per message; else one for all, as the kernel only reads it; owned */
};

/* Memory of a slot beside its datagram. */
#define TX_SLOT_BYTES \
	(sizeof(struct addr) + sizeof(struct mmsghdr) + sizeof(struct iovec) + sizeof(uint16_t) + sizeof(struct tx_control))

struct tx_conf {
	const struct tx_ops *ops;
	unsigned batch;      /* messages */
	unsigned segments;   /* datagrams per message, 1 = plain; more only with one size */
	bool timed;          /* messages carry times; TX_GSO senders only */
	bool zerocopy;       /* uring only */
	const atomic_bool *stop; /* ends a wait for the kernel; NULL: nothing does */
	bool addressed;      /* sockets are not connected: each datagram gets an address */
	struct addr dst;     /* where addresses are fixed: TX_ALWAYS */
	const struct raw *raw; /* TX_PACKETS */
	struct payload_conf payload; /* slots = batch * segments is set here */
};

/* Allocates everything; ends with tx_free also on failure. */
int tx_init(struct tx *tx, const struct tx_conf *conf, struct random *r, struct err *err);

/* From now on `segments` datagrams per message; 1 turns GSO off. No allocation: also while sending. */
void tx_layout(struct tx *tx, unsigned segments);

/* Where messages are timed: that of the message that begins at `slot`, in ns on the clock of SO_TXTIME. The layout forgets it. */
void tx_time(struct tx *tx, unsigned slot, uint64_t ns);

/* Lengths and, with addresses of their own, destinations for slots 0..n-1; a GSO message has one destination. */
void tx_draw(struct tx *tx, unsigned n, struct dst_walk *walk, struct random *r);

/* Messages that slots first..end-1 make; the last one is cut to what is left. tx_uncut restores it. */
unsigned tx_cut(struct tx *tx, unsigned first, unsigned end);
void tx_uncut(struct tx *tx, unsigned end);

void tx_free(struct tx *tx);

/* The loop of the senders that take one datagram per call; `one` sends a slot, negative = errno is set. */
static ALWAYS_INLINE void tx_each(struct tx *tx, const struct flow *flow, unsigned first, unsigned end, struct tx_result *result,
				  ssize_t (*one)(const struct tx *tx, int fd, unsigned slot))
{
	unsigned slot = first;

	while (slot < end && one(tx, flow->fd, slot) >= 0)
		slot++;
	result->error = slot < end ? errno : 0;
	result->sent = result->messages = slot - first;
	result->calls = slot - first + (slot < end);
}

/* sendmsg(2), message by message; sendmmsg(2), all at once. */
void tx_send_messages(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result);
void tx_send_batch(struct tx *tx, struct flow *flow, unsigned first, unsigned end, struct tx_result *result);

#endif
