/* SPDX-License-Identifier: MIT */
#include "sink/env.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/record.h"

static const char *const sysctls[] = {
	"net.core.rmem_default", "net.core.rmem_max",	       "net.core.netdev_max_backlog",
	"net.core.netdev_budget", "net.core.busy_poll",	       "net.core.busy_read",
	"net.ipv4.udp_mem",	  "net.ipv4.udp_rmem_min",     "net.ipv4.ip_early_demux",
	"net.ipv4.udp_early_demux", "net.ipv4.ipfrag_high_thresh", "net.ipv6.bindv6only",
	"kernel.io_uring_disabled",
};

/* First line of a file without its newline; false when it cannot be read. */
static bool first_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(buf, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

json_t *env_sysctls(void)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < ARRAY_SIZE(sysctls); i++) {
		char path[128] = "/proc/sys/", value[128];
		size_t at = strlen(path);

		for (const char *c = sysctls[i]; *c; c++)
			path[at++] = *c == '.' ? '/' : *c;
		path[at] = '\0';
		record_add_text(o, sysctls[i], first_line(path, value, sizeof(value)) ? value : NULL);
	}
	return o;
}

json_t *env_host(const struct cpu_list *allowed)
{
	json_t *o = json_object();
	struct utsname uts;
	struct stat ns;
	char text[4096];

	if (uname(&uts) == 0) {
		record_add_text(o, "kernel", uts.release);
		record_add_text(o, "machine", uts.machine);
	}
	record_add_text(o, "cpu_model", cpu_model(text, sizeof(text)));
	record_add_text(o, "cpus_allowed", cpu_format(allowed, text, sizeof(text)));
	record_add_text(o, "clocksource",
			first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof(text)) ? text : NULL);
	if (stat("/proc/self/ns/net", &ns) == 0)
		record_add_uint(o, "netns", (uint64_t)ns.st_ino);
	return o;
}

char *env_run_id(char *buf, size_t size)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = clock_wall();
	snprintf(buf, size, "%012llx", (unsigned long long)(id & 0xffffffffffff));
	return buf;
}
