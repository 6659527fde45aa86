dnl SPDX-License-Identifier: MIT

dnl US_BUILD_INFO: what this build is made of, once for the summary of configure and once as the C string BUILD_INFO for
dnl `--version -v` and the records. Nothing in it may differ between two builds of the same sources with the same tools:
dnl no date, no host, no path (flags that hold a path are left out).
AC_DEFUN([US_BUILD_INFO], [
us_compiler=`$CC --version 2>/dev/null | $SED 1q`
AC_COMPUTE_INT([us_ev_major], [EV_VERSION_MAJOR], [#include <ev.h>], [us_ev_major=unknown])
AC_COMPUTE_INT([us_ev_minor], [EV_VERSION_MINOR], [#include <ev.h>], [us_ev_minor=unknown])
us_jansson=`$PKG_CONFIG --modversion jansson 2>/dev/null`
us_flags=
for us_word in $CPPFLAGS $CFLAGS $LDFLAGS; do
	AS_CASE([$us_word], [*/*], [], [us_flags="$us_flags $us_word"])
done
AS_IF([test -n "$US_SAN_CFLAGS"], [us_sanitizers=$enable_sanitizers], [us_sanitizers=none])
us_info="version: $PACKAGE_VERSION
compiler: ${us_compiler:-$CC}
flags:$us_flags
target: $host
libraries: libev $us_ev_major.$us_ev_minor, jansson ${us_jansson:-unknown}, liburing $us_liburing, libpcap $us_libpcap
bpf: $us_bpf
sanitizers: $us_sanitizers"
us_info_c=`AS_ECHO(["$us_info"]) | $SED 's/[[\\"]]/\\\\&/g; s/$/\\\\n/' | tr -d '\n'`
AC_DEFINE_UNQUOTED([BUILD_INFO], ["$us_info_c"],
	[What this build is made of: lines "name: value", each ended by a newline.])
])

dnl US_SUMMARY: the last words of configure.
AC_DEFUN([US_SUMMARY], [
AC_MSG_NOTICE([

$us_info
warnings as errors: $enable_werror
unit tests: $us_unit_tests
system tests: $us_system_tests
install prefix: $prefix

Next: make, make check, make install.])
])
