# SPDX-License-Identifier: MIT
# The rig that makes system calls fail. The preload modules are never built with a sanitizer: they are loaded into programs that may be, and their
# wrappers run before a sanitizer's run time is ready. -rpath: the way to make libtool build a loadable module that is not installed.
fault_cflags = $(US_WARN_CFLAGS) $(US_MAP_CFLAGS) $(THREAD_CFLAGS)
fault_ldflags = -module -avoid-version -shared -rpath /nowhere $(THREAD_CFLAGS)

check_LTLIBRARIES += %D%/libfault.la %D%/liballoc.la
%C%_libfault_la_SOURCES = %D%/calls.c %D%/rules.h %D%/rules.c %D%/next.h %D%/next.c %D%/errname.h %D%/errname.c
%C%_libfault_la_CFLAGS = $(fault_cflags)
%C%_libfault_la_LDFLAGS = $(fault_ldflags)
%C%_libfault_la_LIBADD = -ldl
%C%_liballoc_la_SOURCES = %D%/liballoc.c %D%/next.h %D%/next.c
%C%_liballoc_la_CFLAGS = $(fault_cflags)
%C%_liballoc_la_LDFLAGS = $(fault_ldflags)
%C%_liballoc_la_LIBADD = -ldl

check_PROGRAMS += %D%/deny %D%/victim
%C%_deny_SOURCES = %D%/deny.c %D%/errname.h %D%/errname.c
%C%_victim_SOURCES = %D%/victim.c %D%/rules.h %D%/errname.h %D%/errname.c

fault_tests = %D%/test_fault.py %D%/test_steady.py
TESTS += $(fault_tests)
EXTRA_DIST += $(fault_tests)
