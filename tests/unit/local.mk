# SPDX-License-Identifier: MIT

if HAVE_CMOCKA
# Programs of src/sink.
sink_unit_tests = test_sink_stats test_sink_checks test_sink_report
check_PROGRAMS += $(sink_unit_tests)
TESTS += $(sink_unit_tests)
test_sink_stats_SOURCES = %D%/test_sink_stats.c
test_sink_stats_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_checks_SOURCES = %D%/test_sink_checks.c
test_sink_checks_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_report_SOURCES = %D%/test_sink_report.c
test_sink_report_LDADD = libsink.la $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
# Programs of src/source.
source_unit_tests = test_source_pacer test_source_payload test_source_report test_source_worker
check_PROGRAMS += $(source_unit_tests)
TESTS += $(source_unit_tests)
test_source_pacer_SOURCES = %D%/test_source_pacer.c
test_source_pacer_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_payload_SOURCES = %D%/test_source_payload.c
test_source_payload_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_report_SOURCES = %D%/test_source_report.c
test_source_report_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_worker_SOURCES = %D%/test_source_worker.c
test_source_worker_LDADD = libsource.la $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
# src/base.
base_unit_tests = test_err test_num test_opt test_clock test_cpu test_log test_record
check_PROGRAMS += $(base_unit_tests)
TESTS += $(base_unit_tests)
test_err_SOURCES = %D%/test_err.c
test_err_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_num_SOURCES = %D%/test_num.c %D%/comma_locale.h
test_num_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_opt_SOURCES = %D%/test_opt.c
test_opt_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_clock_SOURCES = %D%/test_clock.c
test_clock_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_cpu_SOURCES = %D%/test_cpu.c
test_cpu_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_log_SOURCES = %D%/test_log.c
test_log_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_record_SOURCES = %D%/test_record.c %D%/comma_locale.h
test_record_LDADD = libudpsink.la $(CMOCKA_LIBS)
endif
