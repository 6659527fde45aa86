/* SPDX-License-Identifier: MIT */
/* R96: who may share a port with whom, and the sentences for those who may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sockset.h"
#include "tap.h"

enum kind { PLAIN, SHARED, GROUP, EACH, JOIN, NONE };

static struct sockset_conf conf_kind(enum kind kind, const struct addr *listen)
{
	struct sockset_conf conf =
		conf_of(listen, 1, kind == GROUP || kind == JOIN || kind == SHARED ? 2 : 1);

	conf.shared = kind == SHARED;
	conf.group = kind == GROUP;
	conf.join = kind == JOIN;
	conf.reserve = kind == EACH ? 2 : 0;
	return conf;
}

static void test_sharing(void **state)
{
	static const char *const hosts[] = { "127.0.0.1", "::1", "::", "0.0.0.0" };

	(void)state;
	NEED_IPV6();
	for (size_t h = 0; h < ARRAY_SIZE(hosts); h++)
		for (enum kind first = PLAIN; first < NONE; first++)
			for (enum kind second = PLAIN; second < NONE; second++) {
				struct addr listen = parsed(hosts[h]);
				struct sockset_conf conf = conf_kind(first, &listen);
				struct sock_set a, b;

				open_ok(&a, &conf);
				listen = a.sock[0].local;
				conf = conf_kind(second, &listen);
				if (first == JOIN && second == JOIN) {
					open_ok(&b, &conf);
					assert_int_equal(sockset_others(&b, &listen), 2);
					sockset_close(&b);
				} else {
					open_refused(&conf, EADDRINUSE, "use");
				}
				sockset_close(&a);
				/* Nothing is left of the first: whoever was refused can start now. */
				open_ok(&b, &conf);
				assert_int_equal(sockset_others(&b, &listen), 0);
				sockset_close(&b);
			}
}

static void test_sentences(void **state)
{
	struct addr listen = parsed("127.0.0.1");
	struct sockset_conf conf = conf_kind(GROUP, &listen);
	char text[ADDR_TEXT];
	struct sock_set set;

	(void)state;
	open_ok(&set, &conf);
	listen = set.sock[0].local;
	addr_format(&listen, text, sizeof(text));
	conf = conf_kind(JOIN, &listen);
	open_refused(&conf, EADDRINUSE,
		     "in use by another udpsink whose --threads group does not share its port");
	open_refused(&conf, EADDRINUSE, text);
	conf = conf_kind(GROUP, &listen);
	open_refused(&conf, EADDRINUSE, "Address already in use; ");
	open_refused(&conf, EADDRINUSE, text);
	conf = conf_kind(PLAIN, &listen);
	open_refused(&conf, EADDRINUSE, "Address already in use; ");
	sockset_close(&set);
}

/* A joiner must not take a share through a more specific address of a wildcard group; what does not overlap is no
 * matter. */
static void test_overlap(void **state)
{
	static const struct {
		const char *group, *joiner;
		enum sock_v6only v6only;
		bool allowed;
	} rows[] = {
		{ "0.0.0.0", "127.0.0.1", SOCK_V6ONLY_OFF, false },
		{ "::", "127.0.0.1", SOCK_V6ONLY_OFF, false },
		{ "::", "::1", SOCK_V6ONLY_OFF, false },
		{ "::", "0.0.0.0", SOCK_V6ONLY_OFF, false },
		{ "::", "::1", SOCK_V6ONLY_ON, false },
		{ "::", "127.0.0.1", SOCK_V6ONLY_ON, true },
		{ "127.0.0.1", "127.0.0.2", SOCK_V6ONLY_OFF, true },
		{ "127.0.0.1", "::1", SOCK_V6ONLY_OFF, true },
		{ "::ffff:127.0.0.1", "127.0.0.1", SOCK_V6ONLY_OFF, false },
		{ "0.0.0.0", "::", SOCK_V6ONLY_OFF, false },
	};

	(void)state;
	NEED_IPV6();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct addr listen = parsed(rows[i].group), joiner = parsed(rows[i].joiner);
		struct sockset_conf conf = conf_kind(GROUP, &listen);
		struct sock_set a, b;

		conf.sock.v6only = rows[i].v6only;
		open_ok(&a, &conf);
		addr_set_port(&joiner, addr_port(&a.sock[0].local));
		conf = conf_kind(JOIN, &joiner);
		if (rows[i].allowed) {
			open_ok(&b, &conf);
			sockset_close(&b);
		} else {
			open_refused(&conf, EADDRINUSE, "--threads group");
		}
		sockset_close(&a);
	}
}

/* The addresses of one group may not overlap either: with SO_REUSEPORT the kernel would let them. */
static void test_overlap_inside(void **state)
{
	struct addr listen[] = { parsed("127.0.0.1"), parsed("0.0.0.0") };
	struct sockset_conf conf = conf_of(listen, 1, 1);
	struct sock_set set;

	(void)state;
	open_ok(&set, &conf); /* for a port that is free */
	addr_set_port(&listen[0], addr_port(&set.sock[0].local));
	addr_set_port(&listen[1], addr_port(&set.sock[0].local));
	sockset_close(&set);
	conf = conf_of(listen, 2, 2);
	conf.group = true;
	open_refused(&conf, EADDRINUSE, "0.0.0.0:");
}

/* A program that is not ours shares with SO_REUSEPORT: the probe finds it. */
static void test_stranger(void **state)
{
	struct sock_conf reuse = { .reuse_port = true, .tos = -1, .ttl = -1 };
	struct sock stranger = opened("127.0.0.1", &reuse);
	struct addr listen = stranger.local;
	struct sockset_conf conf = conf_kind(GROUP, &listen);
	struct sock_set set;

	(void)state;
	open_refused(&conf, EADDRINUSE, "Address already in use");
	conf = conf_kind(JOIN, &listen);
	open_ok(&set, &conf);
	assert_int_equal(sockset_others(&set, &listen), 1);
	sockset_close(&set);
	conf.steer_cpu = true;
	open_refused(&conf, EBUSY, "--use-bpf");
	conf = conf_kind(JOIN, &listen);
	conf.slots = 1;
	conf.groups = (const char *const[]){ "239.1.2.3%lo" };
	conf.ngroups = 1;
	open_refused(&conf, EBUSY, "--join");
	sock_close(&stranger);
}

/* Sockets bound to different devices do not share, and the device is part of the mark. */
static void test_device(void **state)
{
	struct addr listen = parsed("127.0.0.1");
	struct sockset_conf conf = conf_kind(GROUP, &listen);
	struct sock_set set;

	(void)state;
	conf.sock.device = "lo";
	open_ok(&set, &conf);
	listen = set.sock[0].local;
	conf = conf_kind(JOIN, &listen);
	conf.sock.device = "lo";
	open_refused(&conf, EADDRINUSE, "--threads group");
	sockset_close(&set);
	/* A group of any device is also held by one that would join for lo only. */
	conf = conf_kind(GROUP, &listen);
	open_ok(&set, &conf);
	conf = conf_kind(JOIN, &listen);
	conf.sock.device = "lo";
	open_refused(&conf, EADDRINUSE, "--threads group");
	sockset_close(&set);
}

/* Opens one kind, says how it went, and holds it until the other side has tried too. Returns 0 when it got the port. */
static int try_and_hold(enum kind kind, const struct addr *listen, int to, int from)
{
	struct sockset_conf conf = conf_kind(kind, listen);
	struct sock_set set;
	int rc = sockset_open(&set, &conf, NULL);
	char done = 'x';

	if (write(to, &done, 1) != 1 || read(from, &done, 1) != 1)
		rc = -EPIPE;
	sockset_close(&set);
	return rc;
}

/* Two instances that start at the same moment, one of which does not share: never do both get the port. */
static void race(enum kind ours, enum kind theirs, const struct addr *listen)
{
	int there[2], back[2], status, rc;
	pid_t pid;

	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(try_and_hold(theirs, listen, back[1], there[0]) ? 1 : 0);
	assert_true(pid > 0);
	rc = try_and_hold(ours, listen, there[1], back[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(rc == 0 || rc == -EADDRINUSE);
	assert_false(rc == 0 && WEXITSTATUS(status) == 0);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static void test_race(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	struct addr listen = s.local;

	(void)state;
	sock_close(&s);
	for (int i = 0; i < 100; i++) {
		race(GROUP, JOIN, &listen);
		race(JOIN, GROUP, &listen);
		race(GROUP, GROUP, &listen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R96 every kind of instance against every other", test_sharing, NULL, NULL,
		  NULL },
		{ "R96 sentences", test_sentences, NULL, NULL, NULL },
		{ "R96 overlapping addresses of two instances", test_overlap, NULL, NULL, NULL },
		{ "R96 overlapping addresses of one instance", test_overlap_inside, NULL, NULL,
		  NULL },
		{ "R96 a program of somebody else", test_stranger, NULL, NULL, NULL },
		{ "R96 two that start at the same moment", test_race, NULL, NULL, NULL },
		{ "R96 devices", test_device, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sockset_sharing", tests, NULL, NULL);
}
