/* SPDX-License-Identifier: MIT */
/*
 * fill - what is in a datagram behind its header: a counting pattern, zeros, random bytes, or a file.
 */
#ifndef SOURCE_FILL_H
#define SOURCE_FILL_H

#include "base/err.h"
#include "base/random.h"

enum fill_kind {
	FILL_PATTERN, /* byte k is k modulo 256: a copy shifted by some bytes shows itself */
	FILL_ZERO,
	FILL_RANDOM,  /* other bytes in each slot of a batch; the slots repeat */
	FILL_FILE,    /* its bytes, again and again */
};

struct fill {
	enum fill_kind kind;
	unsigned char *file; /* owned */
	size_t size;
};

/* "pattern", "zero", "random", or the path of a file of at least one byte, of which as much is used as fits into the largest datagram. Ends with fill_free. */
int fill_open(struct fill *fill, const char *text, struct err *err);

/* One datagram's. */
void fill_write(const struct fill *fill, struct random *r, unsigned char *to, size_t size);

void fill_free(struct fill *fill);

#endif
