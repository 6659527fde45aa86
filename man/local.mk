# SPDX-License-Identifier: MIT
# A page for each program, each format, and the engines. tests/system/test_manual.py holds them against the programs.
dist_man_MANS += %D%/udp_sink.8 %D%/udp_source.1 %D%/udpsink-engines.7 %D%/udpsink-report.5
