/* SPDX-License-Identifier: MIT */
#include "source/control.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/log.h"
#include "base/num.h"

/* With --rate the threads end by themselves, after the datagrams that are due in the duration; this is for one
 * that is late. */
#define GRACE_NS (20 * NSEC_PER_MSEC)

/* The progress line is written so often. */
#define PROGRESS_NS (NSEC_PER_SEC / 2)

static pthread_t main_thread;

/* Directed to the main thread only; queued, so that none gets lost. */
static int notify_signal(void)
{
	return SIGRTMIN;
}

void control_ending(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static sigset_t signals(void)
{
	sigset_t set;

	control_ending(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, notify_signal());
	return set;
}

void control_init(void)
{
	sigset_t set = signals();

	main_thread = pthread_self();
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void control_notify(void *data UNUSED)
{
	pthread_kill(main_thread, notify_signal());
}

bool control_pause(uint64_t ns)
{
	sigset_t set = signals();
	uint64_t left = clock_elapsed(clock_mono(), ns);
	const struct timespec t = { .tv_sec = left / NSEC_PER_SEC, .tv_nsec = left % NSEC_PER_SEC };
	int got = sigtimedwait(&set, NULL, &t);

	control_ending(&set);
	return got > 0 && sigismember(&set, got);
}

static void progress(const struct workers *team)
{
	struct report_mark begin = { .ns = team->base_ns };
	struct report_rates rates;
	struct report r;
	char sent[32], pps[32];

	report_period(&r, team, &begin);
	report_rates(&r.total, &rates);
	log_progress("%.1f s  %s sent  %s pps  %llu refused", rates.seconds,
		     num_commas(r.total.stats.sent, sent, sizeof(sent)),
		     num_si(rates.pps, pps, sizeof(pps)),
		     (unsigned long long)stats_refused_total(&r.total.stats));
}

static int print_period(const struct workers *team, const struct report_voice *voice,
			struct report_mark *mark, bool partial, struct err *err)
{
	struct report r;

	report_period(&r, team, mark);
	r.partial = partial;
	return voice->report(&r, err);
}

int control_run(const struct source_conf *conf, struct workers *team,
		const struct report_voice *voice, struct err *err)
{
	const uint64_t begin = team->base_ns, never = UINT64_MAX;
	const uint64_t end = conf->until_ns ? begin + conf->until_ns + (conf->rate.n ? GRACE_NS : 0) : never;
	struct report_mark mark = { .ns = begin };
	uint64_t period = conf->interval_ns ? begin + conf->interval_ns : never,
		 shown = begin + PROGRESS_NS;
	bool over = false;
	int ret = 0, stopped;

	while (!over && !ret) {
		uint64_t now;

		team->signalled = control_pause(MIN(MIN(end, period), shown));
		now = clock_mono();
		over = team->signalled || !workers_running(team) || now >= end;
		if (now >= shown) {
			progress(team);
			shown = now + PROGRESS_NS;
		}
		if (!over && now >= period) {
			ret = print_period(team, voice, &mark, false, err);
			period += conf->interval_ns;
		}
	}
	stopped = workers_stop(team, ret ? NULL : err);
	log_progress(NULL);
	ret = ret ? ret : stopped;
	if (conf->interval_ns && !ret)
		ret = print_period(team, voice, &mark, true, err);
	return ret;
}
