dnl SPDX-License-Identifier: MIT
dnl Compiler flags of our own. They are collected in variables for AM_CFLAGS and AM_LDFLAGS;
dnl the user's CFLAGS, CPPFLAGS, LDFLAGS and LIBS are never changed.

dnl US_TRY_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE when the compiler takes it.
dnl -Werror turns clang's "unknown warning option" and gcc's "unused argument" into a refusal.
AC_DEFUN([US_TRY_FLAG], [
AS_VAR_PUSHDEF([cache], [us_cv_cflag_$2])
AC_CACHE_CHECK([whether $CC takes $2], [cache], [
us_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
CFLAGS=$us_save_CFLAGS
])
AS_VAR_IF([cache], [yes], [AS_VAR_APPEND([$1], [" $2"])])
AS_VAR_POPDEF([cache])
])

dnl US_WARNINGS: US_WARN_CFLAGS, and --enable-werror.
AC_DEFUN([US_WARNINGS], [
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors (for developers and CI)])],
	[], [enable_werror=no])
AS_CASE([$enable_werror], [yes|no], [],
	[AC_MSG_ERROR([--enable-werror takes no value (got "$enable_werror")])])
US_WARN_CFLAGS=
m4_foreach_w([us_flag], [-Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes
	-Wmissing-prototypes -Wformat=2 -Wundef -Wvla -Wwrite-strings
	-Werror=implicit-function-declaration],
	[US_TRY_FLAG([US_WARN_CFLAGS], us_flag)])
AS_IF([test "$enable_werror" = yes], [US_WARN_CFLAGS="$US_WARN_CFLAGS -Werror"])
AC_SUBST([US_WARN_CFLAGS])
])

dnl US_SANITIZERS: US_SAN_CFLAGS for compiling and linking.
AC_DEFUN([US_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers=LIST],
		[build with these sanitizers, for example "address,undefined" or "thread"])],
	[], [enable_sanitizers=no])
US_SAN_CFLAGS=
AS_CASE([$enable_sanitizers],
	[no], [],
	[yes], [AC_MSG_ERROR([--enable-sanitizers needs a list, for example --enable-sanitizers=address,undefined])],
	[US_SAN_CFLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
	AC_MSG_CHECKING([whether programs link with -fsanitize=$enable_sanitizers])
	us_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $US_SAN_CFLAGS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizers: install its sanitizer libraries, or choose others (address and thread exclude each other)])])
	CFLAGS=$us_save_CFLAGS
	dnl gcc warns of fences, which the thread sanitizer does not follow. Ours order atomic accesses only, so it misses nothing.
	AS_CASE([$enable_sanitizers], [*thread*], [US_TRY_FLAG([US_SAN_CFLAGS], [-Wno-tsan])])])
AC_SUBST([US_SAN_CFLAGS])
AC_SUBST([enable_sanitizers])
])

dnl US_PREFIX_MAP: US_MAP_CFLAGS keeps the build's directories out of the objects, so that two builds
dnl in different places are byte for byte the same. Make variables: expanded in the Makefile. The last that fits wins.
AC_DEFUN([US_PREFIX_MAP], [
US_MAP_CFLAGS=
us_probe=
US_TRY_FLAG([us_probe], [-ffile-prefix-map=/nowhere=.])
AS_IF([test -n "$us_probe"],
	[US_MAP_CFLAGS='-ffile-prefix-map=$(abs_top_builddir)=. -ffile-prefix-map=$(abs_top_srcdir)=. -ffile-prefix-map=$(top_srcdir)/='])
AC_SUBST([US_MAP_CFLAGS])
])
