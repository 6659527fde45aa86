/* SPDX-License-Identifier: MIT */
/* seqhdr - see seqhdr.h. Fields are copied with memcpy: a payload has no alignment. */
#include "net/seqhdr.h"

#include <endian.h>
#include <string.h>

#include "base/util.h"

#define VERSION 1
#define STAMPED 0x80 /* in the version byte */

enum {
	AT_MAGIC = 0,
	AT_VERSION = 2,
	AT_KIND = 3,
	AT_RUN = 4,
	AT_STREAM = 8,
	AT_SEQUENCE = 10,
	AT_STAMP = 18,
	AT_DATAGRAMS = 18,
	AT_TRAILERS = 26,
	AT_NETNS = 34,
	AT_SEGMENTS = 42,
	AT_AFTER = 44,
	AT_PROBES = 46,
	AT_MESSAGES = 48,
};

static void put16(unsigned char *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(unsigned char *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(unsigned char *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

static uint16_t get16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t get64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

size_t seqhdr_write(void *payload, size_t size, const struct seqhdr *header)
{
	unsigned char *p = payload;
	bool stamped = header->stamped && size >= SEQHDR_FULL;

	if (size < SEQHDR_SHORT)
		return 0;
	put16(p + AT_MAGIC, SEQHDR_MAGIC);
	p[AT_VERSION] = VERSION | (stamped ? STAMPED : 0);
	p[AT_KIND] = header->kind;
	put32(p + AT_RUN, header->run);
	put16(p + AT_STREAM, header->stream);
	put64(p + AT_SEQUENCE, header->sequence);
	if (!stamped)
		return SEQHDR_SHORT;
	put64(p + AT_STAMP, header->stamp_ns);
	return SEQHDR_FULL;
}

bool seqhdr_read(const void *payload, size_t size, struct seqhdr *header)
{
	const unsigned char *p = payload;

	if (size < SEQHDR_SHORT || get16(p + AT_MAGIC) != SEQHDR_MAGIC ||
	    (p[AT_VERSION] & ~STAMPED) != VERSION || p[AT_KIND] > SEQHDR_TRAILER)
		return false;
	header->kind = p[AT_KIND];
	header->run = get32(p + AT_RUN);
	header->stream = get16(p + AT_STREAM);
	header->sequence = get64(p + AT_SEQUENCE);
	/* A receive buffer shorter than the datagram may have cut the time stamp off: the rest still counts. */
	header->stamped = (p[AT_VERSION] & STAMPED) && size >= SEQHDR_FULL;
	header->stamp_ns = header->stamped ? get64(p + AT_STAMP) : 0;
	return true;
}

size_t seqhdr_write_trailer(void *payload, size_t size, const struct seqhdr *header, const struct seqhdr_sums *sums)
{
	struct seqhdr h = *header;
	unsigned char *p = payload;

	if (size < SEQHDR_TRAILER_SIZE)
		return 0;
	h.kind = SEQHDR_TRAILER;
	h.stamped = false;
	seqhdr_write(p, size, &h);
	put64(p + AT_DATAGRAMS, sums->datagrams);
	put64(p + AT_TRAILERS, sums->trailers);
	put64(p + AT_NETNS, sums->netns);
	put16(p + AT_SEGMENTS, sums->segments);
	put16(p + AT_AFTER, sums->after);
	put16(p + AT_PROBES, sums->probes);
	put16(p + AT_MESSAGES, sums->messages);
	return SEQHDR_TRAILER_SIZE;
}

bool seqhdr_read_trailer(const void *payload, size_t size, struct seqhdr_sums *sums)
{
	const unsigned char *p = payload;
	struct seqhdr h;

	if (size < SEQHDR_TRAILER_SIZE || !seqhdr_read(payload, size, &h) || h.kind != SEQHDR_TRAILER)
		return false;
	*sums = (struct seqhdr_sums){ .datagrams = get64(p + AT_DATAGRAMS), .trailers = get64(p + AT_TRAILERS),
				      .netns = get64(p + AT_NETNS), .segments = get16(p + AT_SEGMENTS), .after = get16(p + AT_AFTER),
				      .probes = get16(p + AT_PROBES), .messages = get16(p + AT_MESSAGES) };
	return true;
}

bool pktgenhdr_read(const void *payload, size_t size, struct pktgenhdr *header)
{
	const unsigned char *p = payload;
	uint32_t magic;

	if (size < PKTGENHDR_SIZE)
		return false;
	magic = get32(p);
	header->swapped = magic == __builtin_bswap32(PKTGENHDR_MAGIC);
	if (magic != PKTGENHDR_MAGIC && !header->swapped)
		return false;
	header->sequence = get32(p + 4);
	header->sec = get32(p + 8);
	header->usec = get32(p + 12);
	if (header->swapped) {
		header->sequence = __builtin_bswap32(header->sequence);
		header->sec = __builtin_bswap32(header->sec);
		header->usec = __builtin_bswap32(header->usec);
	}
	return true;
}

size_t pktgenhdr_write(void *payload, size_t size, const struct pktgenhdr *header)
{
	const uint32_t field[] = { PKTGENHDR_MAGIC, header->sequence, header->sec, header->usec };
	unsigned char *p = payload;

	if (size < PKTGENHDR_SIZE)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(field); i++)
		put32(p + 4 * i, header->swapped ? __builtin_bswap32(field[i]) : field[i]);
	return PKTGENHDR_SIZE;
}
