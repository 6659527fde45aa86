/* SPDX-License-Identifier: MIT */
/* What is an event and what is the end, and what is left behind: descriptors, half-built objects. */
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The next event; packets that come before it are not expected. */
static int next_event(struct rig *rig)
{
	do
		CHECK_EQUAL(rig, rig_recv(rig, rig->conf.batch), 0);
	while (!rig->batch.event && rig_waiting(rig));
	return rig->batch.event;
}

static void take_one(struct rig *rig, size_t size)
{
	int n;

	do
		n = rig_recv(rig, rig->conf.batch);
	while (!n && rig_waiting(rig));
	CHECK_EQUAL(rig, n, 1);
	CHECK_EQUAL(rig, rig->batch.packets[0].len, size);
}

/* A socket that is bound, so that nobody else has its port, and closed: nothing listens there. */
static void test_refused(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 8, 2048);

	struct sock *sock = rig_socket(&rig, "127.0.0.1", 0);
	int peer = rig_sender(&rig, "127.0.0.1", sock, 0, 0);
	struct addr name = rig_name(peer);

	CHECK_EQUAL(&rig, sock_connect(sock, &name, NULL), 0);
	rig_start(&rig, 1);
	util_close(&peer);
	for (int k = 0; k < 3; k++) {
		CHECK_EQUAL(&rig, send(sock->fd, "x", 1, 0), 1);
		CHECK_EQUAL(&rig, next_event(&rig), ECONNREFUSED);
	}

	/* The peer comes back under the same name, and receiving goes on. */
	peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_EQUAL(&rig, bind(peer, &name.sa, name.len), 0);
	CHECK_EQUAL(&rig, connect(peer, &sock->local.sa, sock->local.len), 0);
	rig_send(&rig, peer, 77, 1);
	take_one(&rig, 77);
	util_close(&peer);
	rig_stop(&rig);
}

/* Sends `sent` datagrams to an engine whose packet number `bad` has a bad pointer. Counts what comes. */
static void bad_pointer(const struct rig_case *c, unsigned batch, unsigned bad, unsigned sent, unsigned good)
{
	unsigned got = 0, faults = 0;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, batch, 2048);
	rig.conf.bad_ptr = bad;
	rig_cell(&rig, "%s %s batch %u bad %u", c->ops->name, rig_wait_name(c->wait), batch, bad);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_start(&rig, 1);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	for (unsigned i = 0; i < sent; i++)
		rig_send(&rig, fd, 100, i);
	while (got + faults < sent && rig_waiting(&rig)) {
		int n = rig_recv(&rig, batch);

		CHECK(&rig, n >= 0);
		CHECK(&rig, !rig.batch.event || rig.batch.event == EFAULT);
		/* What was lost was lost in its place: number got + faults was sent there. */
		for (int i = 0; i < n; i++)
			CHECK(&rig, rig_payload(rig.batch.packets[i].data, 100, got++ + faults, 0));
		faults += rig.batch.event == EFAULT;
	}
	CHECK_EQUAL(&rig, got, good);
	CHECK_EQUAL(&rig, faults, sent - good);
	CHECK_EQUAL(&rig, rig_recv(&rig, batch), 0);
	CHECK_EQUAL(&rig, rig.batch.event, 0);
	util_close(&fd);
	rig_stop(&rig);
}

static void test_bad_pointer(void **state)
{
	const struct rig_case *c = *state;
	const bool one = c->wait == ENGINE_WAIT_BLOCK && !(c->ops->caps & ENGINE_BATCH);

	bad_pointer(c, 1, 1, 3, 0);
	/* Two good ones, one lost, twice, and two more; an engine that never gets as far as the third buffer loses none. */
	bad_pointer(c, 8, 3, 8, one ? 8 : 6);
	bad_pointer(c, 8, 1, 2, 0);
}

/* A descriptor that is no socket: the end of the slot, not an event to go round with. */
static void test_fatal(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;
	int n;

	rig_init(&rig, c->ops, c->wait, 8, 2048);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_start(&rig, 1);

	int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	CHECK(&rig, file >= 0);
	/* read(2) would read it; a descriptor open for writing only is as useless to it as a file to the others. */
	if (!strcmp(c->ops->name, "read")) {
		util_close(&file);
		file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	/* epoll keeps watching the socket that it was given, so that one has to be ready. */
	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);
	int keep = fcntl(rig.sock[0].fd, F_DUPFD_CLOEXEC, 0);

	rig_send(&rig, fd, 10, 1);
	CHECK_EQUAL(&rig, dup3(file, rig.sock[0].fd, O_CLOEXEC), rig.sock[0].fd);
	do
		n = rig_recv(&rig, 8);
	while (!n && !rig.batch.event && rig_waiting(&rig));
	CHECK(&rig, n == -ENOTSOCK || n == -EBADF);
	util_close(&file);
	util_close(&fd);
	util_close(&keep);
	rig_stop(&rig);
}

static void test_probe(void **state)
{
	const struct rig_case *c = *state;
	unsigned before = open_descriptors();
	struct err err = ERR_INIT;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 32, 2048);
	if (engine_check(c->ops, &rig.conf, 1, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(open_descriptors(), before);
	c->ops->close(NULL);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_start(&rig, 1);
	rig_stop(&rig);
	assert_int_equal(open_descriptors(), before);
}

/* Opening with room for `spare` descriptors. */
static int open_with(struct rig *rig, unsigned spare, struct err *err)
{
	const struct engine_slot slot = { .cpu = -1, .socks = rig->index, .nsocks = 1, .max_socks = 1 };
	struct rlimit limit, tight;
	int next = dup(0), rc;

	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	tight = limit;
	tight.rlim_cur = (rlim_t)next + spare;
	setrlimit(RLIMIT_NOFILE, &tight);
	rc = rig->ops->open(&rig->run, &slot, &rig->engine, err);
	setrlimit(RLIMIT_NOFILE, &limit);
	return rc;
}

static void test_half_built(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;
	unsigned spare = 0;
	int rc;

	rig_init(&rig, c->ops, c->wait, 8, 2048);
	rig_socket(&rig, "127.0.0.1", 0);

	unsigned before = open_descriptors();

	for (;; spare++) {
		struct err err = ERR_INIT;

		rig.engine = (struct engine *)&rig;
		rc = open_with(&rig, spare, &err);
		if (!rc)
			break;
		CHECK_EQUAL(&rig, rc, -EMFILE);
		CHECK(&rig, !rig.engine && *err.text);
		CHECK_EQUAL(&rig, open_descriptors(), before);
	}
	CHECK(&rig, spare >= 1); /* each engine needs one at least: that of wake */
	rig_stop(&rig);
	CHECK_EQUAL(&rig, open_descriptors(), before - 1);
}

int main(int argc, char **argv)
{
	static struct rig_suite suite;

	rig_add(&suite, "R109 connection refused", test_refused, 0, NULL);
	rig_add(&suite, "bad pointer", test_bad_pointer, 0, NULL);
	rig_add(&suite, "useless descriptor", test_fatal, 0, NULL);
	rig_add(&suite, "nothing left behind", test_probe, 0, NULL);
	rig_add(&suite, "half built", test_half_built, 0, NULL);
	return rig_run(&suite, "contract/errors", argc, argv);
}
