/* SPDX-License-Identifier: MIT */
/*
 * engine - the contract between the receive engines and everything that uses them.
 *
 * An engine is a way to get datagrams out of the kernel: one file, one `const struct engine_ops`. This header is all that a user or
 * an author of an engine needs to read. Three scopes:
 *
 *   run    what exists once: sockets (owned by main, see net/sockset.h), programs, maps      prepare / quiesce / teardown
 *   slot   one worker thread with its sockets or queues                                      open / add / close
 *   batch  what one call of recv brought                                                     recv / reply_buf / send / release
 *
 * Threads. Each op says on which thread it may run. A slot belongs to the worker that opened it, except wake() (any thread, any
 * signal handler), counters() (control thread, while the worker runs) and close() (control thread after the join, or the worker when open fails).
 *
 * Errors. Set-up ops return 0 or -errno and write one sentence into *err. recv/send write no sentences: an event (ECONNREFUSED,
 * EINTR, EFAULT, ...) is reported in batch.event to be counted, and only what makes the slot useless is returned as -errno.
 *
 * Memory. Packets and reply buffers belong to the engine. After release(batch) nothing of the batch may be touched. No op between
 * open and close allocates, logs, or reads a clock, with the exception of add (an event per flow, not per packet).
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "net/addr.h"
#include "net/cmsg.h"
#include "net/sockset.h"

/* ------------------------------------------------------------------ what an engine can do */

enum engine_cap {
	ENGINE_SRC = 1 << 0,        /* packets carry the source address */
	ENGINE_CMSG = 1 << 1,       /* control messages: pktinfo, TTL, TOS, drops (which of them: what the socket was asked for) */
	ENGINE_TRUNC = 1 << 2,      /* knows when a datagram was cut */
	ENGINE_WIRE_LEN = 1 << 3,   /* knows the real length of a cut datagram */
	ENGINE_STAMP = 1 << 4,      /* kernel receive time stamps */
	ENGINE_GRO = 1 << 5,        /* can hand over coalesced buffers */
	ENGINE_REPLY = 1 << 6,      /* reply_buf and send exist */
	ENGINE_MULTI = 1 << 7,      /* several sockets in a slot under every wait mode (the others: only under poll and spin) */
	ENGINE_BATCH = 1 << 8,      /* one system call may bring more than one datagram */
	ENGINE_NO_SOCKET = 1 << 9,  /* uses no sockets at all (null) */
	ENGINE_CLASSIC = 1 << 10,   /* member of the upstream set: cycled when no engine is named */
	ENGINE_IOVEC = 1 << 11,     /* takes nr_iovec > 1 */
};

/* ------------------------------------------------------------------ run scope */

enum engine_wait {
	ENGINE_WAIT_BLOCK, /* block in the receive call itself; one socket per slot */
	ENGINE_WAIT_POLL,  /* drain without blocking, then wait for sockets and the wake descriptor */
	ENGINE_WAIT_SPIN,  /* never sleep */
};

/* Constant during a run. Filled by the program. */
struct engine_conf {
	unsigned batch;         /* largest number of packets in a batch, 1..1024 */
	size_t buffer_size;     /* bytes of payload memory per packet, 1..65535 (GRO: 65535) */
	unsigned nr_iovec;      /* the buffer is handed over in so many equal pieces, >= 1 (recvmsg family only) */
	enum engine_wait wait;
	uint64_t sk_timeout_ns; /* SO_RCVTIMEO under block; 0 = ENGINE_TICK_NS */
	int64_t mmsg_timeout_ns;/* timeout argument of recvmmsg; -1 = none. It is looked at only after a datagram: never relied on to stop */
	bool waitforone;        /* MSG_WAITFORONE: return with what is there instead of filling the batch */
	bool no_copy;           /* zero-length buffers and MSG_TRUNC: the payload is not copied */
	unsigned parse;         /* enum cmsg_want bits that handlers will read: packet.info is filled only for these */
	bool need_src;          /* handlers will read packet.src */
	unsigned control_size;  /* bytes of control buffer per packet (cmsg_space of what the sockets deliver), 0 = none */
	unsigned bad_ptr;       /* fault test: packet number N of a batch (from 1) gets a bad buffer pointer; 0 = none */
	bool gro;               /* sockets have UDP_GRO on */
	unsigned work_payload;  /* null engine: payload bytes of each synthetic packet */
	uint64_t null_limit;    /* null engine: end after so many packets; 0 = none */
};

/* A blocked recv looks up at least this often, whatever happens to signals. */
#define ENGINE_TICK_NS (100 * UINT64_C(1000000))

struct engine_run {
	const struct engine_conf *conf;
	struct sock_set *set; /* NULL for an engine without sockets */
	void *priv;           /* the engine's own, from prepare to teardown */
};

/* ------------------------------------------------------------------ slot scope */

struct engine_slot {
	unsigned index;        /* 0.. */
	int cpu;               /* the worker is pinned there already; -1 = not pinned */
	const unsigned *socks; /* indexes into run->set, nsocks of them */
	unsigned nsocks;
	unsigned max_socks;    /* with add: never more than this */
};

struct engine; /* opaque: each engine embeds what it needs */

/* ------------------------------------------------------------------ batch scope */

enum packet_flag {
	PACKET_TRUNC = 1 << 0,  /* stored length is less than the datagram's */
	PACKET_CTRUNC = 1 << 1, /* control data was cut: packet.info is not complete */
	PACKET_BAD = 1 << 2,    /* the engine could not make sense of it (counted, not handed to handlers) */
};

/* One datagram, or under GRO one buffer with several datagrams of `segment` bytes (the last may be shorter). */
struct packet {
	unsigned char *data;          /* len bytes; contiguous also with nr_iovec > 1; NULL under no_copy */
	uint32_t len;                 /* bytes stored */
	uint32_t wire_len;            /* bytes of UDP payload that were sent; == len where not known and not truncated */
	uint16_t flags;               /* enum packet_flag */
	uint16_t sock;                /* index into the sock_set */
	uint32_t segment;             /* GRO segment size; 0 = one datagram */
	const struct addr *src;       /* source, or NULL when not asked for or not known */
	const struct cmsg_info *info; /* control data, or NULL; look at info->valid: never guesses */
};

/* Datagrams in this buffer. */
static inline uint32_t packet_datagrams(const struct packet *p)
{
	return p->segment && p->wire_len > p->segment ? (p->wire_len + p->segment - 1) / p->segment : 1;
}

/* Iterates over the datagrams of one packet: the only way handlers look at payload.
 *   struct segment s; segment_start(&s, packet); while (segment_next(&s)) use(s.data, s.len); */
struct segment {
	const unsigned char *data;
	uint32_t len;   /* bytes stored of this datagram */
	uint32_t left;  /* bytes stored after it */
	uint32_t size;
	bool first;
};

static inline void segment_start(struct segment *s, const struct packet *p)
{
	s->data = p->data;
	s->len = 0;
	s->left = p->len;
	s->size = p->segment ? p->segment : p->len;
	s->first = true;
}

static inline bool segment_next(struct segment *s)
{
	if (!s->left && !s->first)
		return false;
	s->first = false;
	s->data += s->data ? s->len : 0;
	s->len = s->left < s->size ? s->left : s->size;
	s->left -= s->len;
	return true;
}

/* An answer under construction. Its memory is apart from every request: under GRO the next segment lives behind the request. */
struct reply {
	unsigned char *data;     /* capacity bytes, written by the handler */
	uint32_t len;            /* set by the handler; 0 is a valid (empty) answer */
	uint32_t capacity;
	uint16_t sock;           /* socket it leaves by: that of the request */
	struct addr dst;         /* filled from the request's source */
	struct cmsg_info from;   /* filled from the request's control data: source address = destination of the request */
};

struct batch {
	/* in */
	unsigned limit;        /* at most so many packets this time, 1..conf.batch (to stop exactly at a count) */
	/* out of recv; valid until release */
	struct packet *packets;
	unsigned n;
	uint32_t calls;        /* receive system calls made */
	uint32_t empty_polls;  /* of these, how many found nothing (EAGAIN) */
	int event;             /* errno of an event met in this call, 0 = none; packets received before it are in the batch */
	bool drained;          /* the queue was seen empty after the last packet */
	uint64_t waited_ns;    /* recv waited so long in vain before it returned (0 = it did not, or not known). With n > 0: a batch that
	                          recvmmsg under block wanted to fill and that the socket time-out ended: its last packet is that old */
	/* replies; valid from reply_buf to send */
	struct reply *replies;
	unsigned nreplies;
	unsigned refused;      /* out of send: replies that the kernel did not take */
	int refused_errno;     /* the errno of the last of them */
};

/* Drops that happen inside the engine, not in the socket. Control thread reads them; 0 where an engine has none. */
struct engine_counters {
	uint64_t ring_drops;   /* lost because a ring of the engine was full */
};

/* ------------------------------------------------------------------ the table */

struct engine_ops {
	const char *name;
	const char *summary; /* one line for --list-engines */
	const char *label;   /* name in the classic format ("recvMmsg") */
	unsigned caps;       /* enum engine_cap */

	/* main. Can it run here with this configuration? Leaves nothing behind. 0, or -errno with the sentence that says which system call,
	 * sysctl, option or package is in the way. */
	int (*probe)(const struct engine_conf *conf, struct err *err);

	/* main. Objects that exist once. Any may be NULL: nothing to do. quiesce runs before sockets close; teardown after all slots are closed. */
	int (*prepare)(struct engine_run *run, struct err *err);
	void (*quiesce)(struct engine_run *run);
	void (*teardown)(struct engine_run *run);

	/* worker, after pinning (first touch on the right node). Allocates everything. On failure frees everything and leaves *out NULL. */
	int (*open)(struct engine_run *run, const struct engine_slot *slot, struct engine **out, struct err *err);

	/* worker. A socket that joined the set while running (--connect-each); NULL: not possible. 0 or -errno. */
	int (*add)(struct engine *engine, unsigned sock);

	/* worker. Fills *batch. Returns > 0 packets; 0 = time-out, woken, or an event; < 0 = -errno, the slot is of no more use.
	 * Bounded: at most batch->limit packets; at most batch->limit + 1 system calls for receiving once a packet came (before that: one per
	 * socket and round, one round after the wait, under spin about a thousand); one wait of at most ENGINE_TICK_NS (under block: sk_timeout_ns,
	 * and recvmmsg without waitforone waits so long for each packet of its batch). Re-arms every value-result field itself. */
	int (*recv)(struct engine *engine, struct batch *batch);

	/* worker. Memory for an answer to this packet of this batch with room for `capacity` bytes: the next of batch->replies, addressed. NULL: no
	 * room (more answers than datagrams, too long, or the packet has no source). */
	struct reply *(*reply_buf)(struct engine *engine, struct batch *batch, const struct packet *packet, uint32_t capacity);

	/* worker. Sends batch->replies and sets nreplies to 0; a partial send is resumed. Returns the number accepted, or -errno. The engine
	 * owns the buffers from here on. */
	int (*send)(struct engine *engine, struct batch *batch);

	/* worker, at stop. Waits (bounded) for sends in flight. NULL: sends are synchronous. */
	int (*flush)(struct engine *engine);

	/* worker. Gives the receive buffers back. NULL: nothing to give back. */
	void (*release)(struct engine *engine, struct batch *batch);

	/* any thread, async-signal-safe. A recv that is blocked now, or the next one, returns soon. Under block a wake that comes just before the system call is
	 * entered can be lost: the caller repeats it until the worker is gone. */
	void (*wake)(struct engine *engine);

	/* control, while running. NULL: none. */
	void (*counters)(struct engine *engine, struct engine_counters *out);

	/* control after the join, or the worker on the error path. NULL and half-built objects are accepted. */
	void (*close)(struct engine *engine);
};

/* All engines that were built in, ended by NULL; order of --list-engines. */
extern const struct engine_ops *const engine_table[];

/* By name, or NULL. */
const struct engine_ops *engine_find(const char *name);

/* Is the configuration within what the engine can do (caps, wait mode, sockets per slot, batch)? Then its own probe. 0 or -errno with a sentence. Main. */
int engine_check(const struct engine_ops *ops, const struct engine_conf *conf, unsigned socks_per_slot, struct err *err);

/* `auto`: the first of a fixed order of preference that engine_check accepts. why: one line per engine passed over, and which was chosen. */
const struct engine_ops *engine_auto(const struct engine_conf *conf, unsigned socks_per_slot, char *why, size_t size);

/* The signal that wake() sends under ENGINE_WAIT_BLOCK. engine_init installs a handler that does nothing (no SA_RESTART); workers must not block
 * it, all other threads must. Main, once, before threads exist. */
int engine_wake_signal(void);
int engine_init(struct err *err);

#endif
