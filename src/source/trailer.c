/* SPDX-License-Identifier: MIT */
#include "source/trailer.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "source/tx.h"

/* Waited before each round: a receiver that makes room at all has made some by then. Short, because a receiver that collects whole batches
 * cannot tell when the last datagram before a trailer came. */
static const uint64_t pauses_ns[] = { 0, NSEC_PER_MSEC, 10 * NSEC_PER_MSEC };

static bool send_one(const struct source_conf *conf, const struct raw *raw, struct flow *flow, const struct seqhdr_sums *sums)
{
	const struct seqhdr header = {
		.run = conf->run,
		.stream = flow->stream,
		.sequence = impair_end(&conf->impair, flow->sequence),
	};
	unsigned char data[SEQHDR_TRAILER_SIZE];
	const struct sockaddr *to = conf->addressed ? &conf->dst.sa : NULL;
	socklen_t len = conf->addressed ? conf->dst.len : 0;
	ssize_t n;

	seqhdr_write_trailer(data, sizeof(data), &header, sums);
	if (conf->sender == TX_RAW)
		return !raw_send(raw, flow, &conf->dst, data, sizeof(data));
	n = sendto(flow->fd, data, sizeof(data), MSG_DONTWAIT, to, len);
	if (n < 0 && errno == ECONNREFUSED) /* of an earlier datagram */
		n = sendto(flow->fd, data, sizeof(data), MSG_DONTWAIT, to, len);
	return n >= 0;
}

uint64_t trailer_send(const struct source_conf *conf, const struct flows *flows, const struct seqhdr_sums *sums)
{
	struct seqhdr_sums now = *sums;
	uint64_t after = ARRAY_SIZE(pauses_ns) * (uint64_t)flows->n;

	for (unsigned round = 0; round < ARRAY_SIZE(pauses_ns); round++) {
		const struct timespec pause = { .tv_nsec = (long)pauses_ns[round] };

		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		for (unsigned i = 0; i < flows->n; i++) {
			after--;
			now.after = (uint16_t)MIN(after, UINT16_MAX);
			now.trailers += send_one(conf, &flows->raw, &flows->flow[i], &now);
		}
	}
	return now.trailers;
}
