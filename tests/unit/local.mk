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
