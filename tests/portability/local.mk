# SPDX-License-Identifier: MIT
# Quick ones belong to make check; slow ones have a target of their own.
portability_quick = %D%/tree.sh %D%/headers.sh %D%/compilers.sh %D%/install.sh %D%/builds.sh
portability_slow = %D%/cross.sh
TESTS += $(portability_quick)
EXTRA_DIST += %D%/tap.sh $(portability_quick) $(portability_slow)

# They read the programs and install them.
%D%/install.log: all-am

check-portability: all-am
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(portability_slow)'

# For cross.sh: the programs of tests/unit.
print-unit-tests:
	@for program in $(check_PROGRAMS); do \
		if test -f $(srcdir)/tests/unit/$$program.c; then echo $$program; fi; \
	done
.PHONY: check-portability print-unit-tests
