/* SPDX-License-Identifier: MIT */
/*
 * tx - the senders: one small table of operations, one file per system call.
 *
 * A sender takes datagrams out of the slots of struct payload, in order, and says how many the kernel accepted.
 * It knows nothing of counting, pacing or flows: those are worker.c. Adding a sender: a file tx_NAME.c, an entry
 * in tx_table, enum tx_index and TX_NAMES.
 */
#ifndef SOURCE_TX_H
#define SOURCE_TX_H

#include <errno.h>
#include <stdalign.h>
#include <sys/socket.h>

#include "net/addr.h"
#include "source/payload.h"

/* Order of tx_table, and of the choices of --sender. */
enum tx_index { TX_SENDMMSG, TX_SENDMSG, TX_SENDTO, TX_SEND, TX_WRITE };
#define TX_NAMES "sendmmsg|sendmsg|sendto|send|write"

enum tx_cap {
	TX_GSO = 1 << 0,   /* a message may hold several datagrams (UDP_SEGMENT control message) */
	TX_BATCH = 1 << 1, /* one system call takes several messages */
};

/* What one call of send did. Either sent > 0 or error != 0 (both: error belongs to the datagram behind the last
 * one sent). */
struct tx_result {
	unsigned sent;     /* datagrams accepted, a prefix of those given */
	unsigned messages; /* messages accepted: what UdpOutDatagrams counts */
	unsigned calls;    /* system calls made */
	int error;         /* positive errno, 0 = none. sendmmsg does not tell the error behind a short count: it shows
	                      itself at the next call, or not at all when it was of the passing kind */
};

struct tx;

struct tx_ops {
	const char *name;
	unsigned caps; /* enum tx_cap */
	/* Sends slots first..end-1 through the connected socket fd. *result is zeroed by the caller. Worker
	 * thread. first is a multiple of tx->segments. */
	void (*send)(struct tx *tx, int fd, unsigned first, unsigned end, struct tx_result *result);
};

extern const struct tx_ops tx_sendmmsg, tx_sendmsg, tx_sendto, tx_send, tx_write;

/* All senders, by enum tx_index. */
extern const struct tx_ops *const tx_table[];

/* One thread's sender with its memory. */
struct tx {
	const struct tx_ops *ops;
	struct payload payload;
	unsigned segments;       /* datagrams per message in force; 1 = plain */
	struct addr dst;         /* for sendto */
	/* TX_GSO senders: message k holds slots k * segments and on */
	struct mmsghdr *message; /* one per slot, so that a GSO batch can be sent plain without allocating; owned */
	struct iovec *iov;       /* the same number; owned */
	/* UDP_SEGMENT, shared by all messages: the kernel only reads it */
	alignas(size_t) unsigned char control[CMSG_SPACE(sizeof(uint16_t))]; /* aligned as struct cmsghdr */
};

struct tx_conf {
	const struct tx_ops *ops;
	unsigned batch;      /* messages */
	unsigned segments;   /* datagrams per message, 1 = plain */
	size_t size;         /* bytes per datagram */
	uint32_t run;
	bool pktgen;
	struct addr dst;
};

/* Allocates everything; ends with tx_free also on failure. */
int tx_init(struct tx *tx, const struct tx_conf *conf, struct err *err);

/* From now on `segments` datagrams per message; 1 turns GSO off. No allocation: also while sending. */
void tx_layout(struct tx *tx, unsigned segments);

/* Messages that slots first..end-1 make; the last one is cut to what is left. tx_uncut restores it. */
unsigned tx_cut(struct tx *tx, unsigned first, unsigned end);
void tx_uncut(struct tx *tx, unsigned end);

void tx_free(struct tx *tx);

/* The loop of the senders that take one datagram per call; `one` sends a slot, negative = errno is set. */
static ALWAYS_INLINE void tx_each(struct tx *tx, int fd, unsigned first, unsigned end,
				  struct tx_result *result,
				  ssize_t (*one)(const struct tx *tx, int fd, unsigned slot))
{
	for (unsigned slot = first; slot < end; slot++) {
		result->calls++;
		if (one(tx, fd, slot) < 0) {
			result->error = errno;
			break;
		}
		result->sent++;
		result->messages++;
	}
}

#endif
