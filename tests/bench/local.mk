# SPDX-License-Identifier: MIT
# make bench: the bars that udp_sink has to stay under, and ten million datagrams in each cell of engine x threads x family. Not part of make check:
# it takes some 20 minutes on a machine that does nothing else. exact.py takes COUNT and RATE: make bench-exact COUNT=1000000 RATE=200000.
# bench-source: CPU time per datagram of each sender of udp_source; SIZES="18 512" are other payloads.
# bench-pace: how well udp_source keeps a rate. bench-flood FLOOD=PATH, not part of bench: udp_source beside a udp_flood of netoptimizer's.
check_PROGRAMS += %D%/bare_recvmmsg
%C%_bare_recvmmsg_SOURCES = %D%/bare_recvmmsg.c

TESTS += %D%/test_paired.py
bench_scripts = %D%/bars.py %D%/exact.py %D%/flood.py %D%/ledger.py %D%/pace.py %D%/source.py
EXTRA_DIST += %D%/paired.py %D%/test_paired.py $(bench_scripts)

bench: bench-bars bench-exact bench-source bench-pace
bench-bars: all %D%/bare_recvmmsg
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/bars.py $(BARS)
bench-exact: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/exact.py $(COUNT) $(RATE)
bench-source: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/source.py $(SIZES)
bench-pace: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/pace.py $(RATES)
bench-ledger: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/ledger.py $(COUNT) $(PLACES)
bench-flood: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/%D%/flood.py $(FLOOD) $(SIZE)
# bench-ledger: overloaded sinks whose ledger has to be balanced, 50 million datagrams each; not part of bench, it takes hours.
.PHONY: bench bench-bars bench-exact bench-ledger bench-source bench-pace bench-flood
