# SPDX-License-Identifier: MIT
# What every engine has to do, engine by engine. One program per question; all of them stand on the same rig.
if HAVE_CMOCKA
contract_tests = %D%/check %D%/receive %D%/waiting %D%/errors %D%/reply
check_PROGRAMS += $(contract_tests)
TESTS += $(contract_tests) %D%/valgrind.sh

check_LTLIBRARIES += %D%/librig.la
%C%_librig_la_SOURCES = %D%/rig.h %D%/rig.c
%C%_librig_la_LIBADD = libudpsink.la $(CMOCKA_LIBS)

%C%_check_SOURCES = %D%/check.c
%C%_check_LDADD = %D%/librig.la
%C%_receive_SOURCES = %D%/receive.c
%C%_receive_LDADD = %D%/librig.la
%C%_waiting_SOURCES = %D%/waiting.c
%C%_waiting_LDADD = %D%/librig.la
%C%_errors_SOURCES = %D%/errors.c
%C%_errors_LDADD = %D%/librig.la
%C%_reply_SOURCES = %D%/reply.c
%C%_reply_LDADD = %D%/librig.la

# It runs two of the programs.
%D%/valgrind.log: %D%/receive %D%/reply
endif
EXTRA_DIST += %D%/valgrind.sh
