/* SPDX-License-Identifier: MIT */
/* sock_steer - classic BPF programs that choose the member of a reuse-port group; see sock.h. A program belongs to the group: any member will do to attach it. */
#include "net/sock.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>

/* Loads from the IP header on; the program itself starts behind the UDP header. */
#define NET (uint32_t)(SKF_NET_OFF)
/* 2^32 divided by the golden ratio: spreads neighbouring ports (Knuth, The Art of Computer Programming, vol. 3, 6.4). */
#define GOLDEN 0x9e3779b1

static int attach(struct sock *sock, struct sock_filter *code, unsigned short len, unsigned members, const char *option,
		  struct err *err)
{
	const struct sock_fprog program = { .len = len, .filter = code };

	if (!members)
		return err_say(err, EINVAL, "%s: the group has no members", option);
	if (setsockopt(sock->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)))
		return err_sys(err, errno, "%s: SO_ATTACH_REUSEPORT_CBPF", option);
	return 0;
}

int sock_steer_by_cpu(struct sock *sock, unsigned members, struct err *err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_CPU)),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, members),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	return attach(sock, code, ARRAY_SIZE(code), members, "--use-bpf", err);
}

int sock_steer_by_flow(struct sock *sock, unsigned members, struct err *err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NET),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 8, 0),
		/* IPv4: the port behind a header of variable length, the address */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NET),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 15),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, NET),
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + 12),
		BPF_JUMP(BPF_JMP | BPF_JA, 9, 0, 0),
		/* IPv6: the port (with extension headers: what stands there), the address folded */
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NET + 40),
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + 8),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + 16),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + 20),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		/* both */
		BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 0),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, GOLDEN),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, members),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	return attach(sock, code, ARRAY_SIZE(code), members, "--connect-each", err);
}

unsigned sock_steer_member(const struct addr *from, unsigned members)
{
	uint32_t word[4], hash;

	if (from->sa.sa_family == AF_INET) {
		hash = ntohl(from->in.sin_addr.s_addr);
	} else {
		memcpy(word, from->in6.sin6_addr.s6_addr, sizeof(word));
		hash = addr_is_mapped(from) ? ntohl(word[3]) : ntohl(word[0] ^ word[2] ^ word[3]);
	}
	return ((hash ^ addr_port(from)) * GOLDEN >> 16) % members;
}
