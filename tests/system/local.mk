# SPDX-License-Identifier: MIT
# System tests: Python scripts that drive the built programs. Each test_*.py is one TAP program.
system_modules = %D%/harness.py %D%/check.py %D%/netns.py %D%/programs.py %D%/udp.py
system_tests = %D%/test_harness.py
TESTS += $(system_tests)
EXTRA_DIST += $(system_modules) $(system_tests)

# udp_source against a plain receiver.
source_system_tests = %D%/test_source.py %D%/test_source_dns.py %D%/test_source_faults.py %D%/test_source_loss.py %D%/test_source_net.py %D%/test_source_pace.py %D%/test_source_pcap.py %D%/test_source_raw.py %D%/test_source_rss.py %D%/test_source_spread.py \
	%D%/test_source_traffic.py %D%/test_source_upstream.py %D%/test_source_uring.py
TESTS += $(source_system_tests)
EXTRA_DIST += %D%/captures.py %D%/dns_server.py %D%/receiver.py %D%/traffic.py $(source_system_tests)

# udp_sink: each engine against traffic whose numbers are known.
sink_system_tests = %D%/test_sink_matrix.py
sink_system_tests += %D%/test_sink_reasons.py
sink_system_tests += %D%/test_sink_sockets.py %D%/test_sink_control.py %D%/test_sink_spread.py %D%/test_sink_demux.py %D%/test_sink_drops.py
sink_system_tests += %D%/test_sink_ledger.py
sink_system_tests += %D%/test_sink_upstream.py %D%/test_sink_stop.py %D%/test_sink_output.py %D%/test_sink_cli.py %D%/test_sink_checks.py
sink_system_tests += %D%/test_sink_counters.py
TESTS += $(sink_system_tests)
EXTRA_DIST += %D%/ledgers.py %D%/sender.py $(sink_system_tests)

# The manual pages and README against the programs.
TESTS += %D%/test_manual.py
EXTRA_DIST += %D%/test_manual.py
