/* SPDX-License-Identifier: MIT */
#include "sink/watch.h"

#include <string.h>

#include "base/log.h"
#include "sink/control.h"
#include "sink/counted.h"
#include "sink/notify.h"
#include "sink/report.h"

/* The timers of the last interval and of the duration may be so far apart. */
#define SAME_TIME_NS NSEC_PER_MSEC

struct watch {
	const struct sink_conf *conf;
	struct counted counted;
	uint64_t begin_ns, intervals;
	struct err *err;
	int rc;
};

static void on_interval(void *data)
{
	struct watch *w = data;

	if (w->rc)
		return;
	w->rc = counted_print(&w->counted, w->conf, w->err);
	w->intervals++;
}

/* The last interval was the last one asked for. */
static bool complete(const struct watch *w)
{
	uint64_t shown = clock_elapsed(w->begin_ns, w->counted.from.mono_ns);

	return (w->conf->count && w->intervals >= w->conf->count) || (w->conf->duration && shown + SAME_TIME_NS >= w->conf->duration);
}

static bool on_ended(void *data)
{
	const struct watch *w = data;

	return w->rc || complete(w);
}

/* With format json the record that readers of JSON wait for, else a line on standard error. */
static int say_ready(const struct sink_conf *conf, struct err *err)
{
	const struct setup nothing = { .conf = conf };
	const struct report_header header = { .setup = &nothing };
	int rc = 0;

	if (conf->format == CONF_JSON)
		rc = report_json.ready(&header);
	else
		log_notice("ready: watching the counters of this network namespace");
	if (rc)
		return err_sys(err, rc, "write the ready record");
	rc = notify_send("READY=1");
	if (rc)
		log_warning("cannot notify the service manager: %s", strerror(-rc));
	return 0;
}

int watch_run(const struct sink_conf *conf, struct err *err)
{
	struct watch w = { .conf = conf, .err = err };
	struct control_run loop = {
		.duration_ns = conf->duration, .interval_ns = conf->interval, .interval = on_interval, .ended = on_ended, .data = &w,
	};
	struct control *control = control_new(err);

	if (!control)
		return -err->code;
	w.rc = counted_begin(&w.counted, conf, err);
	w.begin_ns = w.counted.from.mono_ns;
	if (!w.rc)
		w.rc = say_ready(conf, err);
	if (!w.rc)
		control_wait(control, &loop);
	if (!w.rc && !complete(&w))
		w.rc = counted_print(&w.counted, conf, err);
	counted_free(&w.counted);
	control_free(control);
	return w.rc;
}
