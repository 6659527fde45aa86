# SPDX-License-Identifier: MIT
# All but main.c, so that tests can link it.
noinst_LTLIBRARIES += libsource.la
libsource_la_LIBTOOLFLAGS = --tag=disable-shared
libsource_la_SOURCES = \
	%D%/answers.c %D%/answers.h \
	%D%/asked.c %D%/asked.h \
	%D%/bad.c %D%/bad.h \
	%D%/capture.c %D%/capture.h \
	%D%/choose.c %D%/choose.h \
	%D%/conf.c %D%/conf_capture.c %D%/conf_dns.c %D%/conf_messages.c %D%/conf_rate.c %D%/conf_raw.c %D%/conf_spread.c %D%/conf_uring.c %D%/conf.h \
	%D%/control.c %D%/control.h \
	%D%/dst.c %D%/dst.h \
	%D%/fill.c %D%/fill.h \
	%D%/flows.c %D%/flows.h \
	%D%/fragments.c %D%/fragments.h \
	%D%/gso.c %D%/gso.h \
	%D%/impair.h \
	%D%/local_loss.c %D%/local_loss.h \
	%D%/messages.c %D%/messages.h \
	%D%/options.c %D%/options.h \
	%D%/order.c %D%/order.h \
	%D%/pacer.c %D%/pacer.h \
	%D%/payload.c %D%/payload.h \
	%D%/qpace.c %D%/qpace.h \
	%D%/questions.c %D%/questions.h \
	%D%/rate.c %D%/rate_parse.c %D%/rate_times.c %D%/rate.h %D%/rate_times.h \
	%D%/raw.c %D%/raw.h \
	%D%/report.c %D%/report.h %D%/report_json.c %D%/report_text.c \
	%D%/size.c %D%/size.h \
	%D%/spread.c %D%/spread.h \
	%D%/start.c %D%/start.h \
	%D%/stats.c %D%/stats.h \
	%D%/target.c %D%/target.h \
	%D%/trailer.c %D%/trailer.h \
	%D%/tx.c %D%/tx.h \
	%D%/tx_raw.c %D%/tx_segment.c %D%/tx_send.c %D%/tx_sendmmsg.c %D%/tx_sendmsg.c %D%/tx_sendto.c %D%/tx_uring.c \
	%D%/tx_write.c \
	%D%/worker.c %D%/worker.h \
	%D%/workers.c %D%/workers.h
libsource_la_LIBADD = libudpsink.la $(LIBPCAP_LIBS) $(JANSSON_LIBS) $(LIBURING_LIBS) -lm

bin_PROGRAMS += udp_source
udp_source_SOURCES = %D%/main.c
udp_source_LDADD = libsource.la
