/* SPDX-License-Identifier: MIT */
#include "counters/reasons.h"

#include <errno.h>

#ifdef HAVE_BPF
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "bpf/reasons.skel.h"
#include "counters/reasons_names.h"

struct reasons {
	struct reasons_bpf *program;
	struct reasons_names names;
	struct reasons_value *cpu; /* room for a value of each possible CPU */
	int cpus;
};

/* What libbpf and the verifier have to say is for those who asked to hear everything. */
static PRINTF_LIKE(2, 0) int say(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[480];

	if (level == LIBBPF_DEBUG || !log_shows(LOG_DEBUG))
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	log_debug("%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

static int refuse(int code, const char *what, struct err *err)
{
	if (code == -EPERM || code == -EACCES)
		return err_say(err, EOPNOTSUPP, "%s: not permitted: run as root or with CAP_BPF and CAP_PERFMON, outside of user namespaces; a kernel locked down for "
						"confidentiality permits nobody", what);
	if (code == -ENOMEM)
		return err_sys(err, code, "%s", what);
	return err_say(err, EOPNOTSUPP, "%s: %s (-vv tells more)", what, strerror(-code));
}

static void set_ports(struct reasons_bpf__rodata *to, const struct reasons_conf *conf)
{
	for (unsigned i = 0; i < conf->n; i++) {
		uint16_t port = htons(conf->ports[i]);

		to->own_port[port >> 6] |= 1ULL << (port & 63);
	}
}

static int start(struct reasons *r, const struct reasons_conf *conf, struct err *err)
{
	struct stat ns;
	int ret = reasons_names_open(&r->names, err);

	if (ret)
		return ret;
	if (stat("/proc/thread-self/ns/net", &ns))
		return err_sys(err, errno, "/proc/thread-self/ns/net");
	r->program = reasons_bpf__open();
	if (!r->program)
		return refuse(-errno, "BPF program for drop reasons", err);
	r->program->rodata->own_namespace = (uint32_t)ns.st_ino;
	r->program->rodata->own_protocol = conf->protocol;
	r->program->rodata->has_socket = r->names.has_socket;
	set_ports(r->program->rodata, conf);
	ret = reasons_bpf__load(r->program);
	if (ret)
		return refuse(ret, "load the BPF program for drop reasons", err);
	ret = reasons_bpf__attach(r->program);
	return ret ? refuse(ret, "attach a BPF program to the tracepoint kfree_skb", err) : 0;
}

int reasons_open(struct reasons **out, const struct reasons_conf *conf, struct err *err)
{
	struct reasons *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	libbpf_set_print(say);
	if (r)
		r->cpus = libbpf_num_possible_cpus();
	if (r && r->cpus > 0)
		r->cpu = calloc((size_t)r->cpus, sizeof(*r->cpu));
	ret = r && r->cpu ? start(r, conf, err) : err_sys(err, r && r->cpus < 0 ? r->cpus : -ENOMEM, "memory for drop reasons");
	if (ret)
		reasons_close(r);
	else
		*out = r;
	return ret;
}

/* What the program did not see: it does not run within itself, as when an interrupt frees packets while it is at work. */
static int read_missed(struct reasons *r, struct reason_list *out, struct err *err)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int ret = bpf_obj_get_info_by_fd(bpf_program__fd(r->program->progs.dropped), &info, &size);

	out->missed = info.recursion_misses + __atomic_load_n(&r->program->bss->left_out, __ATOMIC_RELAXED);
	return ret ? err_sys(err, ret, "state of the BPF program for drop reasons") : 0;
}

static int read_one(struct reasons *r, const struct reasons_key *key, struct reason_count *out)
{
	int ret = bpf_map__lookup_elem(r->program->maps.counts, key, sizeof(*key), r->cpu, (size_t)r->cpus * sizeof(*r->cpu), 0);

	*out = (struct reason_count){ .reason = key->reason, .scope = (enum reasons_scope)key->scope };
	for (int i = 0; !ret && i < r->cpus; i++) {
		out->packets += r->cpu[i].packets;
		out->datagrams += r->cpu[i].datagrams;
	}
	if (!reasons_names_get(&r->names, key->reason, out->name, sizeof(out->name)))
		out->packets = 0;
	return ret;
}

/* Keys are never deleted, so that none is missed and none comes twice. */
int reasons_read(struct reasons *r, struct reason_list *out, struct err *err)
{
	struct reasons_key key, *last = NULL;
	int ret = 0;

	*out = (struct reason_list){ .count = calloc(REASONS_MAP_ENTRIES, sizeof(*out->count)) };
	if (!out->count)
		return err_sys(err, ENOMEM, "memory for drop reasons");
	while (!ret && out->n < REASONS_MAP_ENTRIES && !bpf_map__get_next_key(r->program->maps.counts, last, &key, sizeof(key))) {
		ret = read_one(r, &key, &out->count[out->n++]);
		last = &key;
	}
	ret = ret ? err_sys(err, ret, "counts of drop reasons") : read_missed(r, out, err);
	if (ret)
		reasons_list_free(out);
	else
		reasons_list_sort(out);
	return ret;
}

void reasons_close(struct reasons *r)
{
	if (!r)
		return;
	reasons_bpf__destroy(r->program);
	reasons_names_close(&r->names);
	free(r->cpu);
	free(r);
}

#else

int reasons_open(struct reasons **out, const struct reasons_conf *conf, struct err *err)
{
	(void)conf;
	*out = NULL;
	return err_say(err, EOPNOTSUPP, "this program was built without BPF (%s): build it with --enable-bpf, which says what that needs", BPF_LACKS);
}

int reasons_read(struct reasons *r, struct reason_list *out, struct err *err)
{
	(void)r;
	*out = (struct reason_list){ 0 };
	return err_say(err, EOPNOTSUPP, "this program was built without BPF (%s)", BPF_LACKS);
}

void reasons_close(struct reasons *r)
{
	(void)r;
}
#endif
