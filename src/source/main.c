/* SPDX-License-Identifier: MIT */
/* udp_source - sends UDP datagrams and says how many of them the kernel took. Here: the order of start-up and
 * tear-down. */
#include <errno.h>

#include "base/log.h"
#include "source/control.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

static int print_sum(const struct report_voice *voice, const struct workers *team, struct err *err)
{
	struct report sum;
	int ret = report_sum(&sum, team, err);

	if (ret)
		return ret;
	ret = voice->report(&sum, err);
	report_free(&sum);
	return ret;
}

/* From the first socket to the last record. */
static int send_traffic(const struct source_conf *conf, struct err *err)
{
	const struct report_voice *voice = report_voice(conf->format);
	struct flows flows = { 0 };
	struct workers team = { 0 };
	int ret, printed;

	control_init();
	ret = flows_open(&flows, conf, err);
	if (!ret)
		ret = voice->header(conf, &flows, err);
	if (!ret) {
		report_notices(conf, &flows);
		ret = workers_start(&team, conf, &flows, control_notify, NULL, err);
	}
	if (!ret) {
		workers_go(&team);
		ret = control_run(conf, &team, voice, err);
		printed = print_sum(voice, &team, ret ? NULL : err);
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
		ret = send_traffic(&conf, &err);
	}
	if (ret)
		log_error("%s", err.text);
	conf_free(&conf);
	return ret ? EXIT_FAILED : EXIT_OK;
}
