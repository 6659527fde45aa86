/* SPDX-License-Identifier: MIT */
#include "engine/mmsg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define PAGE 4096

/* No object lives there, so the kernel answers EFAULT. */
#define BAD_POINTER ((void *)1)

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

/* Zeroed, so that no padding of a header holds chance values, and thereby touched: the pages belong to the worker's node. */
static void *touched(size_t align, size_t size)
{
	size_t rounded = round_up(MAX(size, 1), align);
	void *p = aligned_alloc(align, rounded);

	return p ? memset(p, 0, rounded) : NULL;
}

/* Bytes from one payload buffer to the next: an odd number of cache lines, because equal starts at a power of two would all fall into
 * the same few sets of a cache. */
static size_t data_stride(size_t size)
{
	return (round_up(size, LINE) / LINE | 1) * LINE;
}

static size_t control_stride(const struct engine_conf *conf)
{
	return round_up(conf->control_size, _Alignof(struct cmsghdr));
}

static void arm_iovecs(struct mmsg *mmsg, const struct engine_conf *conf, unsigned i, unsigned extra)
{
	unsigned char *data = mmsg->data + i * data_stride(conf->buffer_size + extra);
	struct iovec *iov = &mmsg->iov[i * conf->nr_iovec];
	size_t piece = conf->no_copy ? 0 : conf->buffer_size / conf->nr_iovec + extra;

	for (unsigned k = 0; k < conf->nr_iovec; k++)
		iov[k] = (struct iovec){ .iov_base = data + k * piece, .iov_len = piece };
	if (i + 1 == conf->bad_ptr)
		iov[0].iov_base = BAD_POINTER;
	mmsg->hdr[i].msg_hdr.msg_iov = iov;
	mmsg->hdr[i].msg_hdr.msg_iovlen = conf->nr_iovec;
	mmsg->packet[i].data = conf->no_copy ? NULL : data;
}

static void arm(struct mmsg *mmsg, const struct engine_conf *conf, unsigned i, unsigned extra)
{
	struct msghdr *h = &mmsg->hdr[i].msg_hdr;

	arm_iovecs(mmsg, conf, i, extra);
	if (mmsg->src) {
		h->msg_name = &mmsg->name[i].ss;
		mmsg->packet[i].src = &mmsg->name[i];
	}
	if (conf->control_size)
		h->msg_control = mmsg->control + i * control_stride(conf);
	if (conf->parse)
		mmsg->packet[i].info = &mmsg->info[i];
	h->msg_namelen = mmsg->name_len;
	h->msg_controllen = mmsg->control_len;
}

static int allocate(struct mmsg *mmsg, const struct engine_conf *conf, unsigned extra, struct err *err)
{
	const size_t batch = conf->batch;

	mmsg->hdr = touched(LINE, batch * sizeof(*mmsg->hdr));
	mmsg->packet = touched(LINE, batch * sizeof(*mmsg->packet));
	mmsg->iov = touched(LINE, batch * conf->nr_iovec * sizeof(*mmsg->iov));
	mmsg->name = touched(LINE, batch * sizeof(*mmsg->name));
	mmsg->info = touched(LINE, batch * sizeof(*mmsg->info));
	mmsg->control = touched(LINE, batch * control_stride(conf));
	mmsg->data = touched(PAGE, batch * data_stride(conf->buffer_size + extra));
	if (mmsg->hdr && mmsg->packet && mmsg->iov && mmsg->name && mmsg->info && mmsg->control && mmsg->data)
		return 0;
	mmsg_close(mmsg);
	return err_sys(err, ENOMEM, "memory for %zu receive buffers of %zu bytes; lower --batch or --buffer-size", batch,
		       conf->buffer_size);
}

int mmsg_open(struct mmsg *mmsg, const struct engine_conf *conf, unsigned extra, struct err *err)
{
	*mmsg = (struct mmsg){
		.capacity = conf->no_copy ? 0 : (uint32_t)(conf->buffer_size / conf->nr_iovec * conf->nr_iovec),
		.name_len = conf->need_src ? sizeof(struct sockaddr_storage) : 0,
		.control_len = conf->control_size,
		.src = conf->need_src,
		.parse = conf->parse || conf->gro,
	};

	int rc = allocate(mmsg, conf, extra, err);

	for (unsigned i = 0; !rc && i < conf->batch; i++)
		arm(mmsg, conf, i, extra);
	return rc;
}

void mmsg_close(struct mmsg *mmsg)
{
	free(mmsg->hdr);
	free(mmsg->packet);
	free(mmsg->iov);
	free(mmsg->name);
	free(mmsg->info);
	free(mmsg->control);
	free(mmsg->data);
	*mmsg = (struct mmsg){ 0 };
}

void mmsg_cut(struct mmsg *mmsg, unsigned i)
{
	struct packet *p = &mmsg->packet[i];
	int flags = mmsg->hdr[i].msg_hdr.msg_flags;

	p->len = MIN(p->wire_len, mmsg->capacity);
	p->flags = (uint16_t)((flags & MSG_TRUNC ? PACKET_TRUNC : 0) | (flags & MSG_CTRUNC ? PACKET_CTRUNC : 0));
}

void mmsg_parse(struct mmsg *mmsg, unsigned i)
{
	const struct msghdr *h = &mmsg->hdr[i].msg_hdr;
	struct cmsg_info *info = &mmsg->info[i];

	cmsg_parse(h->msg_control, h->msg_controllen, info);
	mmsg->packet[i].segment = info->valid & CMSG_WANT_GRO ? info->gro_segment : 0;
}
