/* SPDX-License-Identifier: MIT */
/* Answers: their source is the address that was asked, none is lost, and a refusal harms no other. */
#include "rig.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/time.h>

/* Receives until `want` packets were answered with their own payload. Returns the number accepted. */
static unsigned echo(struct rig *rig, unsigned want)
{
	unsigned accepted = 0, got = 0;

	while (got < want && rig_waiting(rig)) {
		int n = rig_recv(rig, rig->conf.batch);

		CHECK(rig, n >= 0);
		if (!n)
			continue;
		for (int i = 0; i < n; i++) {
			const struct packet *p = &rig->batch.packets[i];
			struct segment s;

			for (segment_start(&s, p); segment_next(&s);) {
				struct reply *reply = rig->ops->reply_buf(rig->engine, &rig->batch, p, s.len);

				CHECK(rig, reply && reply->capacity >= s.len);
				memcpy(reply->data, s.data, s.len);
				reply->len = s.len;
			}
		}
		got += (unsigned)n;

		unsigned made = rig->batch.nreplies;

		CHECK_EQUAL(rig, rig->ops->send(rig->engine, &rig->batch), made);
		CHECK_EQUAL(rig, rig->batch.refused, 0);
		CHECK_EQUAL(rig, rig->batch.nreplies, 0);
		accepted += made;
	}
	CHECK_EQUAL(rig, got, want);
	return accepted;
}

static void set_patience(int fd, int ms)
{
	struct timeval timeout = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

/* Reads one datagram of a client that waits for at most ms. Returns its length or -errno. */
static ssize_t answer(int fd, unsigned char *buf, size_t size, int ms)
{
	set_patience(fd, ms);

	ssize_t len = recv(fd, buf, size, 0);

	return len < 0 ? -errno : len;
}

/* Asks `host` from a connected client, which takes an answer from no other address. */
static void ask(struct rig *rig, const char *host)
{
	int fd = rig_sender(rig, host, &rig->sock[0], 0, 0);
	unsigned char buf[256];

	/* An empty answer is one, too. */
	for (size_t size = 0; size <= 200; size += 100) {
		rig_send(rig, fd, size, 5);
		CHECK_EQUAL(rig, echo(rig, 1), 1);
		CHECK_EQUAL(rig, answer(fd, buf, sizeof(buf), 2000), size);
		CHECK(rig, rig_payload(buf, size, 5, 0));
	}
	util_close(&fd);
}

static void open_echo(struct rig *rig, const struct rig_case *c, unsigned batch, const char *bind, unsigned want)
{
	rig_init(rig, c->ops, c->wait, batch, 2048);
	rig_cell(rig, "%s %s on %s want %x", c->ops->name, rig_wait_name(c->wait), bind, want);
	rig_socket(rig, bind, want);
	rig_start(rig, 1);
}

static void test_source(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_echo(&rig, c, 8, "0.0.0.0", CMSG_WANT_PKTINFO);
	ask(&rig, "127.0.0.1");
	ask(&rig, "127.0.0.2");
	ask(&rig, "127.0.0.5");
	rig_stop(&rig);
	open_echo(&rig, c, 8, "*", CMSG_WANT_PKTINFO);
	ask(&rig, "127.0.0.1");
	ask(&rig, "127.0.0.2");
	ask(&rig, "::1");
	rig_stop(&rig);
}

/* A socket bound to one address needs no control data for it. */
static void test_bound(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	open_echo(&rig, c, 8, "127.0.0.5", 0);
	ask(&rig, "127.0.0.5");
	rig_stop(&rig);
	open_echo(&rig, c, 8, "127.0.0.5", CMSG_WANT_PKTINFO);
	ask(&rig, "127.0.0.5");
	rig_stop(&rig);
	open_echo(&rig, c, 8, "::1", 0);
	ask(&rig, "::1");
	rig_stop(&rig);
}

/* Without pktinfo a wildcard socket answers from the address the route likes: the test above could fail. */
static void test_wrong_source(void **state)
{
	const struct rig_case *c = *state;
	unsigned char buf[16];
	struct rig rig;

	open_echo(&rig, c, 8, "0.0.0.0", 0);

	/* Not connected, so that the answer can be seen at all. */
	struct addr here = { .len = sizeof(here.in), .in = { .sin_family = AF_INET } }, to = here, from = { .len = sizeof(from.ss) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	here.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	addr_set_port(&to, addr_port(&rig.sock[0].local));
	CHECK_EQUAL(&rig, bind(fd, &here.sa, here.len), 0);
	CHECK_EQUAL(&rig, sendto(fd, "ask", 3, 0, &to.sa, to.len), 3);
	CHECK_EQUAL(&rig, echo(&rig, 1), 1);
	set_patience(fd, 2000);
	CHECK_EQUAL(&rig, recvfrom(fd, buf, sizeof(buf), 0, &from.sa, &from.len), 3);
	CHECK_EQUAL(&rig, ntohl(from.in.sin_addr.s_addr), INADDR_LOOPBACK);
	util_close(&fd);
	rig_stop(&rig);
}

/* More answers than one sendmmsg is given. */
static void test_many(void **state)
{
	const struct rig_case *c = *state;
	const unsigned many = 150;
	unsigned char buf[64];
	struct rig rig;

	open_echo(&rig, c, many, "127.0.0.1", 0);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	for (unsigned i = 0; i < many; i++)
		rig_send(&rig, fd, 40, i);
	CHECK_EQUAL(&rig, echo(&rig, many), many);
	for (unsigned i = 0; i < many; i++) {
		CHECK_EQUAL(&rig, answer(fd, buf, sizeof(buf), 2000), 40);
		CHECK(&rig, rig_payload(buf, 40, i, 0));
	}
	CHECK_EQUAL(&rig, answer(fd, buf, sizeof(buf), 1), -EAGAIN);
	util_close(&fd);
	rig_stop(&rig);
}

/* Receives exactly n packets into one batch, whatever the wait mode: all are there already. */
static void take_batch(struct rig *rig, unsigned n)
{
	while (rig_recv(rig, n) == 0 && rig_waiting(rig))
		;
	CHECK(rig, rig->batch.n >= 1);
}

/* The second of three is too long for a datagram. */
static void test_refused(void **state)
{
	const struct rig_case *c = *state;
	const uint32_t len[] = { 10, 65530, 30 };
	unsigned char buf[64];
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 3, 65535);
	rig_socket(&rig, "127.0.0.1", 0);
	rig_start(&rig, 1);

	int fd = rig_sender(&rig, "127.0.0.1", &rig.sock[0], 0, 0);

	for (int i = 0; i < 3; i++)
		rig_send(&rig, fd, 40, 1);
	take_batch(&rig, 3);
	for (int i = 0; i < 3; i++) {
		struct reply *reply = rig.ops->reply_buf(rig.engine, &rig.batch, &rig.batch.packets[0], len[i]);

		CHECK(&rig, reply);
		memset(reply->data, 0, len[i]);
		reply->len = len[i];
	}
	/* One answer per datagram, and there were three in the largest batch. */
	CHECK(&rig, !rig.ops->reply_buf(rig.engine, &rig.batch, &rig.batch.packets[0], 1));
	CHECK_EQUAL(&rig, rig.ops->send(rig.engine, &rig.batch), 2);
	CHECK_EQUAL(&rig, rig.batch.refused, 1);
	CHECK_EQUAL(&rig, rig.batch.refused_errno, EMSGSIZE);
	CHECK_EQUAL(&rig, answer(fd, buf, sizeof(buf), 2000), 10);
	CHECK_EQUAL(&rig, answer(fd, buf, sizeof(buf), 2000), 30);
	CHECK(&rig, !rig.ops->reply_buf(rig.engine, &rig.batch, &rig.batch.packets[0], UINT32_MAX));
	util_close(&fd);
	rig_stop(&rig);
}

/* An ICMP error that waits in the socket meets the next system call, which is a send: no answer is lost by it, and it is still reported. */
static void test_late_error(void **state)
{
	const struct rig_case *c = *state;
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 1, 2048);

	struct sock *sock = rig_socket(&rig, "127.0.0.1", 0);
	int peer = rig_sender(&rig, "127.0.0.1", sock, 0, 0);
	struct addr name = rig_name(peer);

	CHECK_EQUAL(&rig, sock_connect(sock, &name, NULL), 0);
	rig_start(&rig, 1);
	rig_send(&rig, peer, 40, 1);
	take_batch(&rig, 1);
	util_close(&peer);
	/* Refused by nobody's port: the error is now in the socket. */
	CHECK_EQUAL(&rig, send(sock->fd, "x", 1, 0), 1);

	struct reply *reply = rig.ops->reply_buf(rig.engine, &rig.batch, &rig.batch.packets[0], 5);

	CHECK(&rig, reply);
	memset(reply->data, 0, 5);
	reply->len = 5;
	peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_EQUAL(&rig, bind(peer, &name.sa, name.len), 0);
	CHECK_EQUAL(&rig, rig.ops->send(rig.engine, &rig.batch), 1);
	CHECK_EQUAL(&rig, rig.batch.refused, 0);

	unsigned char buf[16];

	CHECK_EQUAL(&rig, answer(peer, buf, sizeof(buf), 2000), 5);
	CHECK_EQUAL(&rig, rig_recv(&rig, 1), 0);
	CHECK_EQUAL(&rig, rig.batch.event, ECONNREFUSED);
	CHECK_EQUAL(&rig, rig_recv(&rig, 1), 0);
	CHECK_EQUAL(&rig, rig.batch.event, 0);
	util_close(&peer);
	rig_stop(&rig);
}

/* One GRO buffer, eleven answers, all from the address that was asked. */
static void test_gro(void **state)
{
	const struct rig_case *c = *state;
	const int segment = 1200;
	unsigned char buf[2048];
	struct rig rig;

	rig_init(&rig, c->ops, c->wait, 2, 65535);
	rig_socket(&rig, "*", CMSG_WANT_PKTINFO | CMSG_WANT_GRO);
	rig_start(&rig, 1);

	int fd = rig_sender(&rig, "127.0.0.2", &rig.sock[0], 0, 0);

	CHECK_EQUAL(&rig, setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	rig_send(&rig, fd, 12100, 1);
	CHECK_EQUAL(&rig, echo(&rig, 1), 11);
	for (size_t from = 0; from < 12100; from += 1200) {
		size_t len = MIN(12100 - from, 1200);

		CHECK_EQUAL(&rig, answer(fd, buf, sizeof(buf), 2000), len);
		CHECK(&rig, rig_payload(buf, len, 1, from));
	}
	util_close(&fd);
	rig_stop(&rig);
}

int main(int argc, char **argv)
{
	static struct rig_suite suite;
	const unsigned with_info = ENGINE_REPLY | ENGINE_CMSG;

	rig_add(&suite, "R04 R08 R10 R28 source of the answer", test_source, with_info, NULL);
	rig_add(&suite, "R02 bound to one address", test_bound, ENGINE_REPLY, NULL);
	rig_add(&suite, "R08 without pktinfo", test_wrong_source, ENGINE_REPLY, NULL);
	rig_add(&suite, "many answers", test_many, ENGINE_REPLY, NULL);
	rig_add(&suite, "refused answer", test_refused, ENGINE_REPLY, NULL);
	rig_add(&suite, "R109 late error", test_late_error, ENGINE_REPLY, NULL);
	rig_add(&suite, "R28 GRO", test_gro, with_info | ENGINE_GRO, NULL);
	return rig_run(&suite, "contract/reply", argc, argv);
}
