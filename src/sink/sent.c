/* SPDX-License-Identifier: MIT */
#include "sink/sent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/record.h"
#include "base/util.h"

#define PATIENCE_MS 1000
#define MOST_BYTES (64 << 20)

/* -1: a file's name. */
static int descriptor(const char *from)
{
	uint64_t n;

	return strspn(from, "0123456789") == strlen(from) && !num_count(from, &n) && n <= INT32_MAX ? (int)n : -1;
}

int sent_check(const char *from, struct err *err)
{
	int fd = descriptor(from);

	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		return err_say(err, EBADF, "--sent-from %s: no open descriptor; a file of that name is ./%s", from, from);
	return 0;
}

/* Appends what can be read. 1: more may come, 0: that was all, or -errno. */
static int more(int fd, char **text, size_t *size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *grown = realloc(*text, *size + 65537);
	ssize_t n;

	if (!grown)
		return -ENOMEM;
	*text = grown;
	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return 0;
	n = read(fd, grown + *size, 65536);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	*size += (size_t)n;
	return *size > MOST_BYTES ? -EFBIG : n > 0;
}

static int read_text(const char *from, char **text, struct err *err)
{
	int fd = descriptor(from), own = -1, ret;
	size_t size = 0;

	if (fd < 0)
		fd = own = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ret = fd < 0 ? -errno : 1;
	while (ret > 0)
		ret = more(fd, text, &size);
	util_close(&own);
	if (ret)
		return err_sys(err, ret, "--sent-from %s", from);
	if (*text)
		(*text)[size] = '\0';
	return 0;
}

static uint64_t number(const json_t *o, const char *name)
{
	const json_t *n = json_object_get(o, name);

	return json_is_integer(n) && json_integer_value(n) >= 0 ? (uint64_t)json_integer_value(n) : LEDGER_UNKNOWN;
}

/* In several sums: what one of them does not know is not known of all. */
static void add(uint64_t *to, uint64_t n, bool first)
{
	*to = first ? n : *to == LEDGER_UNKNOWN || n == LEDGER_UNKNOWN ? LEDGER_UNKNOWN : *to + n;
}

static uint64_t refused(const json_t *sum)
{
	const json_t *by_errno = json_object_get(sum, "refused"), *n;
	const char *name;
	uint64_t all = 0;

	if (!json_is_object(by_errno))
		return LEDGER_UNKNOWN;
	json_object_foreach((json_t *)by_errno, name, n)
		all += (uint64_t)json_integer_value(n);
	return all;
}

/* Packets that the queueing discipline dropped of what is in `sent`. It counts other protocols too, and datagrams that the source was told of, which are refused
 * then. SndbufErrors are of UDP alone, where this kernel counts them at all (not for IPv6 everywhere). */
static uint64_t qdisc_drops(const json_t *sum)
{
	const json_t *loss = json_object_get(sum, "local_loss");
	uint64_t drops = number(loss, "qdisc_drops"), errors = number(loss, "sndbuf_errors"), told = number(json_object_get(sum, "refused"), "ENOBUFS");

	if (drops == LEDGER_UNKNOWN)
		return drops;
	if (told != LEDGER_UNKNOWN) {
		drops -= MIN(told, drops);
		errors -= errors == LEDGER_UNKNOWN ? 0 : MIN(told, errors);
	}
	return errors ? MIN(drops, errors) : drops;
}

static void add_sum(struct ledger_facts *f, const json_t *sum, bool first)
{
	const json_t *loss = json_object_get(sum, "local_loss");
	uint64_t segments = number(json_object_get(sum, "gso"), "segments"), trailers = number(sum, "trailers");

	add(&f->sent, number(sum, "sent"), first);
	add(&f->refused, refused(sum), first);
	add(&f->qdisc_drops, qdisc_drops(sum), first);
	add(&f->tx_dropped, number(loss, "tx_dropped"), first);
	f->trailers_sent = (first ? 0 : f->trailers_sent) + (trailers == LEDGER_UNKNOWN ? 0 : trailers); /* null: it sends none */
	f->trailers_after = 0;
	f->segments = first || segments == LEDGER_UNKNOWN ? segments : MAX(f->segments, segments);
}

static void add_probes(struct sent_probes *probes, const json_t *header, uint64_t netns)
{
	const json_t *gso = json_object_get(header, "gso");
	uint64_t datagrams = number(gso, "self_test_datagrams"), messages = number(gso, "self_test_messages");

	if (!netns || number(header, "netns_cookie") != netns || datagrams == LEDGER_UNKNOWN || messages == LEDGER_UNKNOWN)
		return;
	probes->datagrams += datagrams;
	probes->messages += messages;
}

static bool is(const json_t *record, const char *type)
{
	const json_t *is = json_object_get(record, "type");

	return json_is_string(is) && !strcmp(json_string_value(is), type);
}

static int take(const char *from, char *text, uint64_t netns, struct ledger_facts *out, struct sent_probes *probes, struct err *err)
{
	unsigned line = 0, sums = 0;
	char *rest = NULL;

	for (const char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
		json_t *record = json_loads(l, 0, NULL);

		line++;
		if (!json_is_object(record)) {
			json_decref(record);
			return err_say(err, ENODATA, "--sent-from %s: line %u is no JSON record (udp_source --format json)", from, line);
		}
		if (is(record, "header"))
			add_probes(probes, record, netns);
		if (is(record, "sum") && number(record, "sent") != LEDGER_UNKNOWN)
			add_sum(out, record, sums++ == 0);
		json_decref(record);
	}
	return sums ? 0 : err_say(err, ENODATA, "--sent-from %s: there is no sum record: has the source ended?", from);
}

int sent_read(const char *from, uint64_t netns, struct ledger_facts *out, struct sent_probes *probes, struct err *err)
{
	char *text = NULL;
	int ret = read_text(from, &text, err);

	*probes = (struct sent_probes){ 0 };
	if (!ret)
		ret = text ? take(from, text, netns, out, probes, err) : err_say(err, ENODATA, "--sent-from %s: is empty", from);
	free(text);
	return ret;
}
