/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * reasons - counts, in the kernel, the packets that are freed as dropped and were meant for our ports, by the reason that the kernel gives.
 *
 * A raw tracepoint: those load also where the kernel is locked down and fentry is refused. Members of the kernel's structs are found by their names when the
 * program is loaded (CO-RE), so only those are declared here that are read. consume_skb is no drop, and another tracepoint.
 */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* linux/bpf.h, which for this machine would need headers of another. */
enum { BPF_MAP_TYPE_PERCPU_HASH = 5, BPF_NOEXIST = 1 };

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/reasons_map.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	possible_net_t nd_net;
};

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len, data_len;
	__be16 protocol;
	__u16 network_header, mac_header;
	unsigned int end;
	unsigned char *head, *data;
};

struct skb_shared_info {
	unsigned short gso_segs;
	unsigned int gso_type;
};

#pragma clang attribute pop

/* IEEE 802 numbers, IANA protocol numbers, RFC 791 and RFC 8200. */
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define HOP_BY_HOP 0
#define ROUTING 43
#define FRAGMENT 44
#define AUTHENTICATION 51
#define DESTINATION_OPTIONS 60
#define IPV4_SIZE 20
#define IPV6_SIZE 40
#define IPV4_OFFSET_MASK 0x1fff
#define IPV6_OFFSET_MASK 0xfff8
#define EXTENSIONS 8 /* that are looked through */

#define MAC_HEADER_UNSET 0xffff /* skb_mac_header_was_set() */
#define GSO_UDP (1 << 16)       /* SKB_GSO_UDP of linux/skbuff.h: one datagram that is to be fragmented */

/* Set before it is loaded. */
const volatile __u32 own_namespace; /* inode */
const volatile __u8 own_protocol;   /* UDP or UDP-Lite */
const volatile __u8 has_socket;     /* the tracepoint hands over the receiving socket (Linux 6.11) */
const volatile __u64 own_port[1024]; /* a bit for each; the number is that of the two bytes in network order, read as they lie */

/* Of the map there was no room for these. */
__u64 left_out;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, REASONS_MAP_ENTRIES);
	__type(key, struct reasons_key);
	__type(value, struct reasons_value);
} counts SEC(".maps");

struct packet {
	const unsigned char *head;
	__u32 end;  /* of the bytes behind head that can be read */
	__u32 at;   /* of the header that is looked at */
};

enum verdict { NOT_OURS, OURS, UNPARSED };

/* Copies from the packet; false: it is not all there. */
static __always_inline int take(const struct packet *p, __u32 offset, void *to, __u32 size)
{
	__u32 at = p->at + offset;

	return at + size <= p->end && bpf_probe_read_kernel(to, size, p->head + at) == 0;
}

static __always_inline enum verdict udp(const struct packet *p)
{
	__u16 port[2];

	if (!take(p, 0, port, sizeof(port)))
		return UNPARSED;
	return own_port[port[1] >> 6] >> (port[1] & 63) & 1 ? OURS : NOT_OURS;
}

static __always_inline enum verdict ipv4(struct packet *p)
{
	__u8 h[IPV4_SIZE];

	if (!take(p, 0, h, sizeof(h)) || h[0] >> 4 != 4 || (h[0] & 15) < IPV4_SIZE / 4)
		return UNPARSED;
	if (h[9] != own_protocol)
		return NOT_OURS;
	if ((h[6] << 8 | h[7]) & IPV4_OFFSET_MASK)
		return UNPARSED;
	p->at += (h[0] & 15) * 4;
	return udp(p);
}

static __always_inline enum verdict ipv6(struct packet *p)
{
	__u8 h[8], next;
	__u32 offset = 0;

	if (!take(p, 0, h, sizeof(h)) || h[0] >> 4 != 6)
		return UNPARSED;
	next = h[6];
	p->at += IPV6_SIZE;
#pragma unroll
	for (int i = 0; i < EXTENSIONS; i++) {
		if (next == own_protocol)
			return offset ? UNPARSED : udp(p);
		if (next != HOP_BY_HOP && next != ROUTING && next != FRAGMENT && next != AUTHENTICATION && next != DESTINATION_OPTIONS)
			return NOT_OURS;
		/* Not the first fragment: what is here is no header. */
		if (offset || !take(p, 0, h, 4))
			return UNPARSED;
		if (next == FRAGMENT)
			offset = (h[2] << 8 | h[3]) & IPV6_OFFSET_MASK;
		p->at += next == FRAGMENT ? 8 : next == AUTHENTICATION ? (h[1] + 2) * 4 : (h[1] + 1) * 8;
		next = h[0];
	}
	return UNPARSED;
}

/* Where IP begins: network_header; a driver's packet that IP has not seen yet has none, and its data begin there. On the way out data is the MAC header. */
static __always_inline enum verdict parse(const struct sk_buff *skb, __be16 protocol)
{
	__u16 network = BPF_CORE_READ(skb, network_header), mac = BPF_CORE_READ(skb, mac_header);
	const unsigned char *head = BPF_CORE_READ(skb, head), *data = BPF_CORE_READ(skb, data);
	struct packet p = { .head = head, .at = network };

	p.end = data - head + BPF_CORE_READ(skb, len) - BPF_CORE_READ(skb, data_len);
	if (!network && mac != MAC_HEADER_UNSET)
		p.at = data - head;
	return protocol == bpf_htons(ETH_P_IP) ? ipv4(&p) : ipv6(&p);
}

/* Number of the namespace, 0 where the pointer is none (UDP keeps other things in skb->dev of what is queued). */
static __always_inline __u32 of_socket(const struct sock *sk)
{
	struct net *net = 0;
	__u32 inum = 0;

	if (sk && bpf_core_read(&net, sizeof(net), &sk->__sk_common.skc_net.net) == 0)
		bpf_core_read(&inum, sizeof(inum), &net->ns.inum);
	return inum;
}

static __always_inline __u32 of_device(const struct net_device *dev)
{
	struct net *net = 0;
	__u32 inum = 0;

	if (dev && bpf_core_read(&net, sizeof(net), &dev->nd_net.net) == 0)
		bpf_core_read(&inum, sizeof(inum), &net->ns.inum);
	return inum;
}

static __always_inline __u32 namespace_of(const struct sk_buff *skb, const struct sock *receiver)
{
	__u32 inum;

	/* A kernel without namespaces has only ours. */
	if (!bpf_core_field_exists(struct net_device, nd_net.net))
		return own_namespace;
	inum = of_socket(receiver);
	if (!inum)
		inum = of_device(BPF_CORE_READ(skb, dev));
	return inum ? inum : of_socket(BPF_CORE_READ(skb, sk));
}

/* A super-packet is as many datagrams as it has segments. */
static __always_inline __u32 datagrams_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (const void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
	__u32 segments = BPF_CORE_READ(shared, gso_segs);

	return segments && !(BPF_CORE_READ(shared, gso_type) & GSO_UDP) ? segments : 1;
}

static __always_inline void count(const struct reasons_key *key, __u32 datagrams)
{
	static const struct reasons_value zero;
	struct reasons_value *v = bpf_map_lookup_elem(&counts, key);

	if (!v) {
		bpf_map_update_elem(&counts, key, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&counts, key);
	}
	if (!v) {
		__sync_fetch_and_add(&left_out, 1);
		return;
	}
	v->packets++;
	v->datagrams += datagrams;
}

/* skb, place, reason, and the receiving socket of newer kernels. */
SEC("raw_tp/kfree_skb")
int dropped(__u64 *args)
{
	const struct sk_buff *skb = (const void *)args[0];
	const struct sock *receiver = has_socket ? (const void *)args[3] : 0;
	struct reasons_key key = { .reason = (__u32)args[2] };
	__be16 protocol = BPF_CORE_READ(skb, protocol);
	enum verdict verdict;
	__u32 inum;

	if (protocol != bpf_htons(ETH_P_IP) && protocol != bpf_htons(ETH_P_IPV6))
		return 0;
	inum = namespace_of(skb, receiver);
	if (inum && inum != own_namespace)
		return 0;
	verdict = parse(skb, protocol);
	if (verdict == NOT_OURS)
		return 0;
	key.scope = verdict == UNPARSED ? REASONS_UNPARSED : inum ? REASONS_OURS : REASONS_NAMESPACE_UNKNOWN;
	count(&key, datagrams_of(skb));
	return 0;
}

/* Helpers of the kernel that read its memory are for programs under its licence. */
char licence[] SEC("license") = "Dual MIT/GPL";
