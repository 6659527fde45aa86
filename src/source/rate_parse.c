/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "source/rate.h"

#define BITS "bit"
#define LEAST (RATE_UNIT / 1000) /* millionths: so that rounding stays below a thousandth */

/* What is being read, for sentences. */
struct context {
	const char *text; /* all of it */
	double mean;
	struct err *err;
};

/* Datagrams up to the beginning of the next segment. */
struct sum {
	uint64_t whole, femto;
};

static int bad(const struct context *t, const char *piece)
{
	return err_say(t->err, EINVAL,
		       "--rate %s: '%s' is no rate: expected 500k (datagrams per second) or 30Mbit (bits of payload), steps RATE:TIME,..., or a ramp "
		       "RATE..RATE/TIME", t->text, piece);
}

/* "3G" of "3Gbit": bits of payload per second, as millionths of datagrams. */
static int from_bits(const struct context *t, const char *piece, uint64_t bits, uint64_t *out)
{
	double rate;

	if (t->mean <= 0)
		return err_say(t->err, EINVAL, "--rate %s: '%s' counts bits of payload, and these datagrams have none", t->text, piece);
	rate = round((double)bits / (8 * t->mean) * RATE_UNIT);
	if (bits && rate < LEAST)
		return err_say(t->err, EINVAL, "--rate %s: '%s' is less than a datagram in 1000 s", t->text, piece);
	*out = (uint64_t)fmin(rate, 1e18);
	return 0;
}

/* "0.5": one in two seconds. */
static int from_decimal(const struct context *t, const char *piece, uint64_t *out)
{
	double value;

	if (num_decimal(piece, &value))
		return bad(t, piece);
	*out = (uint64_t)fmin(round(value * RATE_UNIT), 1e18);
	if (*out < LEAST)
		return err_say(t->err, EINVAL, "--rate %s: '%s' is less than a datagram in 1000 s", t->text, piece);
	return 0;
}

/* "500k", "30Mbit", "0.5" */
static int read_rate(const struct context *t, char *piece, uint64_t *out)
{
	size_t n = strlen(piece), suffix = strlen(BITS);
	bool bits = n > suffix && !strcmp(piece + n - suffix, BITS);
	uint64_t value;
	int ret = 0;

	if (bits)
		piece[n - suffix] = '\0';
	ret = num_count(piece, &value);
	if (bits)
		piece[n - suffix] = BITS[0];
	if (ret && bits)
		return bad(t, piece);
	if (ret)
		ret = from_decimal(t, piece, out);
	else if (bits)
		ret = from_bits(t, piece, value, out);
	else
		*out = value > RATE_MOST ? UINT64_MAX : value * RATE_UNIT;
	if (!ret && *out > (uint64_t)RATE_MOST * RATE_UNIT)
		return err_say(t->err, EINVAL, "--rate %s: more than %d datagrams per second", t->text, RATE_MOST);
	return ret;
}

static int read_time(const struct context *t, const char *piece, uint64_t *out)
{
	if (num_duration(piece, out) || !*out || *out > RATE_LONGEST_NS)
		return err_say(t->err, EINVAL, "--rate %s: '%s' is no time such as 10s or 250ms", t->text, piece);
	return 0;
}

/* "100k", "100k:5s", "100k..2M/30s" */
static int read_segment(const struct context *t, char *piece, struct rate_segment *s)
{
	char *dots = strstr(piece, ".."), *time = strchr(piece, dots ? '/' : ':');
	int ret = 0;

	s->ns = UINT64_MAX;
	if (time) {
		*time = '\0';
		ret = read_time(t, time + 1, &s->ns);
	} else if (dots) {
		return err_say(t->err, EINVAL, "--rate %s: the ramp '%s' needs a time: RATE..RATE/TIME", t->text, piece);
	}
	if (dots)
		*dots = '\0';
	if (!ret)
		ret = read_rate(t, piece, &s->from);
	s->to = s->from;
	if (!ret && dots)
		ret = read_rate(t, dots + 2, &s->to);
	if (!ret && !time && !s->from)
		return err_say(t->err, EINVAL, "--rate %s: a rate of 0 is a pause and needs a time, as in 0:5s", t->text);
	return ret;
}

/* Adds (from + to) / 2 * ns: exact, but for a last half femto. With p whole and m millionths of the rate and s whole seconds and f ns of the time the
 * product is p*s + p*f/10^9 + m*s/10^6 + m*f/10^15; p <= 2 * 10^9 and s <= 10^9, so everything fits. */
static void add(struct sum *sum, const struct rate_segment *r)
{
	uint64_t twice = r->from + r->to, p = twice / RATE_UNIT, m = twice % RATE_UNIT, s = r->ns / NSEC_PER_SEC, f = r->ns % NSEC_PER_SEC;
	uint64_t femto = p * f % NSEC_PER_SEC * RATE_UNIT + m * s % RATE_UNIT * NSEC_PER_SEC + m * f;
	uint64_t whole = p * s + p * f / NSEC_PER_SEC + m * s / RATE_UNIT + femto / RATE_FEMTO;

	femto = sum->femto + femto % RATE_FEMTO / 2 + (whole % 2 ? RATE_FEMTO / 2 : 0);
	sum->whole += whole / 2 + femto / RATE_FEMTO;
	sum->femto = femto % RATE_FEMTO;
}

/* Puts one more segment behind the others. */
static int append(const struct context *t, struct rate_plan *plan, const struct rate_segment *segment, struct sum *sum)
{
	struct rate_segment *s = &plan->segment[plan->n];

	if (plan->n && plan->end_ns == UINT64_MAX)
		return err_say(t->err, EINVAL, "--rate %s: only the last step may be without a time", t->text);
	if (plan->n == RATE_SEGMENTS)
		return err_say(t->err, EINVAL, "--rate %s: more than %d steps", t->text, RATE_SEGMENTS);
	*s = *segment;
	s->start_ns = plan->end_ns;
	s->first = sum->whole + (sum->femto > 0);
	s->lead = sum->femto ? RATE_FEMTO - sum->femto : 0;
	plan->n++;
	plan->total = plan->end_ns = UINT64_MAX;
	if (s->ns == UINT64_MAX)
		return 0;
	plan->end_ns = s->start_ns + s->ns;
	if (plan->end_ns > RATE_LONGEST_NS)
		return err_say(t->err, EINVAL, "--rate %s: takes more than 31 years", t->text);
	add(sum, s);
	plan->total = sum->whole + (sum->femto > 0);
	return 0;
}

int rate_parse(const char *text, double mean, struct rate_plan *out, struct err *err)
{
	const struct context t = { text, mean, err };
	char *copy = strdup(text), *rest = copy, *piece;
	struct sum sum = { 0 };
	int ret = 0;

	*out = (struct rate_plan){ 0 };
	if (!copy)
		return err_sys(err, ENOMEM, "--rate %s", text);
	while (!ret && (piece = strsep(&rest, ","))) {
		struct rate_segment s = { 0 };

		ret = read_segment(&t, piece, &s);
		if (!ret)
			ret = append(&t, out, &s, &sum);
	}
	free(copy);
	if (!ret && !out->total)
		return err_say(err, EINVAL, "--rate %s: no datagram is ever due", text);
	return ret;
}
