/* SPDX-License-Identifier: MIT */
#include "base/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/task.h"

/* CPUs in the first mask tried: the kernel refuses (EINVAL) a mask shorter than its own. */
#define CPU_FIRST 1024
/* Far above the kernel's NR_CPUS (8192 on x86): ends the search, bounds memory. */
#define CPU_LIMIT (1 << 20)

void cpu_list_free(struct cpu_list *list)
{
	free(list->cpu);
	*list = (struct cpu_list){ 0 };
}

/* Appends; the array has room for the next power of two. */
static int add(struct cpu_list *list, int cpu)
{
	if ((list->n & (list->n - 1)) == 0) {
		int *more = realloc(list->cpu, (list->n ? 2 * (size_t)list->n : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		list->cpu = more;
	}
	list->cpu[list->n++] = cpu;
	return 0;
}

/* The affinity mask of the calling thread, *cpus wide, or NULL with errno. CPU_FREE it. */
static cpu_set_t *read_mask(int *cpus)
{
	for (*cpus = CPU_FIRST; *cpus <= CPU_LIMIT; *cpus *= 2) {
		cpu_set_t *mask = CPU_ALLOC(*cpus);

		if (!mask)
			return NULL;
		CPU_ZERO_S(CPU_ALLOC_SIZE(*cpus), mask);
		if (sched_getaffinity(0, CPU_ALLOC_SIZE(*cpus), mask) == 0)
			return mask;
		CPU_FREE(mask);
		if (errno != EINVAL)
			return NULL;
	}
	return NULL;
}

int cpu_allowed(struct cpu_list *out, struct err *err)
{
	int cpus, rc = 0;
	cpu_set_t *mask = read_mask(&cpus);

	*out = (struct cpu_list){ 0 };
	if (!mask)
		return err_sys(err, errno, "sched_getaffinity: which CPUs are allowed is unknown");
	for (int cpu = 0; cpu < cpus && !rc; cpu++)
		if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(cpus), mask))
			rc = add(out, cpu);
	CPU_FREE(mask);
	if (!rc)
		return 0;
	cpu_list_free(out);
	return err_sys(err, rc, "list of allowed CPUs");
}

static int is_allowed(const struct cpu_list *allowed, int cpu)
{
	for (unsigned i = 0; i < allowed->n; i++)
		if (allowed->cpu[i] == cpu)
			return 1;
	return 0;
}

/* Adds first..last. A range that leaves the allowed set ends at its first CPU outside, however long it is. */
static int add_range(struct cpu_list *out, int first, int last, const struct cpu_list *allowed,
		     struct err *err)
{
	for (int cpu = first; cpu <= last; cpu++) {
		char text[128];

		if (!is_allowed(allowed, cpu))
			return err_say(err, EINVAL,
				       "CPU %d is not allowed for this process: it may use %s "
				       "(set by taskset, a cpuset or AllowedCPUs=)",
				       cpu, cpu_format(allowed, text, sizeof(text)));
		if (add(out, cpu))
			return err_sys(err, ENOMEM, "CPU list");
	}
	return 0;
}

/* A number below CPU_LIMIT; *p moves behind it. */
static int number(const char **p, int *out)
{
	const char *start = *p;

	for (*out = 0; **p >= '0' && **p <= '9'; (*p)++) {
		*out = *out * 10 + (**p - '0');
		if (*out >= CPU_LIMIT)
			return -ERANGE;
	}
	return *p == start ? -EINVAL : 0;
}

int cpu_parse(const char *text, const struct cpu_list *allowed, struct cpu_list *out,
	      struct err *err)
{
	const char *p = text;
	int rc;

	*out = (struct cpu_list){ 0 };
	do {
		int first = 0, last;

		rc = number(&p, &first);
		last = first;
		if (!rc && *p == '-') {
			p++;
			rc = number(&p, &last);
		}
		if (rc || (*p && *p != ',') || last < first)
			rc = err_say(err, EINVAL,
				     "CPU list '%s': expected numbers and rising ranges, "
				     "such as 0,2-3",
				     text);
		else
			rc = add_range(out, first, last, allowed, err);
	} while (!rc && *p++ == ',');
	if (rc)
		cpu_list_free(out);
	return rc;
}

char *cpu_format(const struct cpu_list *list, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0, last; i < list->n; i = last + 1) {
		char item[32];
		size_t n;

		for (last = i; last + 1 < list->n && list->cpu[last + 1] == list->cpu[last] + 1;)
			last++;
		n = snprintf(item, sizeof(item), "%s%d", i ? "," : "", list->cpu[i]);
		if (last > i)
			n += snprintf(item + n, sizeof(item) - n, "-%d", list->cpu[last]);
		/* Half a number would be another CPU: what does not fit is shown as missing. */
		if (used + n + (last + 1 < list->n ? strlen(",...") : 0) >= size) {
			snprintf(buf + used, size - used, "%s", i ? ",..." : "...");
			break;
		}
		memcpy(buf + used, item, n + 1);
		used += n;
	}
	return buf;
}

int cpu_pin_self(int cpu, struct err *err)
{
	struct cpu_list now;
	cpu_set_t *mask;
	int rc = 0;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_LIMIT)
		return err_say(err, EINVAL, "cannot pin to CPU %d: no machine has that many", cpu);
	mask = CPU_ALLOC(cpu + 1);
	if (!mask)
		return err_sys(err, ENOMEM, "cannot pin to CPU %d", cpu);
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), mask);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), mask);
	if (sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), mask))
		rc = err_sys(err, errno,
			     "cannot pin to CPU %d "
			     "(offline, outside the cpuset, or forbidden by a sandbox)",
			     cpu);
	CPU_FREE(mask);
	if (!rc)
		rc = cpu_allowed(&now, err);
	if (rc)
		return rc;
	if (now.n != 1 || now.cpu[0] != cpu)
		rc = err_say(err, EPERM,
			     "pinned to CPU %d, but the kernel reports another set: "
			     "something else changes the affinity",
			     cpu);
	cpu_list_free(&now);
	return rc;
}

int cpu_current(void)
{
	return sched_getcpu();
}

int cpu_of_thread(int tid)
{
	struct task_stat stat;

	return task_stat(tid, &stat) ? -1 : stat.cpu;
}

int cpu_node(int cpu)
{
	char path[64];
	struct dirent *entry;
	int node = -1;
	DIR *dir;

	/* The directory of a CPU holds a link "nodeN" to the node it belongs to. */
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (node < 0 && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			node = -1;
	closedir(dir);
	return node;
}

char *cpu_model(char *buf, size_t size)
{
	static const char key[] = "\nmodel name";
	char text[4096], *p = NULL;
	struct utsname name;

	if (util_read_file("/proc/cpuinfo", text, sizeof(text)) > 0)
		p = strstr(text, key);
	if (p)
		p = strchr(p, ':');
	if (p) {
		p += 1 + strspn(p + 1, " \t");
		p[strcspn(p, "\n")] = '\0';
	}
	snprintf(buf, size, "%s", p && *p ? p : uname(&name) == 0 ? name.machine : "unknown");
	return buf;
}
