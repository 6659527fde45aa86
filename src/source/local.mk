# SPDX-License-Identifier: MIT
# All but main.c, so that tests can link it.
noinst_LTLIBRARIES += libsource.la
libsource_la_LIBTOOLFLAGS = --tag=disable-shared
libsource_la_SOURCES = \
	%D%/conf.c %D%/conf.h \
	%D%/control.c %D%/control.h \
	%D%/flows.c %D%/flows.h \
	%D%/pacer.c %D%/pacer.h \
	%D%/payload.c %D%/payload.h \
	%D%/report.c %D%/report.h %D%/report_json.c %D%/report_text.c \
	%D%/stats.c %D%/stats.h \
	%D%/tx.c %D%/tx.h \
	%D%/tx_send.c %D%/tx_sendmmsg.c %D%/tx_sendmsg.c %D%/tx_sendto.c %D%/tx_write.c \
	%D%/worker.c %D%/worker.h \
	%D%/workers.c %D%/workers.h
libsource_la_LIBADD = libudpsink.la $(JANSSON_LIBS)

bin_PROGRAMS += udp_source
udp_source_SOURCES = %D%/main.c
udp_source_LDADD = libsource.la
