/* SPDX-License-Identifier: MIT */
#include "sink/control.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
static const int ignored_signals[] = { SIGPIPE, SIGUSR1, SIGUSR2 };

struct control {
	struct ev_loop *loop;
	ev_signal stop[ARRAY_SIZE(stop_signals)];
	ev_async notified;
	ev_timer duration, interval, sample;
	const struct control_run *run;
	int signal;
};

static void on_signal(struct ev_loop *loop, ev_signal *w, int events UNUSED)
{
	struct control *c = w->data;

	c->signal = w->signum;
	ev_break(loop, EVBREAK_ALL);
}

static void on_notified(struct ev_loop *loop, ev_async *w, int events UNUSED)
{
	struct control *c = w->data;

	if (c->run && c->run->ended(c->run->data))
		ev_break(loop, EVBREAK_ALL);
}

static void on_duration(struct ev_loop *loop, ev_timer *w UNUSED, int events UNUSED)
{
	ev_break(loop, EVBREAK_ALL);
}

static void on_interval(struct ev_loop *loop, ev_timer *w, int events UNUSED)
{
	struct control *c = w->data;

	c->run->interval(c->run->data);
	if (c->run->ended(c->run->data))
		ev_break(loop, EVBREAK_ALL);
}

static void on_sample(struct ev_loop *loop, ev_timer *w, int events UNUSED)
{
	struct control *c = w->data;

	c->run->sample(c->run->data);
	if (c->run->ended(c->run->data))
		ev_break(loop, EVBREAK_ALL);
}

struct control *control_new(struct err *err)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c)
		c->loop = ev_loop_new(EVFLAG_AUTO);
	if (!c || !c->loop) {
		free(c);
		err_say(err, ENOMEM, "libev: cannot make an event loop");
		return NULL;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(ignored_signals); i++)
		signal(ignored_signals[i], SIG_IGN);
	for (unsigned i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		ev_signal_init(&c->stop[i], on_signal, stop_signals[i]);
		c->stop[i].data = c;
		ev_signal_start(c->loop, &c->stop[i]);
	}
	ev_async_init(&c->notified, on_notified);
	c->notified.data = c;
	ev_async_start(c->loop, &c->notified);
	return c;
}

void control_notify(void *control)
{
	struct control *c = control;

	ev_async_send(c->loop, &c->notified);
}

static void start_timer(struct control *c, ev_timer *t, void (*call)(struct ev_loop *, ev_timer *, int), uint64_t ns,
			bool repeat)
{
	double s = (double)ns / (double)NSEC_PER_SEC;

	ev_timer_init(t, call, s, repeat ? s : 0.);
	t->data = c;
	if (ns)
		ev_timer_start(c->loop, t);
}

void control_wait(struct control *c, const struct control_run *run)
{
	if (c->signal)
		return;
	c->run = run;
	ev_now_update(c->loop);
	start_timer(c, &c->duration, on_duration, run->duration_ns, false);
	start_timer(c, &c->interval, on_interval, run->interval_ns, true);
	start_timer(c, &c->sample, on_sample, run->sample ? CONTROL_SAMPLE_NS : 0, true);
	if (!run->ended(run->data))
		ev_run(c->loop, 0);
	ev_timer_stop(c->loop, &c->duration);
	ev_timer_stop(c->loop, &c->interval);
	ev_timer_stop(c->loop, &c->sample);
	c->run = NULL;
}

static void on_readable(struct ev_loop *loop, ev_io *w UNUSED, int events UNUSED)
{
	ev_break(loop, EVBREAK_ALL);
}

bool control_wait_readable(struct control *c, int fd)
{
	ev_io io;

	if (c->signal)
		return false;
	ev_io_init(&io, on_readable, fd, EV_READ);
	ev_io_start(c->loop, &io);
	ev_run(c->loop, 0);
	ev_io_stop(c->loop, &io);
	return !c->signal;
}

int control_signal(const struct control *c)
{
	return c->signal;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	ev_loop_destroy(c->loop);
	free(c);
}
