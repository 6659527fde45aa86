# SPDX-License-Identifier: MIT
# Every test speaks TAP. A program without extension is a cmocka group, .py is a system test, .sh a shell script.
TEST_EXTENSIONS = .py .sh
us_tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(us_tap_driver)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/cmocka-tap.sh
PY_LOG_DRIVER = $(us_tap_driver)
SH_LOG_DRIVER = $(us_tap_driver)
SH_LOG_COMPILER = $(SHELL)
if HAVE_PYTHON
PY_LOG_COMPILER = $(PYTHON)
else
PY_LOG_COMPILER = echo '1..0 \# SKIP no Python 3 was found by configure' \#
endif

# The source tree may be read-only (make distcheck): no __pycache__ there.
AM_TESTS_ENVIRONMENT = \
	TOP_SRCDIR='$(abs_top_srcdir)'; TOP_BUILDDIR='$(abs_top_builddir)'; \
	PYTHON='$(PYTHON)'; PYTHONDONTWRITEBYTECODE=1; \
	CMOCKA_MESSAGE_OUTPUT=TAP; UDPSINK_SANITIZERS='$(enable_sanitizers)'; \
	export TOP_SRCDIR TOP_BUILDDIR PYTHON PYTHONDONTWRITEBYTECODE CMOCKA_MESSAGE_OUTPUT UDPSINK_SANITIZERS;

EXTRA_DIST += %D%/cmocka-tap.sh

include tests/unit/local.mk
include tests/contract/local.mk
include tests/system/local.mk
include tests/fault/local.mk
include tests/bench/local.mk
include tests/portability/local.mk
include tests/host/local.mk
