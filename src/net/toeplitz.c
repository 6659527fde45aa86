/* SPDX-License-Identifier: MIT */
#include "net/toeplitz.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

const struct toeplitz_key toeplitz_standard = {
	TOEPLITZ_KEY,
	{ 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	  0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa },
};

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

int toeplitz_parse_key(const char *option, const char *text, struct toeplitz_key *out, struct err *err)
{
	const char *at = text;

	out->len = 0;
	do {
		if (out->len == TOEPLITZ_KEY_MOST || digit(at[0]) < 0 || digit(at[1]) < 0 || (at[2] && at[2] != ':'))
			return err_say(err, EINVAL, "--%s '%.100s': expected pairs of hex digits with colons between them, as ethtool -x prints them",
				       option, text);
		out->byte[out->len++] = (unsigned char)(digit(at[0]) << 4 | digit(at[1]));
		at += at[2] ? 3 : 2;
	} while (*at || at[-1] == ':');
	if (out->len < TOEPLITZ_KEY)
		return err_say(err, EINVAL, "--%s: %u bytes; a key has %d or more", option, out->len, TOEPLITZ_KEY);
	return 0;
}

uint32_t toeplitz_udp(const struct toeplitz_key *key, const struct addr *src, const struct addr *dst)
{
	unsigned char input[TOEPLITZ_KEY - 4];
	const struct addr *a[] = { src, dst };
	uint16_t ports[] = { htons(addr_port(src)), htons(addr_port(dst)) };
	size_t len = 0;
	uint32_t hash = 0;

	for (unsigned i = 0; i < 2; i++) {
		bool v6 = addr_packet_family(a[i]) == AF_INET6;
		const unsigned char *ip = a[i]->sa.sa_family == AF_INET ? (const unsigned char *)&a[i]->in.sin_addr : a[i]->in6.sin6_addr.s6_addr;

		/* a mapped address has the IPv4 one at its end */
		memcpy(input + len, addr_is_mapped(a[i]) ? ip + 12 : ip, v6 ? 16 : 4);
		len += v6 ? 16 : 4;
	}
	memcpy(input + len, ports, sizeof(ports));
	len += sizeof(ports);
	for (size_t i = 0; i < len; i++) {
		const unsigned char *k = key->byte + i;
		uint64_t window = (uint64_t)k[0] << 32 | (uint64_t)k[1] << 24 | (uint64_t)k[2] << 16 | (uint64_t)k[3] << 8 | k[4];

		for (unsigned bit = 0; bit < 8; bit++)
			if (input[i] & 0x80 >> bit)
				hash ^= (uint32_t)(window >> (8 - bit));
	}
	return hash;
}
