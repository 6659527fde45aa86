/* SPDX-License-Identifier: MIT */
/*
 * cmsg - see cmsg.h. The walk is our own and not CMSG_NXTHDR: that macro trusts cmsg_len, and what it does with a
 * zero or a huge one differs between C libraries.
 */
#include "net/cmsg.h"

#include <netinet/udp.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

#ifndef UDP_GRO
#define UDP_GRO 104 /* linux/udp.h, since Linux 5.0 */
#endif

/* Time stamps come under the option's number, of which there are two since time64 (Linux 5.1). The C library's
 * SO_TIMESTAMP is one of them, depending on the size of its time_t; the kernel sends what the socket was set to.
 * These are the values of include/uapi/asm-generic/socket.h, for C libraries that do not show the kernel's header. */
#ifndef SO_TIMESTAMP_OLD
#define SO_TIMESTAMP_OLD 29
#define SO_TIMESTAMPNS_OLD 35
#define SO_TIMESTAMPING_OLD 37
#endif
#ifndef SO_TIMESTAMP_NEW
#define SO_TIMESTAMP_NEW 63
#define SO_TIMESTAMPNS_NEW 64
#define SO_TIMESTAMPING_NEW 65
#endif
#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int64_t get64(const unsigned char *at)
{
	int64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* ------------------------------------------------------------------ receive: a reader per type; false = malformed */

static bool read_pktinfo4(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	struct in_pktinfo in;

	if (len != sizeof(in))
		return false;
	memcpy(&in, data, sizeof(in));
	memset(&info->dst, 0, sizeof(info->dst));
	info->dst.s6_addr[10] = 0xff;
	info->dst.s6_addr[11] = 0xff;
	memcpy(&info->dst.s6_addr[12], &in.ipi_addr, 4);
	info->spec_dst = in.ipi_spec_dst;
	info->ifindex = (uint32_t)in.ipi_ifindex;
	info->family = AF_INET;
	info->valid |= CMSG_WANT_PKTINFO;
	return true;
}

static bool read_pktinfo6(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	struct in6_pktinfo in6;

	if (len != sizeof(in6))
		return false;
	memcpy(&in6, data, sizeof(in6));
	info->dst = in6.ipi6_addr;
	info->ifindex = in6.ipi6_ifindex;
	info->family = IN6_IS_ADDR_V4MAPPED(&info->dst) ? AF_INET : AF_INET6;
	info->valid |= CMSG_WANT_PKTINFO;
	return true;
}

static bool read_ttl(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	if (len != 4)
		return false;
	info->ttl = (int)get32(data);
	info->valid |= CMSG_WANT_TTL;
	return true;
}

static bool read_tos(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	if (len != 1 && len != 4)
		return false;
	info->tos = (uint8_t)(len == 1 ? data[0] : get32(data));
	info->valid |= CMSG_WANT_TOS;
	return true;
}

static bool read_drops(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	if (len != 4)
		return false;
	info->drops = get32(data);
	info->valid |= CMSG_WANT_DROPS;
	return true;
}

static bool read_gro(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	if (len != 4 || (int32_t)get32(data) <= 0)
		return false;
	info->gro_segment = get32(data);
	info->valid |= CMSG_WANT_GRO;
	return true;
}

/* Two fields of 32 or 64 bits: seconds, and parts of which there are `parts` in a second. */
static bool read_time(const unsigned char *data, size_t len, int64_t parts, struct cmsg_info *info)
{
	bool narrow = len == 8;
	int64_t sec, part;

	if (!narrow && len != 16)
		return false;
	sec = narrow ? (int32_t)get32(data) : get64(data);
	part = narrow ? (int32_t)get32(data + 4) : get64(data + 8);
	if (sec < 0 || sec >= INT64_MAX / (int64_t)NSEC_PER_SEC || part < 0 || part >= parts)
		return false;
	info->stamp_ns = (uint64_t)sec * NSEC_PER_SEC;
	info->stamp_ns += (uint64_t)part * (NSEC_PER_SEC / (uint64_t)parts);
	info->valid |= CMSG_WANT_STAMP;
	return true;
}

static bool read_stamp_us(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	return read_time(data, len, 1000000, info);
}

static bool read_stamp_ns(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	return read_time(data, len, (int64_t)NSEC_PER_SEC, info);
}

/* Three times: software, (unused), hardware. The hardware's clock is no CLOCK_REALTIME, so only the first is read;
 * it is zero when only hardware stamps were asked for. */
static bool read_stamping(const unsigned char *data, size_t len, struct cmsg_info *info)
{
	static const unsigned char zero[16];

	if (len != 3 * 8 && len != 3 * 16)
		return false;
	return !memcmp(data, zero, len / 3) || read_stamp_ns(data, len / 3, info);
}

static const struct reader {
	int level, type;
	bool (*read)(const unsigned char *data, size_t len, struct cmsg_info *info);
} readers[] = {
	{ IPPROTO_IP, IP_PKTINFO, read_pktinfo4 },
	{ IPPROTO_IPV6, IPV6_PKTINFO, read_pktinfo6 },
	{ IPPROTO_IP, IP_TTL, read_ttl },
	{ IPPROTO_IPV6, IPV6_HOPLIMIT, read_ttl },
	{ IPPROTO_IP, IP_TOS, read_tos },
	{ IPPROTO_IPV6, IPV6_TCLASS, read_tos },
	{ SOL_SOCKET, SO_RXQ_OVFL, read_drops },
	{ IPPROTO_UDP, UDP_GRO, read_gro },
	{ SOL_SOCKET, SO_TIMESTAMPNS_OLD, read_stamp_ns },
	{ SOL_SOCKET, SO_TIMESTAMPNS_NEW, read_stamp_ns },
	{ SOL_SOCKET, SO_TIMESTAMP_OLD, read_stamp_us },
	{ SOL_SOCKET, SO_TIMESTAMP_NEW, read_stamp_us },
	{ SOL_SOCKET, SO_TIMESTAMPING_OLD, read_stamping },
	{ SOL_SOCKET, SO_TIMESTAMPING_NEW, read_stamping },
};

/* Types that are not in the table were not asked for by us: skipped. */
static void read_one(const struct cmsghdr *header, const unsigned char *data,
		     struct cmsg_info *info)
{
	size_t len = header->cmsg_len - CMSG_LEN(0);

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (readers[i].level != header->cmsg_level || readers[i].type != header->cmsg_type)
			continue;
		if (!readers[i].read(data, len, info))
			info->malformed++;
		return;
	}
}

void cmsg_parse(const void *control, size_t len, struct cmsg_info *info)
{
	const unsigned char *at = control;
	struct cmsghdr header;

	memset(info, 0, sizeof(*info));
	while (len >= CMSG_LEN(0)) {
		memcpy(&header, at, sizeof(header));
		if (header.cmsg_len < CMSG_LEN(0) || header.cmsg_len > len) {
			info->malformed++;
			return;
		}
		read_one(&header, at + CMSG_LEN(0), info);
		if (CMSG_ALIGN(header.cmsg_len) >= len)
			return;
		at += CMSG_ALIGN(header.cmsg_len);
		len -= CMSG_ALIGN(header.cmsg_len);
	}
}

/* ------------------------------------------------------------------ sizes */

/* Bytes for an IPv4 packet, for an IPv6 packet, and for either. */
static const struct space {
	unsigned want;
	size_t v4, v6, any;
} spaces[] = {
	{ CMSG_WANT_PKTINFO, CMSG_SPACE(sizeof(struct in_pktinfo)),
	  CMSG_SPACE(sizeof(struct in6_pktinfo)), 0 },
	{ CMSG_WANT_TTL, CMSG_SPACE(4), CMSG_SPACE(4), 0 },
	{ CMSG_WANT_TOS, CMSG_SPACE(4), CMSG_SPACE(4), 0 },
	{ CMSG_WANT_DROPS, 0, 0, CMSG_SPACE(4) },
	/* Room for SCM_TIMESTAMPING (an inherited socket may have it on) and for the second message that musl adds on
	 * 32-bit machines, where it translates the one type into the other. */
	{ CMSG_WANT_STAMP, 0, 0, CMSG_SPACE(3 * 16) + CMSG_SPACE(16) },
	{ CMSG_WANT_GRO, 0, 0, CMSG_SPACE(4) },
};

size_t cmsg_space(unsigned want, int family, bool dual)
{
	size_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (!(want & spaces[i].want))
			continue;
		sum += spaces[i].any;
		sum += family == AF_INET || dual ? spaces[i].v4 : 0;
		sum += family == AF_INET6 ? spaces[i].v6 : 0;
	}
	return sum;
}

/* ------------------------------------------------------------------ send */

bool cmsg_put(void *control, size_t size, size_t *used, int level, int type, const void *data,
	      size_t len)
{
	struct cmsghdr h = { .cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type };
	unsigned char *at = (unsigned char *)control + *used;

	if (*used > size || len > size || size - *used < CMSG_SPACE(len))
		return false;
	memset(at, 0, CMSG_SPACE(len)); /* no padding byte of ours reaches the kernel undefined */
	memcpy(at, &h, sizeof(h));
	memcpy(at + CMSG_LEN(0), data, len);
	*used += CMSG_SPACE(len);
	return true;
}

static size_t reply4(void *control, size_t size, const struct cmsg_info *info, bool keep_interface)
{
	struct in_pktinfo in = { .ipi_spec_dst = info->spec_dst };
	const unsigned char *dst = &info->dst.s6_addr[12];
	/* Multicast and the limited broadcast are nobody's source. */
	bool no_source = (dst[0] & 0xf0) == 0xe0 || dst[0] == 255;
	size_t used = 0;

	/* Without IP_PKTINFO (an IPv6 option alone was on) the kernel did not say which address of ours it was. */
	if (!in.ipi_spec_dst.s_addr && !no_source)
		memcpy(&in.ipi_spec_dst, dst, 4);
	if (keep_interface || (dst[0] == 169 && dst[1] == 254))
		in.ipi_ifindex = (int)info->ifindex;
	if (!in.ipi_spec_dst.s_addr && !in.ipi_ifindex)
		return 0;
	cmsg_put(control, size, &used, IPPROTO_IP, IP_PKTINFO, &in, sizeof(in));
	return used;
}

static size_t reply6(void *control, size_t size, const struct cmsg_info *info, bool keep_interface)
{
	struct in6_pktinfo in6 = { .ipi6_addr = IN6ADDR_ANY_INIT };
	size_t used = 0;

	if (!IN6_IS_ADDR_MULTICAST(&info->dst))
		in6.ipi6_addr = info->dst;
	if (keep_interface || IN6_IS_ADDR_LINKLOCAL(&info->dst) ||
	    IN6_IS_ADDR_MC_LINKLOCAL(&info->dst))
		in6.ipi6_ifindex = info->ifindex;
	if (IN6_IS_ADDR_UNSPECIFIED(&in6.ipi6_addr) && !in6.ipi6_ifindex)
		return 0;
	cmsg_put(control, size, &used, IPPROTO_IPV6, IPV6_PKTINFO, &in6, sizeof(in6));
	return used;
}

size_t cmsg_reply(void *control, size_t size, const struct cmsg_info *info, int socket_family,
		  bool keep_interface)
{
	if (!(info->valid & CMSG_WANT_PKTINFO))
		return 0;
	if (info->family == AF_INET)
		return reply4(control, size, info, keep_interface);
	return socket_family == AF_INET6 ? reply6(control, size, info, keep_interface) : 0;
}
