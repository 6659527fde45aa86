/* SPDX-License-Identifier: MIT */
#include "source/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/size.h"

char *capture_left_out(const struct capture_facts *facts, char *buf, size_t size)
{
	static const char *const words[UNWRAP_N] = { "", "not UDP", "fragments", "cut by the capture", "with bad lengths" };
	uint64_t sent = facts->found[UNWRAP_UDP] - facts->too_large;
	int at = snprintf(buf, size, "%" PRIu64 " of %" PRIu64 " packets were left out:", facts->packets - sent, facts->packets);
	const char *comma = "";

	for (unsigned i = UNWRAP_OTHER; i < UNWRAP_N; i++) {
		if (!facts->found[i])
			continue;
		at += snprintf(buf + at, size - at, "%s %" PRIu64 " %s", comma, facts->found[i], words[i]);
		comma = ",";
	}
	if (facts->too_large)
		snprintf(buf + at, size - at, "%s %" PRIu64 " of more than %d bytes", comma, facts->too_large, SIZE_MAX_PAYLOAD);
	if (facts->packets == sent)
		*buf = '\0';
	return buf;
}

#ifdef HAVE_LIBPCAP
#include <pcap/pcap.h>

struct reader {
	pcap_t *pcap;
	const char *file;
	enum unwrap_link link;
	uint64_t first_ns, last_ns; /* of the datagrams so far */
	unsigned times_room;
};

static int choose_link(struct reader *r, struct err *err)
{
	static const struct {
		int dlt;
		enum unwrap_link link;
	} links[] = {
		{ DLT_EN10MB, UNWRAP_ETHERNET }, { DLT_RAW, UNWRAP_IP },    { DLT_IPV4, UNWRAP_IP },   { DLT_IPV6, UNWRAP_IP },
		{ DLT_LINUX_SLL, UNWRAP_SLL },	 { DLT_LINUX_SLL2, UNWRAP_SLL2 }, { DLT_NULL, UNWRAP_NULL }, { DLT_LOOP, UNWRAP_NULL },
	};
	const int dlt = pcap_datalink(r->pcap);
	const char *name = pcap_datalink_val_to_name(dlt);

	for (unsigned i = 0; i < ARRAY_SIZE(links); i++) {
		if (links[i].dlt == dlt) {
			r->link = links[i].link;
			return 0;
		}
	}
	return err_say(err, EINVAL, "--pcap %s: captures of link type %s (%d) are not read; Ethernet, raw IP, Linux cooked and loopback are", r->file,
		       name ? name : "unknown", dlt);
}

static int set_filter(struct reader *r, const char *filter, struct err *err)
{
	struct bpf_program program;
	int ret = 0;

	if (!filter)
		return 0;
	if (pcap_compile(r->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN))
		return err_say(err, EINVAL, "--pcap-filter '%s': %s (see pcap-filter(7))", filter, pcap_geterr(r->pcap));
	if (pcap_setfilter(r->pcap, &program))
		ret = err_say(err, EINVAL, "--pcap-filter '%s': %s", filter, pcap_geterr(r->pcap));
	pcap_freecode(&program);
	return ret;
}

/* Room for one more time than there are messages. */
static int grow_times(struct reader *r, struct messages *out)
{
	unsigned room = r->times_room ? 2 * r->times_room : 64;
	uint64_t *times;

	if (out->n < r->times_room)
		return 0;
	times = realloc(out->due_ns, room * sizeof(*times));
	if (!times)
		return -ENOMEM;
	out->due_ns = times;
	r->times_room = room;
	return 0;
}

static int add(struct reader *r, const struct unwrap_payload *p, uint64_t ns, struct messages *out, struct capture_facts *facts, struct err *err)
{
	int ret;

	if (!out->n)
		r->first_ns = r->last_ns = ns;
	facts->backwards += ns < r->last_ns;
	r->last_ns = MAX(ns, r->last_ns);
	if (grow_times(r, out))
		return err_sys(err, ENOMEM, "memory for the times of %s", r->file);
	ret = messages_add(out, p->data, p->size, err);
	if (ret)
		return ret;
	out->due_ns[out->n - 1] = r->last_ns - r->first_ns;
	facts->span_ns = r->last_ns - r->first_ns;
	return 0;
}

static int take(struct reader *r, const struct pcap_pkthdr *h, const unsigned char *data, struct messages *out, struct capture_facts *facts, struct err *err)
{
	struct unwrap_payload p;
	enum unwrap found = unwrap_udp(r->link, data, h->caplen, h->len, &p);

	facts->packets++;
	facts->found[found]++;
	if (found != UNWRAP_UDP)
		return 0;
	if (p.size > SIZE_MAX_PAYLOAD) {
		facts->too_large++;
		return 0;
	}
	/* tv_usec holds nanoseconds, as they were asked for. */
	return add(r, &p, (uint64_t)h->ts.tv_sec * NSEC_PER_SEC + (uint64_t)h->ts.tv_usec, out, facts, err);
}

static int read_all(struct reader *r, struct messages *out, struct capture_facts *facts, struct err *err)
{
	struct pcap_pkthdr *h;
	const unsigned char *data;
	int got, ret = 0;

	while (!ret && (got = pcap_next_ex(r->pcap, &h, &data)) == 1)
		ret = take(r, h, data, out, facts, err);
	if (ret)
		return ret;
	facts->truncated = got == PCAP_ERROR;
	if (out->n)
		return 0;
	if (facts->truncated)
		return err_say(err, EINVAL, "--pcap %s: %s", r->file, pcap_geterr(r->pcap));
	return err_say(err, EINVAL, "--pcap %s: no UDP datagram in it: %" PRIu64 " packets, %" PRIu64 " of them not UDP, %" PRIu64 " fragments, %" PRIu64 " cut by the capture",
		       r->file, facts->packets, facts->found[UNWRAP_OTHER], facts->found[UNWRAP_FRAGMENT], facts->found[UNWRAP_CUT]);
}

int capture_load(const char *file, const char *filter, struct messages *out, struct capture_facts *facts, struct err *err)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct reader r = { .file = file };
	int ret;

	*facts = (struct capture_facts){ 0 };
	r.pcap = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!r.pcap)
		return err_say(err, EINVAL, "--pcap %s: %s", file, why);
	ret = choose_link(&r, err);
	if (!ret)
		ret = set_filter(&r, filter, err);
	if (!ret)
		ret = read_all(&r, out, facts, err);
	pcap_close(r.pcap);
	return ret;
}
#else
int capture_load(const char *file, const char *filter UNUSED, struct messages *out UNUSED, struct capture_facts *facts UNUSED, struct err *err)
{
	return err_say(err, EOPNOTSUPP, "--pcap %s: this udp_source was built without libpcap (install libpcap-dev and build it again)", file);
}
#endif
