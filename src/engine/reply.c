/* SPDX-License-Identifier: MIT */
#include "engine/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Datagrams in one GRO buffer at most (UDP_MAX_SEGMENTS, include/linux/udp.h: 64 before Linux 6.9, 128 since). */
#define GRO_SEGMENTS 128

#define DATA_ALIGN 8
#define LONGEST 65536 /* bytes; the longest datagram, rounded up */

struct reply_chunk {
	struct mmsghdr hdr[REPLY_CHUNK];
	struct iovec iov[REPLY_CHUNK];
	_Alignas(struct cmsghdr) unsigned char control[REPLY_CHUNK][REPLY_CONTROL];
};

int reply_open(struct reply_pool *pool, const struct engine_conf *conf, struct err *err)
{
	*pool = (struct reply_pool){ 0 };
	if (!conf->need_src)
		return 0;
	pool->max = conf->batch * (conf->gro ? GRO_SEGMENTS : 1);
	pool->size = conf->batch * conf->buffer_size + (size_t)pool->max * DATA_ALIGN + LONGEST;
	/* Not touched here: a run that answers nothing must not pay for it. The worker that uses it touches it first. */
	pool->reply = calloc(pool->max, sizeof(*pool->reply));
	pool->data = calloc(1, pool->size);
	pool->chunk = calloc(1, sizeof(*pool->chunk));
	if (pool->reply && pool->data && pool->chunk)
		return 0;
	reply_close(pool);
	return err_sys(err, ENOMEM, "memory for answers");
}

void reply_close(struct reply_pool *pool)
{
	free(pool->reply);
	free(pool->data);
	free(pool->chunk);
	*pool = (struct reply_pool){ 0 };
}

struct reply *reply_add(struct reply_pool *pool, struct batch *batch, const struct packet *packet, uint32_t capacity)
{
	if (!batch->nreplies) {
		pool->used = 0;
		batch->replies = pool->reply;
	}
	if (!packet->src || batch->nreplies == pool->max || capacity > pool->size - pool->used)
		return NULL;

	struct reply *reply = &pool->reply[batch->nreplies++];

	reply->data = pool->data + pool->used;
	reply->len = 0;
	reply->capacity = capacity;
	reply->sock = packet->sock;
	memcpy(&reply->dst, packet->src, offsetof(struct addr, ss) + packet->src->len);
	if (packet->info)
		reply->from = *packet->info;
	else
		reply->from.valid = 0;
	pool->used = MIN(pool->size, (pool->used + capacity + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN);
	return reply;
}

/* As many of reply[0 .. n) as leave by the same socket and fit, made into headers. */
static unsigned fill_chunk(struct reply_chunk *chunk, struct reply *reply, unsigned n, int family)
{
	unsigned i;

	for (i = 0; i < n && i < REPLY_CHUNK && reply[i].sock == reply[0].sock; i++) {
		struct msghdr *h = &chunk->hdr[i].msg_hdr;

		chunk->iov[i] = (struct iovec){ .iov_base = reply[i].data, .iov_len = reply[i].len };
		h->msg_name = &reply[i].dst.ss;
		h->msg_namelen = reply[i].dst.len;
		h->msg_iov = &chunk->iov[i];
		h->msg_iovlen = 1;
		h->msg_controllen = cmsg_reply(chunk->control[i], REPLY_CONTROL, &reply[i].from, family, false);
		h->msg_control = h->msg_controllen ? chunk->control[i] : NULL;
	}
	return i;
}

/* Sends hdr[0 .. n). The kernel stops at the first message that fails: after a success the count comes back and the error only at the
 * next try. An error may also be an old one of the socket (ICMP), so a message is tried twice before it counts as refused. */
static unsigned send_chunk(struct mmsghdr *hdr, unsigned n, int fd, struct batch *batch, int *late)
{
	unsigned done = 0, accepted = 0;
	int first = 0; /* what the first try of hdr[done] said */

	while (done < n) {
		int sent = sendmmsg(fd, &hdr[done], n - done, 0);
		int code = sent < 0 ? errno : EIO;

		if (sent > 0) {
			accepted += (unsigned)sent;
			done += (unsigned)sent;
		} else if (!first) {
			first = code;
			continue;
		} else {
			batch->refused++;
			batch->refused_errno = code;
			done++;
		}
		if (first && first != EINTR && (sent > 0 || first != code))
			*late = first;
		first = 0;
	}
	return accepted;
}

int reply_send(struct reply_pool *pool, const struct sock_set *set, struct batch *batch, int *late)
{
	unsigned accepted = 0;

	batch->refused = 0;
	batch->refused_errno = 0;
	for (unsigned done = 0; done < batch->nreplies;) {
		struct reply *reply = &batch->replies[done];
		const struct sock *sock = &set->sock[reply->sock];
		unsigned n = fill_chunk(pool->chunk, reply, batch->nreplies - done, sock->family);

		accepted += send_chunk(pool->chunk->hdr, n, sock->fd, batch, late);
		done += n;
	}
	batch->nreplies = 0;
	return (int)accepted;
}
