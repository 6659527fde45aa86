# SPDX-License-Identifier: MIT
# All of udp_sink but main.c is a library, so that tests link the same objects.
noinst_LTLIBRARIES += libsink.la
libsink_la_SOURCES = \
	%D%/account.h %D%/account.c \
	%D%/conf.h %D%/conf.c \
	%D%/conf_counted.c \
	%D%/control.h %D%/control.c \
	%D%/counted.h %D%/counted.c \
	%D%/destination.h %D%/destination.c \
	%D%/dropped.h %D%/dropped.c \
	%D%/each.h %D%/each.c \
	%D%/engines.h %D%/engines.c \
	%D%/env.h %D%/env.c \
	%D%/flows.h %D%/flows.c \
	%D%/guardian.h %D%/guardian.c \
	%D%/handler.h %D%/handler.c \
	%D%/notify.h %D%/notify.c \
	%D%/pktgen.h %D%/pktgen.c \
	%D%/report.h %D%/report.c \
	%D%/report_classic.c \
	%D%/report_json.c \
	%D%/report_ledger.h %D%/report_ledger.c \
	%D%/report_text.c \
	%D%/run.h %D%/run.c \
	%D%/sampler.h %D%/sampler.c \
	%D%/sent.h %D%/sent.c \
	%D%/sequence.h %D%/sequence.c \
	%D%/setup.h %D%/setup.c \
	%D%/stats.h %D%/stats.c \
	%D%/tally.h %D%/tally.c \
	%D%/trailers.h %D%/trailers.c \
	%D%/watch.h %D%/watch.c \
	%D%/worker.h %D%/worker.c
libsink_la_LIBADD = libudpsink.la $(LIBEV_LIBS) $(LIBBPF_LIBS) -lm

sbin_PROGRAMS += udp_sink
udp_sink_SOURCES = %D%/main.c
udp_sink_LDADD = libsink.la
