/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/table.h"

#define BATCH_MAX 1024  /* of struct engine_conf; also what one recvmmsg takes (UIO_MAXIOV) */
#define IOVEC_MAX 1024  /* UIO_MAXIOV */
#define BUFFER_MAX 65535

/* The classic ones in the order in which the upstream udp_sink cycles them. */
const struct engine_ops *const engine_table[] = {
	&engine_recvmmsg, &engine_recvmsg, &engine_read, &engine_recvfrom, &engine_recv, &engine_epoll, &engine_null, NULL,
};

/* What `auto` prefers: several datagrams per call first, then what can tell most about each. */
static const struct engine_ops *const preference[] = {
	&engine_recvmmsg, &engine_recvmsg, &engine_epoll, &engine_recvfrom, &engine_recv, &engine_read,
};

/* What an engine may lack, and what somebody asked for when that matters. */
static const struct {
	unsigned cap;
	const char *cannot;
	const char *asked; /* NULL: the control messages asked for */
} lacks[] = {
	{ ENGINE_SRC, "tell the source address", "the source of each datagram" },
	{ ENGINE_CMSG, "deliver control messages", NULL },
	{ ENGINE_STAMP, "deliver receive time stamps", "the kernel's receive time" },
	{ ENGINE_GRO, "receive coalesced buffers", "UDP_GRO" },
	{ ENGINE_WIRE_LEN, "receive without copying", "--no-copy" },
	{ ENGINE_IOVEC, "scatter a datagram over several buffers", "--nr-iovec" },
	{ ENGINE_MULTI, "block on more than one socket", "--wait block with several sockets per thread" },
};

static const struct {
	unsigned want;
	const char *name;
} messages[] = {
	{ CMSG_WANT_PKTINFO, "destination address" },
	{ CMSG_WANT_TTL, "TTL" },
	{ CMSG_WANT_TOS, "TOS" },
	{ CMSG_WANT_DROPS, "drop count" },
};

const struct engine_ops *engine_find(const char *name)
{
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return *ops;
	return NULL;
}

/* Appends to a text of `size` bytes; what does not fit is cut. */
static void PRINTF_LIKE(3, 4) append(char *text, size_t size, const char *format, ...)
{
	va_list args;

	if (!size)
		return;

	size_t used = strlen(text);

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

/* The capabilities that this configuration needs. */
static unsigned needs(const struct engine_conf *conf, unsigned socks_per_slot)
{
	unsigned caps = 0;

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (conf->parse & messages[i].want)
			caps |= ENGINE_CMSG;
	if (conf->need_src)
		caps |= ENGINE_SRC;
	if (conf->parse & CMSG_WANT_STAMP)
		caps |= ENGINE_STAMP;
	if (conf->gro || conf->parse & CMSG_WANT_GRO)
		caps |= ENGINE_GRO;
	if (conf->no_copy)
		caps |= ENGINE_WIRE_LEN;
	if (conf->nr_iovec > 1)
		caps |= ENGINE_IOVEC;
	if (conf->wait == ENGINE_WAIT_BLOCK && socks_per_slot > 1)
		caps |= ENGINE_MULTI;
	return caps;
}

/* "destination address, TTL" */
static void name_messages(unsigned parse, char *text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (parse & messages[i].want)
			append(text, size, "%s%s", *text ? ", " : "", messages[i].name);
}

/* "; use recvmsg, recvmmsg or epoll": engines on sockets that have all of caps. */
static void name_others(unsigned caps, char *text, size_t size)
{
	const struct engine_ops *other[ARRAY_SIZE(engine_table)];
	unsigned n = 0;

	for (const struct engine_ops *const *ops = engine_table; *ops; ops++)
		if (((*ops)->caps & caps) == caps && !((*ops)->caps & ENGINE_NO_SOCKET))
			other[n++] = *ops;
	for (unsigned i = 0; i < n; i++)
		append(text, size, "%s%s", !i ? "; use " : i + 1 < n ? ", " : " or ", other[i]->name);
	if (n && caps & ENGINE_MULTI)
		append(text, size, ", or --wait poll");
}

/* The first thing that the engine lacks. */
static int check_caps(const struct engine_ops *ops, const struct engine_conf *conf, unsigned caps, struct err *err)
{
	char others[160] = "", asked[80] = "";

	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++) {
		if (!(lacks[i].cap & caps & ~ops->caps))
			continue;
		name_messages(conf->parse, asked, sizeof(asked));
		name_others(caps, others, sizeof(others));
		return err_say(err, EOPNOTSUPP, "engine %s: cannot %s (asked: %s)%s", ops->name, lacks[i].cannot,
			       lacks[i].asked ? lacks[i].asked : asked, others);
	}
	return 0;
}

static int check_range(const char *what, uint64_t value, uint64_t min, uint64_t max, struct err *err)
{
	if (value >= min && value <= max)
		return 0;
	return err_say(err, EINVAL, "%s %llu: must be %llu to %llu", what, (unsigned long long)value, (unsigned long long)min,
		       (unsigned long long)max);
}

/* Limits that hold for every engine. */
static int check_limits(const struct engine_conf *conf, struct err *err)
{
	int rc = check_range("--batch", conf->batch, 1, BATCH_MAX, err);

	if (!rc)
		rc = check_range(conf->gro ? "--buffer-size with UDP_GRO" : "--buffer-size", conf->buffer_size,
				 conf->gro ? BUFFER_MAX : 1, BUFFER_MAX, err);
	if (!rc)
		rc = check_range("--nr-iovec", conf->nr_iovec, 1, MIN(conf->buffer_size, IOVEC_MAX), err);
	if (!rc)
		rc = check_range("the packet number of --use-bad-ptr", conf->bad_ptr, 0, conf->batch, err);
	if (!rc && (conf->parse || conf->gro) && !conf->control_size)
		rc = err_say(err, EINVAL, "control messages are to be read, but there is no buffer for them");
	return rc;
}

int engine_check(const struct engine_ops *ops, const struct engine_conf *conf, unsigned socks_per_slot, struct err *err)
{
	int rc = check_limits(conf, err);

	if (!rc)
		rc = check_caps(ops, conf, needs(conf, socks_per_slot), err);
	return rc || !ops->probe ? rc : ops->probe(conf, err);
}

const struct engine_ops *engine_auto(const struct engine_conf *conf, unsigned socks_per_slot, char *why, size_t size)
{
	if (size)
		*why = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(preference); i++) {
		struct err err = ERR_INIT;

		if (!engine_check(preference[i], conf, socks_per_slot, &err)) {
			append(why, size, "%s: chosen, the first of the order of preference that can do what was asked\n",
			       preference[i]->name);
			return preference[i];
		}
		append(why, size, "%s: passed over: %s\n", preference[i]->name, err.text);
	}
	return NULL;
}

/* SIGURG: ignored by default, so that one which comes before or after our handler harms nobody, and debuggers pass it on silently. */
int engine_wake_signal(void)
{
	return SIGURG;
}

static void interrupt_only(int signal UNUSED)
{
}

int engine_init(struct err *err)
{
	struct sigaction action = { .sa_handler = interrupt_only }; /* no SA_RESTART: the blocked call is to end */

	sigemptyset(&action.sa_mask);
	if (sigaction(engine_wake_signal(), &action, NULL) < 0)
		return err_sys(err, errno, "sigaction for the wake signal");
	return 0;
}
