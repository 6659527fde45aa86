# SPDX-License-Identifier: MIT

if HAVE_CMOCKA
# Programs of src/sink.
sink_unit_tests = test_sink_checks test_sink_report test_sink_sent test_sink_trailers test_sink_sampler test_sink_stats
check_PROGRAMS += $(sink_unit_tests)
TESTS += $(sink_unit_tests)
test_sink_stats_SOURCES = %D%/test_sink_stats.c
test_sink_stats_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_checks_SOURCES = %D%/test_sink_checks.c
test_sink_checks_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_sent_SOURCES = %D%/test_sink_sent.c
test_sink_sent_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_trailers_SOURCES = %D%/test_sink_trailers.c
test_sink_trailers_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_report_SOURCES = %D%/test_sink_report.c
test_sink_report_LDADD = libsink.la $(CMOCKA_LIBS)
test_sink_sampler_SOURCES = %D%/test_sink_sampler.c %D%/sockset.h %D%/udp.h
test_sink_sampler_LDADD = libsink.la $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
# Programs of src/source.
source_unit_tests = test_source_asked test_source_bad test_source_dst test_source_fill test_source_fragments test_source_impair test_source_messages test_source_order test_source_questions test_source_pacer \
	test_source_payload test_source_qpace test_source_rate test_source_rate_times test_source_report test_source_size test_source_spread test_source_start \
	test_source_target test_source_uring test_source_worker
check_PROGRAMS += $(source_unit_tests)
TESTS += $(source_unit_tests)
test_source_bad_SOURCES = %D%/test_source_bad.c
test_source_bad_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_fragments_SOURCES = %D%/test_source_fragments.c
test_source_fragments_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_rate_times_SOURCES = %D%/test_source_rate_times.c
test_source_rate_times_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_asked_SOURCES = %D%/test_source_asked.c
test_source_asked_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_questions_SOURCES = %D%/test_source_questions.c
test_source_questions_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_messages_SOURCES = %D%/test_source_messages.c
test_source_messages_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_dst_SOURCES = %D%/test_source_dst.c %D%/chi.h
test_source_dst_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_fill_SOURCES = %D%/test_source_fill.c
test_source_fill_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_impair_SOURCES = %D%/test_source_impair.c
test_source_impair_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_order_SOURCES = %D%/test_source_order.c %D%/chi.h
test_source_order_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_size_SOURCES = %D%/test_source_size.c %D%/chi.h
test_source_size_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_pacer_SOURCES = %D%/test_source_pacer.c
test_source_pacer_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_payload_SOURCES = %D%/test_source_payload.c
test_source_payload_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_qpace_SOURCES = %D%/test_source_qpace.c
test_source_qpace_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_rate_SOURCES = %D%/test_source_rate.c
test_source_rate_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_spread_SOURCES = %D%/test_source_spread.c
test_source_spread_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_start_SOURCES = %D%/test_source_start.c
test_source_start_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_target_SOURCES = %D%/test_source_target.c
test_source_target_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_uring_SOURCES = %D%/test_source_uring.c %D%/tap.h
test_source_uring_LDADD = libsource.la $(CMOCKA_LIBS) -ldl
test_source_report_SOURCES = %D%/test_source_report.c
test_source_report_LDADD = libsource.la $(CMOCKA_LIBS)
test_source_worker_SOURCES = %D%/test_source_worker.c
test_source_worker_LDADD = libsource.la $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
# src/base.
base_unit_tests = test_err test_num test_opt test_clock test_cpu test_hist test_log test_random_weights test_record
check_PROGRAMS += $(base_unit_tests)
TESTS += $(base_unit_tests)
test_err_SOURCES = %D%/test_err.c
test_err_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_num_SOURCES = %D%/test_num.c %D%/comma_locale.h %D%/tap.h
test_num_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_opt_SOURCES = %D%/test_opt.c
test_opt_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_clock_SOURCES = %D%/test_clock.c
test_clock_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_cpu_SOURCES = %D%/test_cpu.c
test_cpu_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_hist_SOURCES = %D%/test_hist.c
test_hist_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_log_SOURCES = %D%/test_log.c %D%/tap.h
test_log_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_random_weights_SOURCES = %D%/test_random_weights.c %D%/chi.h
test_random_weights_LDADD = libudpsink.la $(CMOCKA_LIBS) -lm
test_record_SOURCES = %D%/test_record.c %D%/comma_locale.h %D%/tap.h
test_record_LDADD = libudpsink.la $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
# src/net, src/counters.
net_unit_tests = test_counter test_dev test_ethtool test_facts test_ledger test_lnstat test_mib test_nstat test_reasons test_softnet test_addr test_cmsg test_cmsg_send test_dns test_qdisc test_range test_seqhdr test_sock test_sock_buffer \
	test_sock_connect test_sock_family test_sock_join test_sockset test_sockset_sharing test_sysctl test_toeplitz test_unwrap test_wire
check_PROGRAMS += $(net_unit_tests)
TESTS += $(net_unit_tests)
test_addr_SOURCES = %D%/test_addr.c
test_addr_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_cmsg_SOURCES = %D%/test_cmsg.c %D%/control.h
test_cmsg_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_cmsg_send_SOURCES = %D%/test_cmsg_send.c %D%/control.h
test_cmsg_send_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_qdisc_SOURCES = %D%/test_qdisc.c
test_qdisc_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_range_SOURCES = %D%/test_range.c
test_range_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_facts_SOURCES = %D%/test_facts.c
test_facts_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_ledger_SOURCES = %D%/test_ledger.c
test_ledger_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_counter_SOURCES = %D%/test_counter.c
test_counter_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_dev_SOURCES = %D%/test_dev.c %D%/proc_root.h
test_dev_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_ethtool_SOURCES = %D%/test_ethtool.c %D%/text_of.h
test_ethtool_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_lnstat_SOURCES = %D%/test_lnstat.c %D%/proc_root.h
test_lnstat_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_nstat_SOURCES = %D%/test_nstat.c %D%/proc_root.h %D%/text_of.h
test_nstat_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_softnet_SOURCES = %D%/test_softnet.c %D%/proc_root.h %D%/text_of.h
test_softnet_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_mib_SOURCES = %D%/test_mib.c %D%/proc_root.h
test_mib_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_reasons_SOURCES = %D%/test_reasons.c %D%/tap.h
test_reasons_LDADD = libudpsink.la $(LIBBPF_LIBS) $(CMOCKA_LIBS)
test_dns_SOURCES = %D%/test_dns.c
test_dns_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_unwrap_SOURCES = %D%/test_unwrap.c
test_unwrap_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_seqhdr_SOURCES = %D%/test_seqhdr.c
test_seqhdr_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sock_SOURCES = %D%/test_sock.c %D%/child.h %D%/tap.h %D%/udp.h
test_sock_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sock_buffer_SOURCES = %D%/test_sock_buffer.c %D%/child.h %D%/tap.h %D%/udp.h
test_sock_buffer_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sock_connect_SOURCES = %D%/test_sock_connect.c %D%/child.h %D%/tap.h %D%/udp.h
test_sock_connect_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sock_family_SOURCES = %D%/test_sock_family.c %D%/child.h %D%/tap.h %D%/udp.h
test_sock_family_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sock_join_SOURCES = %D%/test_sock_join.c %D%/child.h %D%/tap.h %D%/udp.h
test_sock_join_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sockset_SOURCES = %D%/test_sockset.c %D%/sockset.h %D%/udp.h
test_sockset_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sockset_sharing_SOURCES = %D%/test_sockset_sharing.c %D%/sockset.h %D%/udp.h
test_sockset_sharing_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_sysctl_SOURCES = %D%/test_sysctl.c %D%/child.h %D%/tap.h
test_sysctl_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_toeplitz_SOURCES = %D%/test_toeplitz.c
test_toeplitz_LDADD = libudpsink.la $(CMOCKA_LIBS)
test_wire_SOURCES = %D%/test_wire.c
test_wire_LDADD = libudpsink.la $(CMOCKA_LIBS)
endif
