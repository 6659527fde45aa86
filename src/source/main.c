/* SPDX-License-Identifier: MIT */
/* udp_source - sends UDP datagrams and says how many of them the kernel took. Here: the order of start-up and
 * tear-down. */
#include <errno.h>

#include "base/log.h"
#include "source/choose.h"
#include "source/control.h"
#include "source/qpace.h"
#include "source/target.h"
#include "source/trailer.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_MISSED };

static int print_sum(const struct report_voice *voice, const struct workers *team, uint64_t trailers, bool *missed, struct err *err)
{
	char text[512];
	struct report sum;
	int ret = report_sum(&sum, team, err);

	if (ret)
		return ret;
	sum.trailers = trailers;
	ret = voice->report(&sum, err);
	*missed = target_verdict(&sum) == TARGET_MISSED;
	if (*missed && !ret)
		log_warning("%s", target_sentence(&sum, text, sizeof(text)));
	report_free(&sum);
	return ret;
}

/* Lets the threads go when it is time, and sees them to their end. A signal before that: they send nothing. *trailers: as in struct report. */
static int run(const struct source_conf *conf, struct workers *team, const struct flows *flows, const struct report_voice *voice, uint64_t *trailers,
	       struct err *err)
{
	bool waits = conf->start.at_ns || conf->start.on_stdin;
	uint64_t base_ns = 0;
	sigset_t ending;
	int ret;

	*trailers = conf->trailer ? 0 : UINT64_MAX;
	ret = waits ? voice->ready(conf, err) : 0;

	control_ending(&ending);
	if (!ret && waits)
		ret = start_wait(&conf->start, &ending, &base_ns, &team->signalled, err);
	if (ret || team->signalled)
		atomic_store(&team->stop, true);
	workers_go(team, base_ns);
	if (ret || team->signalled) {
		workers_stop(team, NULL);
		return ret;
	}
	ret = control_run(conf, team, voice, err);
	if (conf->trailer)
		*trailers = trailer_send(conf, flows);
	return ret;
}

/* From the first socket to the last record. */
static int send_traffic(struct source_conf *conf, bool *missed, struct err *err)
{
	const struct report_voice *voice = report_voice(conf->format);
	struct flows flows = { 0 };
	struct workers team = { 0 };
	uint64_t trailers;
	int ret, printed;

	control_init();
	ret = flows_open(&flows, conf, err);
	if (!ret)
		ret = choose_sender(conf, &flows, err);
	if (!ret)
		ret = qpace_set(conf, &flows, err);
	if (!ret)
		ret = voice->header(conf, &flows, err);
	if (!ret) {
		report_notices(conf, &flows);
		ret = workers_start(&team, conf, &flows, control_notify, NULL, err);
	}
	if (!ret) {
		ret = run(conf, &team, &flows, voice, &trailers, err);
		printed = print_sum(voice, &team, trailers, missed, ret ? NULL : err);
		ret = ret ? ret : printed;
	}
	workers_free(&team);
	flows_close(&flows);
	return ret;
}

int main(int argc, char **argv)
{
	struct source_conf conf;
	struct err err = ERR_INIT;
	enum opt_next next;
	bool missed = false;
	int ret;

	util_standard_fds();
	log_setup("udp_source", LOG_NOTICE);
	ret = conf_parse(&conf, argc, argv, &next, &err);
	if (ret) {
		log_error("%s", err.text);
		return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (next == OPT_RUN) {
		log_setup("udp_source", MIN(LOG_NOTICE + conf.verbose, LOG_DEBUG));
		ret = send_traffic(&conf, &missed, &err);
	}
	if (ret)
		log_error("%s", err.text);
	conf_free(&conf);
	return ret ? EXIT_FAILED : missed ? EXIT_MISSED : EXIT_OK;
}
