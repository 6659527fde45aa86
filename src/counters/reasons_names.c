/* SPDX-License-Identifier: MIT */
#include "counters/reasons_names.h"

#ifdef HAVE_BPF
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "SKB_DROP_REASON_"
#define SUBSYSTEM_PREFIX PREFIX "SUBSYS_"
#define SUBSYSTEM_SHIFT 16 /* SKB_DROP_REASON_SUBSYS_SHIFT of net/dropreason.h */

static const struct btf_type *find(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

/* Parameters of the tracepoint: a pointer of its own, then skb, location, reason (Linux 5.17), rx_sk (6.11). 0: not known. */
static unsigned parameters(const struct btf *btf)
{
	const struct btf_type *t = find(btf, "btf_trace_kfree_skb", BTF_KIND_TYPEDEF);

	if (t)
		t = btf__type_by_id(btf, t->type);
	if (t && btf_is_ptr(t))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) : 0;
}

int reasons_names_open(struct reasons_names *out, struct err *err)
{
	unsigned count;

	*out = (struct reasons_names){ .btf = btf__load_vmlinux_btf() };
	if (!out->btf)
		return err_say(err, EOPNOTSUPP, "the kernel's type information (/sys/kernel/btf/vmlinux) cannot be read: %s; a kernel with CONFIG_DEBUG_INFO_BTF "
						"has it", strerror(errno));
	out->reason = find(out->btf, "skb_drop_reason", BTF_KIND_ENUM);
	out->subsystem = find(out->btf, "skb_drop_reason_subsys", BTF_KIND_ENUM);
	count = parameters(out->btf);
	out->has_socket = count > 4;
	if (out->reason && count > 3 && btf__pointer_size(out->btf) == 8)
		return 0;
	reasons_names_close(out);
	return err_say(err, EOPNOTSUPP, "this kernel gives no reasons for drops: Linux 5.17 or later is needed, on a 64-bit machine");
}

/* The name of a value, without the prefix; NULL: there is no such value. "" where it has another prefix: those values are no drops. */
static const char *name_of(const struct btf *btf, const struct btf_type *type, const char *prefix, uint32_t value)
{
	const struct btf_enum *e = type ? btf_enum(type) : NULL;

	for (unsigned i = 0; e && i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, e[i].name_off);

		if ((uint32_t)e[i].val == value && name)
			return strncmp(name, prefix, strlen(prefix)) ? "" : name + strlen(prefix);
	}
	return NULL;
}

bool reasons_names_get(const struct reasons_names *n, uint32_t reason, char *buf, size_t size)
{
	uint32_t subsystem = reason >> SUBSYSTEM_SHIFT, number = reason & ((1U << SUBSYSTEM_SHIFT) - 1);
	const char *name = subsystem ? name_of(n->btf, n->subsystem, SUBSYSTEM_PREFIX, subsystem) : name_of(n->btf, n->reason, PREFIX, reason);

	if (!subsystem && name)
		snprintf(buf, size, "%s", name);
	else if (!subsystem)
		snprintf(buf, size, "REASON_%u", number);
	else if (name && *name)
		snprintf(buf, size, "%s_%u", name, number);
	else
		snprintf(buf, size, "SUBSYSTEM_%u_%u", subsystem, number);
	return *buf != '\0';
}

void reasons_names_close(struct reasons_names *n)
{
	btf__free(n->btf);
	*n = (struct reasons_names){ 0 };
}
#endif
