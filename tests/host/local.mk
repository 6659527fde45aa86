# SPDX-License-Identifier: MIT
# Tests that change a setting of the whole host for some seconds: never beside anything else, so not part of make check.
host_tests = %D%/test_ledger_host.py
EXTRA_DIST += $(host_tests)

check-host: all
	for script in $(host_tests); do $(AM_TESTS_ENVIRONMENT) $(PYTHON) $(srcdir)/$$script || exit; done
.PHONY: check-host
