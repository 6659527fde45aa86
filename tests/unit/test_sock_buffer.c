/* SPDX-License-Identifier: MIT */
/* Buffer sizes: asked, granted, limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
#include "net/sock_buffer.h"
#include "net/sysctl.h"
#include "tap.h"
#include "udp.h"

static int limit_of(const char *name)
{
	int limit;

	return sysctl_read_int(name, &limit) ? 0 : limit;
}

/* R89 R90: as an ordinary user the force variant is refused without a word, and the limit rules. */
static int child_buffer_unprivileged(void)
{
	struct sock_conf conf = { .tos = -1, .ttl = -1 };
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	int limit = limit_of("net.core.rmem_max"), wlimit = limit_of("net.core.wmem_max");
	char text[240];
	struct sock s;

	if (limit < 4096 || limit > 1 << 28 || wlimit < 4096 || wlimit > 1 << 28)
		return CHILD_SKIP;
	/* Root in a user namespace of one's own has no CAP_NET_ADMIN where it counts, and keeps none over this
	 * network. */
	if (unshare(CLONE_NEWUSER))
		return CHILD_SKIP;
	conf.rcvbuf = (uint64_t)limit * 2;
	conf.sndbuf = (uint64_t)wlimit * 2;
	CHILD_CHECK(sock_open(&s, &local, &conf, NULL) == 0);
	CHILD_CHECK(!s.rcvbuf.forced && s.rcvbuf.asked == conf.rcvbuf);
	CHILD_CHECK(s.rcvbuf.granted == (uint64_t)limit && s.rcvbuf.limit == (uint64_t)limit);
	CHILD_CHECK(!strcmp(s.rcvbuf.sysctl, "net.core.rmem_max") &&
		    !strcmp(s.sndbuf.sysctl, "net.core.wmem_max"));
	CHILD_CHECK(s.sndbuf.granted == (uint64_t)wlimit);
	CHILD_CHECK(sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)));
	CHILD_CHECK(strstr(text, "net.core.rmem_max") && !strstr(text, "wmem"));
	sock_close(&s);

	conf.rcvbuf_strict = true;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == -ENOBUFS && s.fd == -1);
	CHILD_CHECK(strstr(err.text, "--rcvbuf") && strstr(err.text, "net.core.rmem_max") &&
		    strstr(err.text, "CAP_NET_ADMIN"));

	/* Just the limit: nothing is short. */
	conf.rcvbuf = (uint64_t)limit;
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == 0);
	CHILD_CHECK(s.rcvbuf.granted == conf.rcvbuf &&
		    !sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)) && !text[0]);
	sock_close(&s);
	/* More than an int holds is asked for as much as there is, and reported as asked. */
	conf = (struct sock_conf){ .rcvbuf = UINT64_C(1) << 40, .tos = -1, .ttl = -1 };
	CHILD_CHECK(sock_open(&s, &local, &conf, &err) == 0);
	CHILD_CHECK(s.rcvbuf.asked == conf.rcvbuf && s.rcvbuf.granted == (uint64_t)limit);
	sock_close(&s);
	return CHILD_OK;
}

static void test_buffer_forced(void **state)
{
	int limit = limit_of("net.core.rmem_max");
	struct sock_conf conf = {
		.rcvbuf = (uint64_t)limit + 65536, .rcvbuf_strict = true, .tos = -1, .ttl = -1
	};
	struct addr local = parsed("127.0.0.1");
	struct err err = ERR_INIT;
	struct sock s;
	int rc;

	(void)state;
	if (limit <= 0 || limit > 1 << 28)
		TAP_SKIP("net.core.rmem_max is not readable here, or too large to pass");
	rc = sock_open(&s, &local, &conf, &err);
	if (rc == -ENOBUFS)
		TAP_SKIP("SO_RCVBUFFORCE is not permitted here (needs CAP_NET_ADMIN in the first "
			 "user namespace)");
	assert_int_equal(rc, 0);
	assert_true(s.rcvbuf.forced);
	assert_true(s.rcvbuf.granted == conf.rcvbuf);
	sock_close(&s);
}

static void test_buffer_default(void **state)
{
	struct sock s = opened("127.0.0.1", &plain);
	char text[240];

	(void)state;
	assert_int_equal(s.rcvbuf.asked, 0);
	assert_false(s.rcvbuf.forced);
	assert_int_equal(s.rcvbuf.granted, get_int(s.fd, SOL_SOCKET, SO_RCVBUF) / 2);
	assert_false(sock_buffer_shortfall(&s.rcvbuf, text, sizeof(text)));
	sock_close(&s);
}

IN_CHILD(test_buffer_unprivileged, child_buffer_unprivileged,
	 "no user namespace can be made here, or the buffer limits cannot be read")

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "R89 R90 buffers without privilege", test_buffer_unprivileged, NULL, NULL, NULL },
		{ "R90 buffers with privilege", test_buffer_forced, NULL, NULL, NULL },
		{ "R89 buffers not asked for", test_buffer_default, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sock_buffer", tests, NULL, NULL);
}
