/* SPDX-License-Identifier: MIT */
/* Values under /proc/sys, read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
#include "net/sysctl.h"
#include "tap.h"

static int child_sysctl(void)
{
	struct err err = ERR_INIT;
	int value;
	char text[64];

	CHILD_CHECK(sysctl_read_int("net.ipv4.no_such_thing", &value) == -ENOENT);
	CHILD_CHECK(sysctl_write_int("net.ipv4.no_such_thing", 1, &err) == -ENOENT);
	CHILD_CHECK(strstr(err.text, "/proc/sys/net/ipv4/no_such_thing") &&
		    strstr(err.text, strerror(ENOENT)));
	CHILD_CHECK(sysctl_read("kernel.ostype", text, sizeof(text)) == 0 &&
		    !strcmp(text, "Linux"));
	CHILD_CHECK(sysctl_read_int("kernel.ostype", &value) == -EINVAL);
	if (!child_enter_netns())
		return CHILD_SKIP;
	for (int i = 0; i < 2; i++) {
		CHILD_CHECK(sysctl_write_int("net.ipv4.ip_early_demux", i, &err) == 0);
		CHILD_CHECK(sysctl_read_int("net.ipv4.ip_early_demux", &value) == 0 && value == i);
	}
	CHILD_CHECK(sysctl_write_int("net.ipv4.conf.lo.forwarding", 1, &err) == 0);
	CHILD_CHECK(sysctl_write_int("net.ipv4.ip_early_demux", -7, &err) == -EINVAL);
	CHILD_CHECK(strstr(err.text, "write -7 to /proc/sys/net/ipv4/ip_early_demux"));
	/* Nobody may write this one. */
	CHILD_CHECK(sysctl_write_int("net.ipv4.tcp_available_congestion_control", 1, &err) ==
		    -EACCES);
	CHILD_CHECK(strstr(err.text, strerror(EACCES)) && strstr(err.text, "root"));
	return CHILD_OK;
}

IN_CHILD(test_sysctl, child_sysctl, NETNS)

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "sysctl", test_sysctl, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("sysctl", tests, NULL, NULL);
}
