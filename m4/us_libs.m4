dnl SPDX-License-Identifier: MIT
dnl Libraries that bring no .pc file, and what the C library must have.

dnl US_THREADS: THREAD_CFLAGS, for compiling and linking.
AC_DEFUN([US_THREADS], [
AC_CACHE_CHECK([for the flag that gives POSIX threads], [us_cv_thread_flag], [
us_cv_thread_flag=unknown
us_save_CFLAGS=$CFLAGS
for us_flag in -pthread none; do
	AS_IF([test $us_flag = none], [CFLAGS=$us_save_CFLAGS], [CFLAGS="$us_save_CFLAGS -Werror $us_flag"])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <pthread.h>
static void *run(void *arg) { return arg; }]],
		[[pthread_t t; return pthread_create(&t, 0, run, 0) || pthread_join(t, 0);]])],
		[us_cv_thread_flag=$us_flag; break])
done
CFLAGS=$us_save_CFLAGS
])
AS_CASE([$us_cv_thread_flag],
	[unknown], [AC_MSG_ERROR([POSIX threads are needed, and $CC links no program that uses them])],
	[none], [THREAD_CFLAGS=],
	[THREAD_CFLAGS=$us_cv_thread_flag])
AC_SUBST([THREAD_CFLAGS])
])

dnl US_LIBEV: LIBEV_CFLAGS and LIBEV_LIBS. Both can be given by the user, as with pkg-config.
AC_DEFUN([US_LIBEV], [
AC_ARG_VAR([LIBEV_CFLAGS], [C compiler flags for libev])
AC_ARG_VAR([LIBEV_LIBS], [linker flags for libev [-lev]])
: ${LIBEV_LIBS=-lev}
us_save_CPPFLAGS=$CPPFLAGS
us_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $LIBEV_CFLAGS"
LIBS="$LIBEV_LIBS $LIBS"
AC_CACHE_CHECK([for libev 4.15 or later], [us_cv_libev], [
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <ev.h>
#if EV_VERSION_MAJOR < 4 || (EV_VERSION_MAJOR == 4 && EV_VERSION_MINOR < 15)
#error too old
#endif]], [[return ev_run(ev_loop_new(0), EVRUN_NOWAIT);]])], [us_cv_libev=yes], [us_cv_libev=no])
])
CPPFLAGS=$us_save_CPPFLAGS
LIBS=$us_save_LIBS
AS_IF([test $us_cv_libev = no],
	[AC_MSG_ERROR([libev is needed: install libev-dev (Debian), or set LIBEV_CFLAGS and LIBEV_LIBS])])
])

dnl US_WITH(NAME, PREFIX, VERSION, HELP): a library that is used where it is found: --with-NAME=auto|yes|no. PREFIX_CFLAGS, PREFIX_LIBS and
dnl HAVE_PREFIX; us_NAME for the summary: the version, or none.
AC_DEFUN([US_WITH], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=auto|yes|no], [$4 @<:@auto@:>@])], [], [with_$1=auto])
us_$1=none
AS_CASE([$with_$1],
	[no], [],
	[auto|yes],
	[PKG_CHECK_MODULES([$2], [$1 >= $3], [us_$1=`$PKG_CONFIG --modversion $1 2>/dev/null`],
		[AS_IF([test "$with_$1" = yes],
			[AC_MSG_ERROR([--with-$1: $1 $3 or later not found: install $1-dev (Debian), or set $2_CFLAGS and $2_LIBS])])
		$2_CFLAGS= $2_LIBS=])
	AS_IF([test -z "$us_$1"], [us_$1=unknown])],
	[AC_MSG_ERROR([--with-$1 takes auto, yes or no (got "$with_$1")])])
AS_IF([test "$us_$1" != none], [AC_DEFINE([HAVE_$2], [1], [Define to 1 when $1 is used.])])
AC_SUBST([$2_CFLAGS])
AC_SUBST([$2_LIBS])
])

dnl US_REQUIRE_LINUX: stops with a sentence where the C library lacks what every engine is made of. Declarations and members
dnl are asked for, not headers: an old header that is there may still lack them. Nothing is run, so that cross builds work.
AC_DEFUN([US_REQUIRE_LINUX], [
AC_CHECK_DECLS([recvmmsg, sendmmsg, SO_RXQ_OVFL, SO_REUSEPORT, SO_BUSY_POLL], [],
	[AC_MSG_ERROR([sys/socket.h of this system lacks a declaration (above): udpsink needs Linux with glibc 2.28 or musl 1.2, or later])],
	[[#include <sys/socket.h>]])
AC_CHECK_MEMBERS([struct mmsghdr.msg_len, struct in6_pktinfo.ipi6_ifindex, struct in_pktinfo.ipi_spec_dst], [],
	[AC_MSG_ERROR([a struct of this system lacks a member (above): udpsink needs Linux with glibc 2.28 or musl 1.2, or later])],
	[[#include <sys/socket.h>
#include <netinet/in.h>]])
])

dnl US_PYTHON(VERSION): PYTHON, for the system tests. Without it they are skipped with that reason.
AC_DEFUN([US_PYTHON], [
AC_ARG_VAR([PYTHON], [Python $1 or later, for the system tests])
AC_CACHE_CHECK([for Python $1 or later], [ac_cv_path_PYTHON],
	[AC_PATH_PROGS_FEATURE_CHECK([PYTHON], [python3 python],
		[["$ac_path_PYTHON" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$1'.split('.'))))" 2>/dev/null \
			&& ac_cv_path_PYTHON=$ac_path_PYTHON ac_path_PYTHON_found=:]],
		[ac_cv_path_PYTHON=no])])
PYTHON=$ac_cv_path_PYTHON
AS_IF([test "$PYTHON" = no], [us_system_tests="no (Python $1 not found)"], [us_system_tests=yes])
AM_CONDITIONAL([HAVE_PYTHON], [test "$PYTHON" != no])
])
