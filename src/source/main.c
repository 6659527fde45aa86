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

/* What lives from the first socket to the last record. */
struct session {
	struct source_conf *conf;
	const struct report_voice *voice;
	struct flows flows;
	struct workers team;
	struct answers *answers; /* NULL: no DNS */
	uint64_t trailers;       /* as in struct report */
	bool missed;             /* out: the rate was */
};

static void warn(const struct report *sum)
{
	bool told = sum->conf->recverr || sum->conf->sender == TX_RAW;
	char text[512];

	if (target_verdict(sum) == TARGET_MISSED)
		log_warning("%s", target_sentence(sum, text, sizeof(text)));
	if (local_loss_sentence(sum->loss, told, text, sizeof(text)))
		log_warning("%s", text);
}

static int print_sum(struct session *s, const struct local_loss *loss, struct err *err)
{
	struct answers_sum dns;
	struct report sum;
	int ret = report_sum(&sum, &s->team, err);

	if (ret)
		return ret;
	if (s->answers)
		answers_sum(s->answers, &dns);
	sum.dns = s->answers ? &dns : NULL;
	sum.trailers = s->trailers;
	sum.loss = loss;
	ret = s->voice->report(&sum, err);
	s->missed = target_verdict(&sum) == TARGET_MISSED;
	if (!ret)
		warn(&sum);
	report_free(&sum);
	return ret;
}

/* Lets the threads go when it is time, and sees them to their end. A signal before that: they send nothing. */
static int run(struct session *s, struct err *err)
{
	const struct start *start = &s->conf->start;
	bool waits = start->at_ns || start->on_stdin;
	struct workers *team = &s->team;
	uint64_t base_ns = 0;
	sigset_t ending;
	int ret;

	s->trailers = s->conf->trailer ? 0 : UINT64_MAX;
	ret = waits ? s->voice->ready(s->conf, err) : 0;

	control_ending(&ending);
	if (!ret && waits)
		ret = start_wait(start, &ending, &base_ns, &team->signalled, err);
	if (ret || team->signalled)
		atomic_store(&team->stop, true);
	workers_go(team, base_ns);
	if (ret || team->signalled) {
		workers_stop(team, NULL);
		return ret;
	}
	ret = control_run(s->conf, team, s->voice, err);
	if (s->conf->trailer) {
		const struct seqhdr_sums sums = workers_sums(team);

		s->trailers = trailer_send(s->conf, &s->flows, &sums);
	}
	return ret;
}

/* The run, and what came of it. */
static int run_and_report(struct session *s, struct err *err)
{
	struct local_loss before, loss;
	int ret, printed;

	local_loss_read(&s->flows, s->conf, &before);
	ret = run(s, err);
	answers_finish(s->answers, workers_sums(&s->team).datagrams, ret || s->team.signalled, control_pause);
	local_loss_read(&s->flows, s->conf, &loss);
	local_loss_since(&loss, &before);
	printed = print_sum(s, &loss, ret ? NULL : err);
	return ret ? ret : printed;
}

/* From the first socket to the last record. */
static int send_traffic(struct source_conf *conf, bool *missed, struct err *err)
{
	struct session s = { .conf = conf, .voice = report_voice(conf->format) };
	int ret;

	control_init();
	ret = flows_open(&s.flows, conf, err);
	if (!ret)
		ret = choose_sender(conf, &s.flows, err);
	if (!ret)
		ret = qpace_set(conf, &s.flows, err);
	if (!ret)
		ret = s.voice->header(conf, &s.flows, err);
	if (!ret) {
		report_notices(conf, &s.flows);
		ret = answers_start(&s.answers, conf, &s.flows, err);
	}
	if (!ret)
		ret = workers_start(&s.team, conf, &s.flows, control_notify, NULL, err);
	if (!ret)
		ret = run_and_report(&s, err);
	*missed = s.missed;
	answers_free(s.answers);
	workers_free(&s.team);
	flows_close(&s.flows);
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
